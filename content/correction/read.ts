import causes from "#content/editorial/causes.json";
import {
  CorrectionBody,
  type CorrectionField,
  correctionLengthMax as lengthMax,
  type SettableByCorrection,
  settableByCorrection,
} from "#content/contract/correction.ts";
import { fields } from "#content/contract/fields.ts";
import { fitted, type Wrong } from "#content/contract/problem.ts";
import { ProfileEdit } from "#content/contract/profile-change.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { readProfileValues } from "#content/enrichment/profile-values.ts";
import { checkSourceUrl, checkText } from "#content/enrichment/value.ts";
import { edited } from "#content/nonprofit/operator-changes.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { characterCount, readSentences, tooLong } from "#content/nonprofit/text.ts";

type ReadResult = Result<string | null, string>;

export const isSettable = (field: CorrectionField): field is SettableByCorrection =>
  settableByCorrection.some((settable) => settable === field);

/** Reads the body of POST /api/corrections/{slug}: cleans and bounds every text, and names every error by its field. */
export function readCorrection(
  body: unknown,
  { thisYear }: { thisYear: number },
): Result<CorrectionBody, Wrong[]> {
  const bodyResult = fitted(CorrectionBody, body);
  if (!bodyResult.ok) return bodyResult;
  const { field, ...sent } = bodyResult.value;
  const wrongs: Wrong[] = [];
  const take = (path: keyof typeof sent, parse: (text: string) => ReadResult): string | null => {
    const text = sent[path];
    const value = text === null ? ok(null) : parse(text);
    if (!value.ok) wrongs.push({ path, message: value.failure });
    return value.ok ? value.value : null;
  };
  const request = {
    field,
    what_is_wrong:
      take("what_is_wrong", (text) =>
        readSentences("what_is_wrong", text, lengthMax.what_is_wrong),
      ) ?? "",
    suggested_value: take("suggested_value", (text) => {
      const clean = readSentences("suggested_value", text, lengthMax.suggested_value);
      if (!clean.ok || !isSettable(field)) return clean;
      const usable = correctedValue(field, clean.value, { thisYear });
      return usable.ok ? clean : usable;
    }),
    source_url: take("source_url", (text) => {
      const { source_url } = lengthMax;
      if (characterCount(text) > source_url) {
        return fail(tooLong("source_url", source_url));
      }
      return checkSourceUrl(text);
    }),
    contact_email: take("contact_email", (text) => checkText("contact_email", text, thisYear)),
  };
  return wrongs.length > 0 ? fail(wrongs) : ok(request);
}

const numberTypes: ReadonlySet<string> = new Set(["year", "count", "money"]);

/** "1200", "12,000". A text that others may read as another number ("1,5") does not match. */
const plainNumber = /^(?:\d{1,15}|\d{1,3}(?:[ ,_\u00a0\u202f]\d{3}){1,4})(?:\.\d{1,2})?$/;

/** A text as a value of a profile's edit: "12,000" is a number, "education, Mental Health" two causes. */
function typed(field: SettableByCorrection, text: string): unknown {
  if (numberTypes.has(fields[field].type))
    return plainNumber.test(text) ? Number(text.replaceAll(/[^\d.]/g, "")) : Number.NaN;
  if (field !== "causes") return text;
  return text.split(/[,;\n]/u).flatMap((part) => {
    const cause = part.trim().toLowerCase();
    return causeIds.get(cause) ?? (cause || []);
  });
}
const causeIds = new Map(causes.map(({ id, name }) => [name.toLowerCase(), id]));

/** Whether the profile has exactly this value already, or, for null, none. */
export function saysAlready(
  record: NonprofitRecord,
  field: CorrectionField,
  text: string | null,
  now: Date,
): boolean {
  if (!isSettable(field)) return false;
  const newValue = correctedValue(field, text, { thisYear: now.getUTCFullYear() });
  return newValue.ok && edited(record, newValue.value, now).fields.length === 0;
}

/**
 * The value of a field as an operator's edit would set it, with the same checks; null empties the field. The failure says
 * what to send instead.
 */
export function correctedValue(
  field: SettableByCorrection,
  text: string | null,
  { thisYear }: { thisYear: number },
): Result<Partial<NonprofitRecord>, string> {
  if (text === null && field === "name") return fail("A profile needs a name.");
  if (text !== null && Number.isNaN(typed(field, text))) {
    return fail(`${field} is a number, like 1200.`);
  }
  const value = text === null ? (field === "causes" ? [] : null) : typed(field, text);
  const editResult = fitted(ProfileEdit.shape.values, { [field]: value });
  const valuesResult = editResult.ok
    ? readProfileValues(editResult.value, { thisYear })
    : editResult;
  return valuesResult.ok
    ? valuesResult
    : fail(valuesResult.failure[0]?.message ?? "It cannot be used.");
}
