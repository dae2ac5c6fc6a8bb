import { z } from "zod";
import { CauseId } from "./cause.ts";
import { intentLengthMax, intentsMax, reasonLengthMax } from "./starter-set.ts";

const recommended_for = z
  .array(z.string().max(intentLengthMax * 2))
  .min(1)
  .max(intentsMax)
  .describe("Donor-intent phrases; restrained wording only");
const why_recommended = z
  .string()
  .min(1)
  .max(reasonLengthMax * 2)
  .describe("One to three restrained sentences");
const causes = z
  .array(CauseId)
  .min(1)
  .max(29)
  .nullish()
  .describe("The causes it is picked for; all causes of the profile when absent or null");

/** The body of POST /api/admin/picks. */
export const PickBody = z
  .object({ slug: z.string().min(1).max(200), recommended_for, why_recommended, causes })
  .meta({ id: "PickBody" });
export type PickBody = z.infer<typeof PickBody>;

/** The body of POST /api/admin/picks/{slug}: what is absent stays as it is. */
export const PickEdit = z
  .object({
    recommended_for: recommended_for.optional(),
    why_recommended: why_recommended.optional(),
    causes,
  })
  .meta({ id: "PickEdit" });
export type PickEdit = z.infer<typeof PickEdit>;

/** The body of POST /api/admin/picks/{slug}/remove. */
export const PickRemoval = z
  .object({ reason: z.string().trim().min(1).max(500) })
  .meta({ id: "PickRemoval" });

/** A recommended profile, as an operator sees it. */
export const PickItem = z
  .object({
    slug: z.string(),
    name: z.string(),
    recommended_for: z.array(z.string()),
    why_recommended: z.string(),
    causes: z.array(z.string()).nullable(),
    origin: z
      .enum(["operator", "draft", "consensus"])
      .describe("Picked by hand, drafted by an agent and approved, or promoted by agreement"),
    draft_id: z.int().nullable().describe("The draft in whose words it stands"),
    added_by: z.string(),
    updated_at: z.string().nullable().describe("ISO 8601, UTC"),
  })
  .meta({ id: "PickItem" });
export type PickItem = z.infer<typeof PickItem>;

/** 200 of GET /api/admin/picks. */
export const PickList = z
  .object({
    count: z.int().min(0).describe("Picks in this page"),
    picks: z.array(PickItem),
    next: z.string().nullable().describe("`after` of the next page; null at the end"),
    in_file: z
      .array(z.string())
      .describe("Slugs in content/editorial/starter-set.json, which wins over the store"),
  })
  .meta({ id: "PickList" });
export type PickList = z.infer<typeof PickList>;

/** 200 of adding, editing and removing. */
export const PickChange = z
  .object({ slug: z.string(), change: z.enum(["added", "edited", "removed"]), message: z.string() })
  .meta({ id: "PickChange" });
export type PickChange = z.infer<typeof PickChange>;
