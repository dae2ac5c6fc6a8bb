import { z } from "zod";
import { type FilterName, incomeBandIds } from "#content/contract/browse.ts";
import { withinKm } from "#content/contract/search.ts";

/**
 * A parameter of a query string: `parse` makes of its text what the shape describes; an empty one counts as absent.
 * Programs may hand in the value itself.
 */
export const parameter = <Shape extends z.ZodType>(
  parse: (text: string) => unknown,
  shape: Shape,
  description: string,
  example: unknown,
) =>
  z.preprocess(
    (raw) => (typeof raw !== "string" ? raw : raw === "" ? undefined : parse(raw)),
    shape.meta({ description, examples: [example] }),
  );

const textLengthMax = 1_000;

/** A whole number from `min`; above `max` it is capped. */
const cappedNumber = (min: number, max: number, error: string) =>
  z
    .int({ error })
    .min(min, { error })
    .overwrite((raw) => Math.min(raw, max));

/** Items per page, by default `fallback`; above `max` it is capped. */
export const limit = (fallback: number, max: number) =>
  parameter(
    wholeNumber,
    cappedNumber(
      1,
      max,
      `limit is a whole number from 1 to ${max}; above that it is capped.`,
    ).default(fallback),
    `Items in the answer: ${fallback} unless given, at most ${max}; above that it is capped`,
    fallback,
  );

/** The number of items to skip from the start; `name` is the parameter's name. */
export const skipped = (name: string) =>
  parameter(
    wholeNumber,
    cappedNumber(0, 2 ** 40, `${name} is a whole number from 0.`).default(0),
    "Number of items to skip; default 0",
    0,
  );
export const offset = skipped("offset");

/** A whole number from 1; above `max` it is capped. */
export const number = (
  name: string,
  description: string,
  example: number,
  max = Number.MAX_SAFE_INTEGER,
) =>
  parameter(
    wholeNumber,
    cappedNumber(1, max, `${name} is a whole number from 1.`).optional(),
    description,
    example,
  );

/** A text without control characters, trimmed and cut at `lengthMax`. */
export const text = (description: string, example: string, lengthMax = textLengthMax) =>
  parameter(
    (raw) => cleanText(raw, lengthMax),
    z.string().max(lengthMax).optional(),
    description,
    example,
  );

export const filterLengthMax = 200;
/** The refusal of a longer value of the parameter `name`. */
export const filterTooLong = (name: string) => ({
  error: `${name} has at most ${filterLengthMax} characters.`,
});

/** A text that narrows answers, trimmed, without control characters. No place or cause has a longer name. */
export const filter = (name: string, description: string, example: string) =>
  parameter(
    (raw) => cleanText(raw, filterLengthMax + 1),
    z.string().max(filterLengthMax, filterTooLong(name)).optional(),
    description,
    example,
  );

/** A text unchanged, "" if absent; the operation itself reports errors in it. `bounds` are documented, not enforced. */
export const textAsItCame = (
  description: string,
  example: string,
  bounds: { minLength?: number; maxLength?: number } = {},
) =>
  z.preprocess(
    (raw) => raw ?? "",
    z.string().meta({ description, examples: [example], ...bounds }),
  );

/** A value of a closed list; a refusal names the list. */
export const choice = <const Values extends readonly string[]>(
  name: string,
  values: Values,
  description: string,
  example: Values[number],
) =>
  parameter(
    (raw) => cleanText(raw),
    z.enum(values, { error: `${name} is one of ${values.join(", ")}.` }).optional(),
    description,
    example,
  );

const yesOrNoDigits: Readonly<Record<string, string>> = { "1": "true", "0": "false" };

/** "true" or "false"; 1 and 0 are accepted too. */
export const yesOrNo = (name: string, description: string) =>
  parameter(
    (raw) => yesOrNoDigits[raw.trim()] ?? cleanText(raw),
    z.enum(["true", "false"], { error: `${name} is one of true, false, 1, 0.` }).optional(),
    description,
    "true",
  );

/** "1" or "true"; "0" and "false" count as absent. */
export const flag = (name: string, description: string, example: "1" | "true") =>
  parameter(
    (raw) => {
      const word = raw.trim().toLowerCase();
      return word === "true" ? "1" : ["0", "false"].includes(word) ? undefined : word;
    },
    z.enum(["1", "true"], { error: `${name} is one of 1, true, 0, false.` }).optional(),
    description,
    example,
  );

/** Parses a whole number; NaN for any other text. */
function wholeNumber(raw: string): number {
  const digits = raw.trim();
  return /^\+?\d+$/.test(digits) ? Math.min(Number(digits), Number.MAX_SAFE_INTEGER) : Number.NaN;
}

/** A text trimmed and cut, without control characters; undefined if nothing visible is left. */
export function cleanText(raw: string, lengthMax = textLengthMax): string | undefined {
  // Control characters mean nothing in a query, and SQLite would cut a text at a NUL.
  const visible = raw.replaceAll(/\p{Cc}+/gu, " ").trim();
  return detachedCopy(visible.slice(0, lengthMax)) || undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A well-formed copy of a cut text: a slice would keep the whole text in memory. */
export const detachedCopy = (slice: string): string => decoder.decode(encoder.encode(slice));

/** The filters of lists, searches and recommendations, for pages and programs. They combine. */
export const filters = {
  cause: filter(
    "cause",
    "Cause id from GET /api/causes, or none: profiles without a cause, where nothing that a register says fits one; an unknown id matches nothing",
    "education",
  ),
  country: filter(
    "country",
    "Country by its English name or ISO 3166 code (KE, KEN or 404); letter case does not matter",
    "Kenya",
  ),
  region: filter("region", "State, province or region; letter case does not matter", "Hawaii"),
  city: filter("city", "City; letter case does not matter", "Honolulu"),
  claimed: yesOrNo("claimed", "Whether the organisation has claimed its profile"),
  accepts: choice("accepts", ["usdc"], "Only those that take gifts this way", "usdc"),
  has_website: yesOrNo("has_website", "Whether a website is known"),
  income: choice(
    "income",
    incomeBandIds,
    "Yearly income that a register gives, in the register's own currency",
    "100k-1m",
  ),
  ghd_aligned: flag("ghd_aligned", "Only profiles aligned with global health and development", "1"),
} satisfies Record<FilterName, z.ZodType>;

/** Parameters for searching near a place. */
export const nearby = {
  near: filter(
    "near",
    "Only what is near a ZIP code, a postcode or its first half, or a town (of the US, UK, Canada, Australia, New Zealand, Ireland); without q the nearest first",
    "02903",
  ),
  within_km: number(
    "within_km",
    `How far away at most: ${withinKm.default} km unless given; above ${withinKm.max} it is capped`,
    withinKm.default,
    withinKm.max,
  ),
};
