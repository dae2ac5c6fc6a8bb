import { z } from "zod";
import { unknownNote } from "./browse.ts";
import { count, named, reason, textOrNull, texts } from "#content/contract/base/json.ts";
import { changeKinds } from "./feed.ts";
import type { DonationHistory } from "./donation.ts";
import {
  EnrichableField,
  FieldType,
  SubmissionStatus,
  agentLengthMax,
  enrichableFields,
} from "./enrichment.ts";
import { otherType } from "./problem.ts";

const wireTimeText = z.string().describe("YYYY-MM-DD HH:MM:SS, UTC");
/** Members that say who sent which field of which nonprofit. */
const sentBy = { nonprofit_slug: z.string(), field: z.string(), agent_name: z.string() };

/** A rejected value of the same nonprofit and field. E-mail addresses are masked. */
export const PriorRejection = named("PriorRejection", {
  agent: z.string(),
  rejected_value: z.string(),
  reason: z.string(),
  winning_value: textOrNull.describe("Submit this form when you try the field again"),
  rejected_at: wireTimeText,
});
export type PriorRejection = z.infer<typeof PriorRejection>;

export const EnrichmentSubmission = named("EnrichmentSubmission", {
  submission_id: z.int(),
  field: EnrichableField,
  field_type: FieldType,
  status: SubmissionStatus,
  applied: z.boolean().describe("True when the value is live on the published profile"),
  confidence: z.int().min(1).describe("Distinct agents that submitted the same normalised value"),
  consensus: z.boolean().describe("True when two or more distinct agents submitted this value"),
  promotion_note: z.string().describe("Why the value is live, or what it waits for"),
  prior_rejections: z.array(PriorRejection).max(5),
  profile_url: z.string(),
});
export type EnrichmentSubmission = z.infer<typeof EnrichmentSubmission>;

const liveByField = Object.fromEntries(
  enrichableFields.map((field) => [field, z.boolean().optional()]),
) as Record<EnrichableField, z.ZodOptional<z.ZodBoolean>>;

/** 200 of POST /api/enrich/{slug}. */
export const EnrichmentAnswer = named("EnrichmentAnswer", {
  message: z.string(),
  nonprofit: z.string().describe("Name of the nonprofit"),
  profile_url: z.string(),
  auto_promote: z
    .object({ ...liveByField, structured: texts, prose_pending: texts })
    .describe("Which fields go live by agreement; and of each one sent whether it is live now"),
  field_type: FieldType.describe("Of the first submission, as clients of one read it"),
  promotion_note: z.string().describe("Of the first submission"),
  submissions: z.array(EnrichmentSubmission),
  release: textOrNull.describe("The release that holds what was applied"),
  bound: z.boolean().describe("Whether agent_id is bound to a secret; see POST /api/agents"),
  note: z.string().describe("How credit is given"),
});
export type EnrichmentAnswer = z.infer<typeof EnrichmentAnswer>;

export const SecondOpinion = named("SecondOpinion", {
  field: z.string(),
  pending_value: z.string(),
  submitted_by: z.string(),
  submitted_at: wireTimeText,
  action: z.string(),
});
export type SecondOpinion = z.infer<typeof SecondOpinion>;

export const ThinProfile = named("ThinProfile", {
  slug: z.string(),
  name: z.string(),
  country: textOrNull,
  causes: texts.describe("Cause ids; empty where nothing that a register says fits one"),
  needs_fields: texts,
  gaps: z
    .int()
    .optional()
    .describe(
      "How often agents missed something here in 90 days; these come first, see POST /api/gaps",
    ),
  second_opinion_needed: z.array(SecondOpinion).optional(),
  current_data: z.record(z.string(), z.union([z.string(), z.number()]).nullable()),
  enrich_url: z.string(),
});
export type ThinProfile = z.infer<typeof ThinProfile>;

/** 200 of GET /api/needs-enrichment. */
export const Needs = named("HelpWanted", {
  message: z.string(),
  total_enrichments_received: count,
  second_opinions_available: count,
  note: unknownNote,
  nonprofits: z.array(ThinProfile),
});
export type Needs = z.infer<typeof Needs>;

const RecentEnrichment = z.object({ ...sentBy, confidence: z.int(), created_at: wireTimeText });

/** 200 of GET /api/enrichments/stats. */
export const EnrichmentStats = named("EnrichmentStats", {
  total_enrichments: count,
  unique_agents: count,
  high_confidence: count.describe("Submissions on which two or more agents agreed"),
  by_status: z.array(z.object({ status: SubmissionStatus, count })),
  by_field: z.array(z.object({ field: EnrichableField, count })),
  recent: z.array(RecentEnrichment).max(10),
});
export type EnrichmentStats = z.infer<typeof EnrichmentStats>;

const RankedAgent = z.object({
  agent_name: z.string(),
  submissions: count,
  applied: count,
  nonprofits_touched: count,
  last_seen: wireTimeText,
  bound: z.boolean().default(false).describe("Only who has its secret submits under its id"),
  flags: texts.describe("mixed_script_id: the id mixes alphabets"),
});

const RecentActivity = z.object({
  ...sentBy,
  nonprofit_name: z.string().default("").describe("The organisation's name"),
  status: SubmissionStatus,
  created_at: wireTimeText,
});

/** 200 of GET /api/agents/leaderboard. */
export const Leaderboard = named("Leaderboard", {
  message: z.string(),
  totals: z.object({
    total_submissions: count,
    total_applied: count,
    unique_agents: count,
    nonprofits_improved: count,
  }),
  top_agents: z.array(RankedAgent).max(50),
  recent_activity: z.array(RecentActivity).max(20),
});
export type Leaderboard = z.infer<typeof Leaderboard>;

const Exemplar = z.object({
  ...sentBy,
  value: z.string(),
  source_url: textOrNull,
  applied_at: wireTimeText,
});

/** 200 of GET /api/agents/exemplars. */
export const Exemplars = named("Exemplars", {
  message: z.string(),
  hint: z.string(),
  count,
  exemplars: z.array(Exemplar).max(100),
});
export type Exemplars = z.infer<typeof Exemplars>;

/** The form on which an organisation reported a value, and its period. */
export const Filing = z.object({
  source: z.string().describe("Id of the register, as in register_facts"),
  form: z.string(),
  period_end: z.string().describe("YYYY-MM-DD"),
});
export type Filing = z.infer<typeof Filing>;

const ChangedValue = z.object({
  field: z.string(),
  old: textOrNull,
  new: textOrNull,
  filed: Filing.optional().describe("On what the organisation stated the old value itself"),
});

const SentValue = z.object({
  field: z.string(),
  value: z.string(),
  agent_name: z.string(),
  source_url: textOrNull,
  edited: z
    .literal(true)
    .optional()
    .describe("An operator edited it: the words are the operator's"),
});

/** 200 of GET /api/history/{slug}: newest first, at most 200. */
export const History = named("History", {
  slug: z.string(),
  count: count.describe("All changes; the newest 200 of them follow"),
  changes: z.array(
    z.object({
      sequence: z.int(),
      kind: z.enum(changeKinds),
      fields: texts,
      origin: z.string().describe("For example import:irs-bmf, consensus, review or correction"),
      by: z
        .enum(["agents", "operator", "organisation", "register", "directory"])
        .describe("Who decided it"),
      changed_at: z.string().describe("ISO 8601, UTC"),
      reason: z.string().optional().describe("Why, in the words of the operator who did it"),
      values: z
        .array(ChangedValue)
        .optional()
        .describe(
          "What fields of one value were before and after, at most 300 characters of each; absent of changes before 0.4",
        ),
      agreed: z.array(SentValue).optional().describe("The submissions that made the value live"),
    }),
  ),
});
export type History = z.infer<typeof History>;

/** The content of a history page. `contested`: values that wait for a second agent or a person, with their senders. */
export type FoundHistory = {
  name: string;
  history: History;
  contested: { field: string; values: { value: string; agents: string[] }[] }[];
  gifts: DonationHistory | null;
};

const agent_id = z
  .string(otherType("agent_id is a text, the one that you send with enrichments."))
  .min(1)
  .max(agentLengthMax)
  .describe("The id to own, as it is sent with enrichments");

/** The body of POST /api/agents, /api/agents/rotate and /api/agents/revoke. */
export const AgentIdBody = named(
  "AgentIdBody",
  { agent_id },
  { examples: [{ agent_id: "research-bot-7" }] },
);

/** 200 of POST /api/agents and /api/agents/rotate. */
export const AgentSecret = named("AgentSecret", {
  agent_id: z.string().describe("As ids are compared"),
  bound: z.literal(true),
  agent_secret: z.string().describe("Shown this once. Send it as Authorization: Bearer"),
  message: z.string(),
});
export type AgentSecret = z.infer<typeof AgentSecret>;

/** 200 of POST /api/agents/revoke. */
export const AgentRevoked = named("AgentRevoked", {
  agent_id: z.string().describe("As ids are compared"),
  bound: z.literal(false),
  message: z.string(),
});
export type AgentRevoked = z.infer<typeof AgentRevoked>;

const loggedReason = reason.describe("Why, for the audit log");

export const BindForOwnerBody = named("BindForOwnerBody", { agent_id, reason: loggedReason });

/** The body of POST /api/admin/agents/name. */
export const AgentNameBody = named("AgentNameBody", {
  agent_id,
  name: z.string().trim().nullable().describe("Null takes an approval back"),
  reason: loggedReason,
});

/** 200 of POST /api/admin/agents/name. */
export const AgentNamed = named("AgentNamed", {
  agent_id: z.string().describe("As ids are compared"),
  approved_name: textOrNull,
});
export type AgentNamed = z.infer<typeof AgentNamed>;

/** 200 of GET /api/admin/agents/submissions: by id. */
export const AgentSubmissions = named("AgentSubmissions", {
  count: count,
  submissions: z.array(
    z.object({
      submission_id: z.int(),
      slug: z.string(),
      field: z.string(),
      value: z.string(),
      source_url: textOrNull,
      applied_at: z.string().describe("YYYY-MM-DD HH:MM:SS, UTC"),
    }),
  ),
  next: z.int().nullable().describe("`after` of the next page; null at the end"),
});
export type AgentSubmissions = z.infer<typeof AgentSubmissions>;
