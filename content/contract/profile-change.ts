import { z } from "zod";
import { CauseId } from "./browse.ts";
import { fieldEntries, type FieldName, type fields, type FieldType } from "./fields.ts";
import { ImpactMetric, Program } from "./nonprofit.ts";
import { count, named, reason, texts } from "#content/contract/base/json.ts";

const shownReason = reason.describe("The reason, shown in the audit log and in the public history");
const rowsMax = 100;
const text = z.string().max(10_000).nullable();

const shapes = {
  name: z.string().trim().min(1).max(200),
  text,
  country: text.describe("Name or ISO 3166 code"),
  website: text,
  link: text,
  email: text.describe("Never public"),
  year: z.int().nullable(),
  count: count.max(1e15).nullable(),
  money: z.number().min(0).max(1e15).nullable(),
  flag: z.union([z.literal(0), z.literal(1)]),
  causes: z.array(CauseId).max(10).describe("Ids, the primary one first"),
  programmes: z.array(Program).max(rowsMax),
  metrics: z.array(ImpactMetric).max(rowsMax),
} satisfies Readonly<Record<FieldType, z.ZodType>>;

/** The fields that an operator may set; null empties one. A wallet can be set only by its organisation. */
const ProfileFields = z.strictObject(
  Object.fromEntries(
    fieldEntries.map(([name, { type, about }]) => [
      name,
      about === undefined ? shapes[type] : shapes[type].describe(about),
    ]),
  ) as { [Name in FieldName]: (typeof shapes)[(typeof fields)[Name]["type"]] },
);
/** The body of withdraw and restore. */
export const ProfileReason = named("ProfileReason", { reason: shownReason });

/** The body of edit. */
export const ProfileEdit = named("ProfileEdit", {
  reason: shownReason,
  values: ProfileFields.partial().describe("The fields to set; null empties one"),
});

export type ProfileValues = z.output<typeof ProfileEdit>["values"];

/** The body of merge. */
export const ProfileMerge = named("ProfileMerge", {
  reason: shownReason,
  into: z.string().trim().min(1).max(200).describe("Slug of the profile that stays"),
});

/** 200 of all these changes. */
export const ProfileChange = named("ProfileChange", {
  slug: z.string(),
  change: z.enum(["withdrawn", "restored", "edited", "merged"]),
  fields: texts.describe("Fields that are different now; of a merge, those of `into`"),
  message: z.string(),
  live: z.boolean().nullable().describe("Whether the published profile shows it already"),
});
export type ProfileChange = z.infer<typeof ProfileChange>;
