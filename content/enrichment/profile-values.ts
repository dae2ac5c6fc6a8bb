import type { EnrichableField } from "#content/contract/enrichment.ts";
import { type FieldName, fields, type FieldType } from "#content/contract/fields.ts";
import type { Wrong } from "#content/contract/problem.ts";
import type { ProfileValues } from "#content/contract/profile-change.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { countryOf } from "#content/nonprofit/country.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { safeLink } from "#content/nonprofit/safe-link.ts";
import { textFault } from "#content/nonprofit/text.ts";
import { isLinkShortener, readWebsite, shortenedLink } from "#content/nonprofit/website.ts";
import { itemFrom, checkText, notALink } from "./value.ts";

type Read = Result<unknown, string>;
type Reader = (value: never, thisYear: number) => Read;

const likeAgents =
  (field: FieldName) =>
  (value: string, thisYear: number): Read =>
    checkText(field as EnrichableField, value, thisYear);

/** An http(s) address of a page or picture on a public host, checked and cleaned. */
export function linkIn(field: string, value: string): Result<string, string> {
  const url = /^https?:\/\//i.test(value.trim()) ? safeLink(value.trim()) : null;
  if (url === null || readWebsite(url) === null) return fail(notALink(field));
  return isLinkShortener(url) ? fail(shortenedLink(field)) : ok(url);
}

const rows =
  (field: "programme" | "impact_metric") =>
  (values: readonly object[]): Read => {
    const read = values.map((row) => itemFrom(field, JSON.stringify(row)));
    const wrong = read.find((reading) => reading.kind === "wrong");
    if (wrong !== undefined) return fail(wrong.message);
    return ok(read.flatMap((reading) => ("row" in reading ? [reading.row] : [])));
  };

const asItIs = () => (value: unknown) => ok(value);

/** Operators' values meet the same rules as agents' values, so that pages need not expect anything else. */
const readers: Readonly<Record<FieldType, (field: FieldName) => Reader>> = {
  name: () => (value: string) => {
    const wrong = textFault("name", value);
    return wrong === null ? ok(value.normalize("NFC").replaceAll(/\s+/gu, " ")) : fail(wrong);
  },
  text: likeAgents,
  country: () => (value: string) => {
    const code = countryOf(value);
    return code === null
      ? fail('country is an English name ("Kenya") or an ISO 3166 code ("KE").')
      : ok(code);
  },
  website: likeAgents,
  link: (field) => (value: string) => linkIn(field, value),
  email: likeAgents,
  year: (field) => (value: number, thisYear) => {
    const checked = likeAgents(field)(String(value), thisYear);
    return checked.ok ? ok(value) : checked;
  },
  count: asItIs,
  money: asItIs,
  flag: asItIs,
  causes: () => (values: readonly string[]) => ok([...new Set(values)]),
  programmes: () => rows("programme"),
  metrics: () => rows("impact_metric"),
};

/** Checks and cleans the values that an operator sets, and lists every unusable one. Null and "" empty a field. */
export function readProfileValues(
  values: ProfileValues,
  { thisYear }: { thisYear: number },
): Result<Partial<NonprofitRecord>, Wrong[]> {
  const read: Record<string, unknown> = {};
  const wrongs: Wrong[] = [];
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const field = name as FieldName;
    const column = field === "country" ? "country_code" : field;
    if (value === null || value === "") {
      read[column] = null;
      continue;
    }
    const outcome = readers[fields[field].type](field)(value as never, thisYear);
    if (outcome.ok) read[column] = outcome.value;
    else wrongs.push({ path: `values.${field}`, message: outcome.failure });
  }
  return wrongs.length > 0 ? fail(wrongs) : ok(read);
}
