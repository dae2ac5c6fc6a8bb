import { z } from "zod";
import { CauseId } from "./cause.ts";

export const intentLengthMax = 160;
export const intentsMax = 10;
export const reasonLengthMax = 600;

/** One profile picked by hand. Sentences stay restrained: content/recommendation/wording.ts checks them where they are loaded. */
const StarterPick = z.strictObject({
  slug: z.string().min(1),
  recommended_for: z
    .array(z.string().trim().min(1).max(intentLengthMax))
    .min(1)
    .max(intentsMax)
    .describe("Donor-intent phrases"),
  why_recommended: z.string().trim().min(1).max(reasonLengthMax),
  causes: z
    .array(CauseId)
    .min(1)
    .optional()
    .describe("The causes it is picked for; all causes of the profile when absent"),
});

/** The shape of content/editorial/starter-set.json. */
export const StarterSet = z.strictObject({
  about: z.string().optional(),
  picks: z.array(StarterPick).max(2_000),
});
export type StarterSet = z.infer<typeof StarterSet>;
