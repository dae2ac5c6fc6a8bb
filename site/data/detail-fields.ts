import { z } from "zod";
import about from "#content/editorial/data-package.json";
import { csvLine } from "#content/contract/base/csv.ts";
import { NonprofitDetail } from "#content/contract/nonprofit.ts";

/**
 * A field of the detail. `kind`: string, integer, number, boolean, any (text or a number), list (of texts), items (objects
 * with `fields`), record (such objects by name) or object.
 */
export type Field = {
  name: string;
  kind: string;
  description?: string | undefined;
  fields?: Field[];
};
/** The detail, or a part of it, as parsed from its JSON. */
export type Row = Readonly<Record<string, unknown>>;

type Shape = z.core.JSONSchema.BaseSchema;
const { $defs = {}, ...document } = z.toJSONSchema(NonprofitDetail);

function fieldOf(name: string, shape: Shape, description = shape.description): Field {
  const [choice, other] = (shape.anyOf ?? []).filter(({ type }) => type !== "null");
  const inner = $defs[shape.$ref?.split("/").at(-1) ?? ""] ?? (other ? undefined : choice);
  if (inner !== undefined) return fieldOf(name, inner, description);
  const { properties, items = shape.additionalProperties } = shape;
  const fields = properties
    ? Object.entries(properties).map(([key, value]) => fieldOf(key, value as Shape))
    : typeof items === "object" && fieldOf("", items as Shape).fields;
  return { name, kind: kindOf(shape, !!fields), description, ...(fields && { fields }) };
}

function kindOf({ type, properties, anyOf }: Shape, hasFields: boolean): string {
  if (type === "array") return hasFields ? "items" : "list";
  if (type === "object") return properties ? "object" : "record";
  if (anyOf?.every((choice) => choice.const === 0 || choice.const === 1)) return "boolean";
  const [only = "any", other] = [type].flat().filter((name) => name !== "null");
  return other === undefined ? only : "any";
}

/** The fields of the detail, in its order; every file of /data has all of them. */
export const detailFields: readonly Field[] = fieldOf("", document).fields ?? [];
/** The fields except objects and records, which CSV cannot hold. */
export const csvFields = detailFields.filter(({ kind }) => kind !== "object" && kind !== "record");

/** The value of a column: lists and objects are JSON text, flags booleans. */
export function flatValue({ kind }: Field, value: unknown): string | number | boolean | null {
  if (value === undefined || value === null) return null;
  if (kind === "boolean") return Boolean(value);
  return typeof value === "object" ? JSON.stringify(value) : (value as string | number);
}

const itemNames: Readonly<Record<string, string>> = about.item_names;

/** The CSV line of a detail. Lists are joined, items by their naming field; items without one are JSON. */
export const csvRow = (detail: Row): string =>
  csvLine(
    csvFields.map((field) => {
      const value = detail[field.name];
      const key = itemNames[field.name] ?? "";
      if (!Array.isArray(value) || (key === "" && field.kind === "items" && value.length > 0))
        return flatValue(field, value);
      return value.map((item) => (typeof item === "string" ? item : String(item[key])));
    }),
  );

const jsonTypes: Readonly<Record<string, string>> = about.types.json;

/** The columns as a Table Schema of datapackage.org; nested values are text, except in JSON. */
export const schemaOf = (fields: readonly Field[], { json = false, primaryKey = ["id"] } = {}) => ({
  schema: {
    fields: fields.map(({ name, kind, description }) => {
      const nested = json ? jsonTypes[kind] : jsonTypes[kind] && "string";
      return { name, type: nested ?? kind, description };
    }),
    primaryKey,
  },
});
