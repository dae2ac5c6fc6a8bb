import type testWords from "#content/editorial/test-data.json";
import { sha256Of } from "#content/runtime/digest.ts";
import { z } from "zod";
import {
  type EnrichableField,
  fieldTypeOf,
  lengthMax,
  type StructuredField,
} from "#content/contract/enrichment.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import {
  isHarmlessPlace,
  isHarmlessWebsite,
  withoutAddress,
} from "#content/nonprofit/public-name.ts";
import { characterCount, textFault, unsafeCharacter } from "#content/nonprofit/text.ts";
import {
  agreedWebsite,
  comparedWebsite,
  isLinkShortener,
  isPublicHost,
  readWebsite,
  shortenedLink,
} from "#content/nonprofit/website.ts";
import type { ImpactMetric, Program } from "#content/contract/nonprofit.ts";
import { fitted, type Wrong, wrongsInWords } from "#content/contract/problem.ts";
import { isBrokenObject, objectIn } from "#content/contract/base/json.ts";

/** Text in one Unicode form, with single spaces. */
const prose = (raw: string): string => raw.normalize("NFC").replaceAll(/\s+/gu, " ").trim();

/** City and region keep their letter case; only spaces and trailing commas are folded. */
const place = (raw: string): string => prose(raw).replace(/[\s,]+$/u, "");

const everyYear = /(?<!\d)\d{4}(?!\d)/g;
/** The first four-digit year in a text; "" if there is none. */
const year = (raw: string): string => raw.match(everyYear)?.[0] ?? "";

/** Replaces look-alike letters by plain ones: a full-width "ｅ" by "e", an ideographic full stop by a dot. */
const cleanEmail = (raw: string): string => raw.normalize("NFKC").replaceAll("\u3002", ".").trim();

/** Lower case, with an international domain in punycode. "" when there is no domain. */
const email = (raw: string): string => {
  const text = cleanEmail(raw).toLowerCase();
  const at = text.lastIndexOf("@");
  const host = at < 1 ? null : URL.parse(`https://${text.slice(at + 1)}/`);
  if (host === null || host.pathname !== "/" || host.port !== "" || host.search !== "") return "";
  return `${text.slice(0, at)}@${host.hostname}`;
};

/**
 * The comparison form of each field's value: two agents agree when these are equal. Normalising twice changes nothing, and
 * "" means that nothing usable is left. Never shown (docs/consensus.md).
 */
export const normalise: Readonly<Record<EnrichableField, (raw: string) => string>> = {
  website: comparedWebsite,
  contact_email: email,
  city: place,
  region: place,
  founded_year: year,
  mission: prose,
  description: prose,
  tagline: prose,
  programme: prose,
  impact_metric: prose,
};

/**
 * The comparison form of a live value. A register may hold what no agent could send, such as a year of three digits; such a
 * value is compared as it is, so that the field does not seem empty.
 */
export const comparedLive = (field: EnrichableField, live: string): string =>
  comparedValue(field, live) || live;

/**
 * The value that goes live when agents sent these equal-comparing values: what all of them have in common. For places and
 * years that is the value itself, because they are cleaned to the comparison form.
 */
export function agreedValue(
  field: StructuredField,
  values: readonly [string, ...string[]],
): string {
  if (field === "website") return agreedWebsite(values);
  const [first, ...others] = values;
  return others.every((value) => value === first) ? first : normalise[field](first);
}

const indexedLengthMax = 100;

/**
 * The stored key for finding equal values: the comparison form, or a digest of it for long prose, to keep the index small.
 */
export const comparedValue = (field: EnrichableField, value: string): string =>
  indexed(field, normalise[field](value));

function indexed(field: EnrichableField, compared: string): string {
  if (fieldTypeOf(field) === "structured" || compared.length <= indexedLengthMax) return compared;
  return `sha256:${sha256Of(compared)}`;
}

/** A cleaned value that may go live, and its comparison form. */
export type UsableValue = { value: string; normalised_value: string };

const foundedFrom = 1_000;
const plainEmail = z.email();

/**
 * Checks and cleans a submitted value. Text has no control, bidi or stray tag characters and fits the field's length; a
 * website is http(s) with a public host, an e-mail address parses, a year lies between 1000 and `thisYear`. Nothing is
 * fetched. The failure tells the sender what to send instead.
 */
export function checkValue(
  field: EnrichableField,
  raw: string,
  { thisYear }: { thisYear: number },
): Result<UsableValue, string> {
  const fault = textFault(field, raw.trim(), {
    lengthMax: lengthMax[field],
    prose: fieldTypeOf(field) === "prose",
  });
  if (fault !== null) return fail(fault);
  const value = (clean[field] ?? trimmed)(raw);
  if (value === "") return fail(emptied[field] ?? `${field} is empty.`);
  const compared = normalise[field](value);
  const problem = checks[field]?.(value, { compared, thisYear }) ?? null;
  if (problem !== null) return fail(problem);
  return ok({ value, normalised_value: indexed(field, compared) });
}

/** `checkValue`, returning the cleaned text only. */
export function checkText(
  field: EnrichableField,
  raw: string,
  thisYear: number,
): Result<string, string> {
  const checked = checkValue(field, raw, { thisYear });
  return checked.ok ? ok(checked.value.value) : checked;
}

/** Checks the address where an agent found a value: an http(s) URL without credentials, never opened. Null if none. */
export function checkSourceUrl(raw: string | null): Result<string | null, string> {
  if (raw === null) return ok(null);
  const text = raw.trim();
  const url = unsafeCharacter(text, { prose: false }) === null ? URL.parse(text) : null;
  if (url !== null && /^https?:\/\//i.test(text) && url.username === "" && url.password === "") {
    return ok(url.href);
  }
  return fail("source_url must be an http(s) address, like https://charity.example/about.");
}

const trimmed = (raw: string): string => raw.normalize("NFC").trim();

/** Cleans values that do not go live as they were sent; "" when the text is not a valid value of the field. */
const clean: Partial<Record<EnrichableField, (raw: string) => string>> = {
  website: (raw) => readWebsite(raw)?.live ?? "",
  contact_email: cleanEmail,
  city: normalise.city,
  region: normalise.region,
  // With several different years it is unclear which one is meant.
  founded_year: (raw) =>
    new Set(raw.match(everyYear)).size > 1 ? "" : normalise.founded_year(raw),
  tagline: normalise.tagline,
};

export const notALink = (field: string): string =>
  `${field} is an http(s) address with a public host name, like https://hope-kitchen.example: no IP address, no user name, no localhost.`;
const notAWebsite = notALink("website");
const notOfPerson =
  "website holds an e-mail address, which is never public: send the address of the site without it.";
const notAnEmail = "contact_email is one e-mail address, like office@hope-kitchen.example.";
const noYear = (thisYear: number) =>
  `founded_year holds a year of four digits between ${foundedFrom} and ${thisYear}, like "1998".`;

const noCity = "city holds no name.";
const noRegion = "region holds no name.";
const emptied: Partial<Record<EnrichableField, string>> = {
  website: notAWebsite,
  contact_email: notAnEmail,
  city: noCity,
  region: noRegion,
  founded_year:
    'founded_year holds one year of four digits, like "1998": that in which it was founded.',
};

/** Returns what is wrong with a cleaned value (`compared` is its comparison form), or null when it is usable. */
type Check = (value: string, context: { compared: string; thisYear: number }) => string | null;

const checks: Partial<Record<EnrichableField, Check>> = {
  website: (value, { compared }) => {
    if (isLinkShortener(value)) return shortenedLink("website");
    if (withoutAddress(value) !== value) return notOfPerson;
    const isUsable = characterCount(value) <= lengthMax.website && compared !== "";
    return isUsable ? null : notAWebsite;
  },
  contact_email: (_, { compared }) => (isEmail(compared) ? null : notAnEmail),
  city: (value) => (/\p{L}/u.test(value) ? null : noCity),
  region: (value) => (/[\p{L}\p{N}]/u.test(value) ? null : noRegion),
  founded_year: (value, { thisYear }) =>
    Number(value) >= foundedFrom && Number(value) <= thisYear ? null : noYear(thisYear),
  programme: (value) => refusalOf(itemFrom("programme", value)),
  impact_metric: (value) => refusalOf(itemFrom("impact_metric", value)),
};

const refusalOf = (read: ReturnType<typeof itemFrom>): string | null =>
  read.kind === "wrong" ? read.message : null;

const isEmail = (compared: string): boolean =>
  plainEmail.safeParse(compared).success &&
  isPublicHost(compared.slice(compared.lastIndexOf("@") + 1));

/** Example hosts. `.example` is not among them, because the sample directory uses it. */
const exampleHost = /(?:^|[@/.])example\.(?:org|com|net)(?:$|[/:?#])/i;
const fillerText = /\b(?:placeholder|lorem ipsum)\b/i;
const testAgent =
  /(?:^|[^\p{L}])(?:test(?:s|er|ing)?|test(?:agent|bot|user)|debug(?:ger|ging)?)(?:$|[^\p{L}])/iu;

type ValueCall = {
  field: string;
  value: string;
  /** The comparison form, if it is known. */
  normalised_value?: string;
  agent_id: string;
  agent_name: string;
};

/** The kinds of test data; content/editorial/test-data.json explains them in words. */
export type TestCause = keyof typeof testWords;

/** The fields that name a host, with their comparison forms. */
const comparedLinks: ReadonlyMap<string, (raw: string) => string> = new Map([
  ["website", comparedWebsite],
  ["source_url", comparedWebsite],
  ["contact_email", email],
]);

const testRules: Readonly<Record<TestCause, (submitted: ValueCall) => boolean>> = {
  // Test the comparison form too: there a host has one spelling, without final dot or full-width letters.
  example_host: ({ field, value, normalised_value }) => {
    const compared = comparedLinks.get(field);
    return (
      compared !== undefined &&
      (exampleHost.test(value) || exampleHost.test(normalised_value ?? compared(value)))
    );
  },
  message: ({ field, value }) =>
    (field === "city" || field === "region") && !isHarmlessPlace(value),
  message_in_website: ({ field, value }) => field === "website" && !isHarmlessWebsite(value),
  filler: ({ value }) => fillerText.test(value),
  // Split "TestBot" into two words.
  test_agent: ({ agent_id, agent_name }) =>
    testAgent.test(agent_id) ||
    testAgent.test(agent_name.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, " ")),
};

/**
 * Why a submission is test data, or a website, city or region that reads like a message; null for any other. Such a
 * submission is accepted but decides nothing and stays out of the leaderboard, agents.md and second opinions.
 */
export const testCause = (submitted: ValueCall): TestCause | null =>
  (Object.keys(testRules) as TestCause[]).find((cause) => testRules[cause](submitted)) ?? null;

export const isTestData = (submitted: ValueCall): boolean => testCause(submitted) !== null;

// Check again here: JSON escapes could bring in characters that the submitted text may not contain.
const text = z
  .string()
  .trim()
  .min(1)
  .max(2_000)
  .refine(
    (value) => unsafeCharacter(value, { prose: true }) === null,
    "holds a character that is not allowed",
  );
const optional = text
  .nullish()
  .or(z.literal("").transform(() => null))
  .transform((value) => value ?? null);
const wholeNumber = z
  .union([
    z.int(),
    z
      .string()
      .regex(/^\d{1,15}$/)
      .transform(Number),
  ])
  .pipe(z.int().min(0));

/** Unknown members are dropped. */
const ProgramItem = z.object({
  name: text.max(160),
  description: optional,
  beneficiaries_per_year: wholeNumber.nullish().transform((value) => value ?? null),
  location: optional,
});

const MetricItem = z.object({
  name: text.max(160),
  value: z.union([text, z.number().transform(String)]),
  unit: optional,
  period: optional,
});

export type ProseRow =
  | { kind: "programme"; row: Program }
  | { kind: "impact_metric"; row: ImpactMetric };

export type ItemReading = ProseRow | { kind: "text" } | { kind: "wrong"; message: string };

const brokenObject = "The value begins like a JSON object and is none: is a quote missing?";

const nameLengthMax = 120;

/**
 * Reads the value of a programme or impact_metric: a JSON object with the fields of its row, or plain text ("text"). "wrong"
 * when an object lacks what the row needs.
 */
export function itemFrom(field: "programme" | "impact_metric", value: string): ItemReading {
  const object = objectIn(value);
  if (object === null)
    return isBrokenObject(value) ? { kind: "wrong", message: brokenObject } : { kind: "text" };
  if (field === "programme") {
    const read = fitted(ProgramItem, object);
    if (read.ok) return { kind: "programme", row: read.value };
    return {
      kind: "wrong",
      message: wrong(
        field,
        "name (and description, beneficiaries_per_year, location)",
        read.failure,
      ),
    };
  }
  const read = fitted(MetricItem, object);
  if (read.ok) return { kind: "impact_metric", row: read.value };
  return {
    kind: "wrong",
    message: wrong(field, "name and value (and unit, period)", read.failure),
  };
}

/**
 * The row that an accepted value becomes. Plain text makes a programme named by its first line or sentence. Plain text of a
 * metric gives null, because only the operator can tell its name from its value.
 */
export function rowFrom(field: "programme" | "impact_metric", value: string): ProseRow | null {
  const item = itemFrom(field, value);
  if (item.kind === "programme" || item.kind === "impact_metric") return item;
  if (item.kind === "wrong" || field === "impact_metric") return null;
  const [first = ""] = value.split(/\n|(?<=[.!?。])\s/u, 1);
  const name = Array.from(first.trim().replace(/[.。]$/u, ""))
    .slice(0, nameLengthMax)
    .join("");
  const description = value.trim() === name ? null : value.trim();
  const row = { name, description, beneficiaries_per_year: null, location: null };
  return { kind: "programme", row };
}

/** A row as one line for people: "Night school · Evening lessons · 120 people a year · Nairobi". */
export function rowInWords({ kind, row }: ProseRow): string {
  const parts =
    kind === "programme"
      ? [
          row.name,
          row.description,
          row.beneficiaries_per_year?.toLocaleString("en").concat(" people a year"),
          row.location,
        ]
      : [`${row.name}: ${row.value}${row.unit === null ? "" : ` ${row.unit}`}`, row.period];
  return parts
    .filter((part) => part != null)
    .join(" · ")
    .replaceAll(/\s+/gu, " ");
}

const wrong = (field: string, fields: string, faults: readonly Wrong[]): string =>
  `${field} as a JSON object has ${fields}. ${wrongsInWords(faults.slice(0, 1))}`;
