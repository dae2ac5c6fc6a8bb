import { withoutUnsafe } from "#content/nonprofit/text.ts";

/** Longer than any field may be; what comes next to a user's wallet must not flood a model. */
const textLengthMax = 5_000;
const depthMax = 16;

/**
 * An answer as a model may read it: every text without control, bidi and invisible characters, and bounded. Names of
 * members are ours, but for those of records, which are cleaned too.
 */
export function cleanAnswer(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return cleanText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= depthMax) return null;
  if (Array.isArray(value)) return value.map((item) => cleanAnswer(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [cleanText(name), cleanAnswer(item, depth + 1)]),
  );
}

function cleanText(text: string): string {
  const clean = withoutUnsafe(text);
  return clean.length <= textLengthMax ? clean : `${clean.slice(0, textLengthMax).toWellFormed()}…`;
}
