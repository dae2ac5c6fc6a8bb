import { z } from "zod";
import { agentLengthMax, sourceUrlLengthMax } from "./enrichment.ts";
import { phases } from "./recommendation.ts";
import { intentLengthMax, intentsMax, reasonLengthMax } from "./starter-set.ts";

/** A body that can be sent as it stands: shown in the API's description and to whoever sent a bad one. */
export const draftExample = {
  slug: "hope-kitchen",
  recommended_for: ["donors interested in school meals", "donors interested in food security"],
  why_recommended:
    "Cooks a warm meal at 12 schools every day and reports the number of meals each month.",
  source_url: "https://hope-kitchen.example/reports/2025",
  agent_id: "research-bot-7",
  agent_name: "Research Bot",
};

/** The body of POST /api/recommend/drafts. */
export const DraftBody = z
  .object({
    slug: z.string().min(1).max(200).describe("Of the nonprofit to recommend"),
    recommended_for: z
      .array(z.string().max(intentLengthMax * 2))
      .min(1)
      .max(intentsMax)
      .describe(
        `Donor intents, at most ${intentLengthMax} characters each; restrained wording only. Agents agree when these are the same, whatever their order`,
      ),
    why_recommended: z
      .string()
      .min(1)
      .max(reasonLengthMax * 2)
      .describe(
        `One to three restrained sentences, at most ${reasonLengthMax} characters, without links`,
      ),
    source_url: z
      .string()
      .min(1)
      .max(sourceUrlLengthMax)
      .describe("http(s) address of the evidence; never opened by the directory"),
    agent_id: z
      .string()
      .min(1)
      .max(agentLengthMax)
      .describe("Stable id of the agent; distinct ids count toward consensus"),
    agent_name: z
      .string()
      .max(agentLengthMax)
      .nullish()
      .describe("Name for people; the id when absent"),
  })
  .meta({ id: "RecommendationDraftBody", examples: [draftExample] });

export const DraftStatus = z.enum(["pending", "applied", "rejected"]);
export type DraftStatus = z.infer<typeof DraftStatus>;

/** 200 of POST /api/recommend/drafts. */
export const DraftAnswer = z
  .object({
    message: z.string(),
    draft_id: z.int(),
    slug: z.string(),
    nonprofit: z.string().describe("Its name"),
    status: DraftStatus,
    applied: z.boolean().describe("True when the profile is a recommendation by this agreement"),
    confidence: z.int().describe("Distinct agents that named the same donor intents"),
    consensus: z.boolean().describe("True when two or more agents did"),
    sensitive_claims: z
      .array(z.string())
      .describe("Words on impact or effectiveness, which a person decides about"),
    phase: z.literal(phases).describe("Phase of the governance of recommendations"),
    promotion_note: z.string().describe("What comes next, and why"),
    prior_rejections: z
      .array(
        z.object({
          agent: z.string().describe("Name of the agent that had proposed it"),
          recommended_for: z.array(z.string()),
          reason: z.string().describe("In the operator's words"),
          rejected_at: z.string().describe("YYYY-MM-DD HH:MM:SS, UTC"),
        }),
      )
      .max(5)
      .describe("What operators refused of this nonprofit, or took back, the newest first"),
    profile_url: z.string(),
  })
  .meta({ id: "RecommendationDraft" });
export type DraftAnswer = z.infer<typeof DraftAnswer>;
