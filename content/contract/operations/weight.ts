import { z } from "zod";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { unknownName } from "#content/contract/other-names.ts";
import { choice, cleaned, parameter } from "./query.ts";

/** The names in a parameter, with commas between, each once; all for none. A failure says what to send. */
export function namesAsked(
  what: string,
  asked: string,
  all: readonly string[],
): Result<string[], string> {
  const names = [...new Set(asked.split(",").map((name) => name.trim()))].filter(Boolean);
  const unknown = names.find((name) => !all.includes(name));
  return unknown === undefined
    ? ok(names.length === 0 ? [...all] : names)
    : fail(unknownName(what, unknown, all));
}

const listOf = (what: string, all: string[], description: string, example: string) =>
  parameter(
    (given) => cleaned(given),
    z
      .string()
      .transform((asked, { issues }) => {
        const read = namesAsked(what, asked, all);
        if (read.ok) return read.value;
        issues.push({ code: "invalid_value", values: all, input: asked, message: read.failure });
        return z.NEVER;
      })
      .optional(),
    description,
    example,
  );

/** Which members the items of an answer have; `others` are known beside those of the shape, and left out unless named. */
export const fields = (item: z.ZodObject, others: readonly string[] = []) =>
  listOf(
    "field",
    [...Object.keys(item.shape), ...others],
    `The only members of each item, with commas; all${others.length === 0 ? "" : ` but ${others.join(", ")}`} unless given`,
    "slug,name",
  );

/** Items with these members alone. */
export const withFields = <Item extends object>(
  items: Item[],
  names: readonly string[] | undefined,
): Item[] => {
  if (names === undefined) return items;
  const isNamed = ([name]: [string, unknown]) => names.includes(name);
  return items.map((item) => Object.fromEntries(Object.entries(item).filter(isNamed)) as Item);
};

/** What is long, and answered only to those who ask. */
export const include = listOf(
  "value of include",
  ["facets", "charts"],
  "What is left out unless named: facets (of lists: how many match with each value), charts (of the statistics)",
  "facets,charts",
);

/** Which of two arrays that hold the same an answer leaves out. */
export const shape = choice(
  "shape",
  ["a", "b"],
  "a: without results; b: without nonprofits, which is the same array",
  "a",
);
