import { z } from "zod";
import type { ImpactMetric, Program } from "#content/contract/nonprofit.ts";
import { fitted, type Wrong, wrongsInWords } from "#content/contract/problem.ts";
import { isBrokenObject, objectIn } from "#content/contract/base/json.ts";
import { unsafeCharacter } from "#content/nonprofit/text.ts";

// JSON escapes could smuggle in what the text itself may not hold.
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

export type ReadItem = ProseRow | { kind: "text" } | { kind: "wrong"; message: string };

const brokenObject = "The value begins like a JSON object and is none: is a quote missing?";

const nameLengthMax = 120;

/**
 * Reads the value of a programme or impact_metric: a JSON object with the fields of a program or a metric, or plain
 * text ("text"). "wrong" for an object that lacks what the row needs. Source: the decisions of the spec, "Enrichment".
 */
export function itemFrom(field: "programme" | "impact_metric", value: string): ReadItem {
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
 * The row that an accepted value becomes. Plain text makes a programme (its first line or sentence is the name); of a
 * metric no one but the operator can tell name from value, so plain text gives null.
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

/** A row as one line for a person: "Night school · Evening lessons · 120 people a year · Nairobi". */
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
