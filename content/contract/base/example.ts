import { z } from "zod";
import madeUp from "#content/editorial/examples.json";
import { proseFields, structuredFields } from "#content/contract/enrichment.ts";
import type { Json } from "#content/contract/operations/operation.ts";

/**
 * Example values by field name, or by shape id and field name: an invented directory of one nonprofit. Tests check every
 * example against its shape.
 */
const values: Readonly<Record<string, Json>> = {
  ...madeUp,
  structured: [...structuredFields],
  prose_pending: [...proseFields],
};

/**
 * An example of a shape: its own if it has one, else built from the values above, from what descriptions name ("for example
 * EIN", "ISO 8601"), and from the first value of a list, 1 and true.
 */
export function exampleOf(shape: z.core.$ZodType): Json {
  return exampleAt(shape, { owner: "", name: "", description: "" });
}

type Place = { owner: string; name: string; description: string };

function exampleAt(shape: z.core.$ZodType, at: Place): Json {
  const {
    id = at.owner,
    description = at.description,
    examples,
  } = z.globalRegistry.get(shape) ?? {};
  const [example] = Array.isArray(examples) ? (examples as Json[]) : [];
  if (example !== undefined) return example;
  const ofOwner = `${at.owner}.${at.name}`;
  const value = values[ofOwner in values ? ofOwner : at.name];
  if (value !== undefined && z.safeParse(shape, value).success) return value;
  const place = { ...at, owner: id, description };
  return madeOf(shape as z.core.$ZodTypes, place);
}

function madeOf({ _zod: { def } }: z.core.$ZodTypes, at: Place): Json {
  if (def.type === "object") {
    const members = Object.entries(def.shape).map(([name, shape]): [string, Json] => [
      name,
      exampleAt(shape, { owner: at.owner, name, description: "" }),
    ]);
    return Object.fromEntries(members);
  }
  if (def.type === "array") return [exampleAt(def.element, at)];
  if (def.type === "record") return { city: exampleAt(def.valueType, { ...at, name: "city" }) };
  if (def.type === "union" && def.options[0] !== undefined) return exampleAt(def.options[0], at);
  if ("innerType" in def) return exampleAt(def.innerType, at);
  if (def.type === "enum") return Object.values(def.entries)[0] ?? null;
  if (def.type === "literal") return def.values[0] as Json;
  if (def.type === "string") return textOf(at);
  return def.type === "boolean" ? true : 1;
}

function textOf({ name, description }: Place): string {
  if (description.includes("YYYY-MM-DD")) return "2026-05-04 10:00:00";
  if (description.includes("ISO 8601") || name.endsWith("_at")) return "2026-05-04T10:00:00Z";
  return /for example (\S+\w)/i.exec(description)?.[1] ?? name;
}
