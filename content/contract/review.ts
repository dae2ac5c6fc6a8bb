import { z } from "zod";
import queues from "#content/editorial/review-queues.json";
import { count, named, reason, textOrNull, texts } from "#content/contract/base/json.ts";

/** Items on one page of operators' lists. */
export const operatorPage = { default: 50, max: 200 } as const;

/** The kinds of requests that operators decide, in display order. */
export const reviewKinds = Object.keys(queues) as (keyof typeof queues)[];
export const ReviewKind = z.enum(reviewKinds);
export type ReviewKind = z.infer<typeof ReviewKind>;

type QueueWords = {
  name: string;
  /** The subject of such a request if it is no field of the profile. */
  about: string | null;
  approve: string | null;
  reject: string;
  order: string;
  /** Whether requests for the same change are one row, decided together. */
  groups_alike: boolean;
  /** Whether its text is a JSON object whose members are edited one by one. */
  edits_members: boolean;
  /** Whether an operator can repeat the check of the sender's control of a host. */
  checks_host: boolean;
};
/** Names of the queues for people, and what their decisions do. A hold ends by itself, so it cannot be approved. */
export const queueWords: Readonly<Record<ReviewKind, QueueWords>> = queues;

/** The current and the proposed content of a public field. Third-party text. */
export const ReviewComparison = z.object({
  field: z.string(),
  before: textOrNull.describe("As it is live; null for none"),
  after: textOrNull.describe("As it would be after approval; null for none"),
});
export type ReviewComparison = z.infer<typeof ReviewComparison>;

/** A check of a waiting request. `noted`: for the operator to weigh. */
export const ReviewCheck = z.object({
  name: z.string(),
  outcome: z.enum(["passed", "failed", "noted"]),
  message: z.string(),
});
export type ReviewCheck = z.infer<typeof ReviewCheck>;

const outcomes =
  (outcome: ReviewCheck["outcome"]) =>
  (name: string, message: string): ReviewCheck => ({ name, outcome, message });
export const passed = outcomes("passed");
export const noted = outcomes("noted");
export const failed = outcomes("failed");

/** What the `value` of an approval may be: an edited text, or the right one of several. */
export const ReviewEditing = z.object({
  field: z.string(),
  required: z.boolean(),
  current: textOrNull.describe(
    "What is approved without a value, with the edits of the first of two operators",
  ),
  choices: texts.describe("Values that were sent; you may also give another"),
});

/** A request that waits for an operator. Third-party text is only in detail, comparison, checks, sources and editing. */
export const ReviewItem = named("ReviewItem", {
  id: z.string().describe("For approve and reject, for example prose-12"),
  kind: ReviewKind,
  slug: textOrNull,
  name: textOrNull.describe("Name of the nonprofit"),
  summary: z.string().describe("What is to be decided, and what approving and rejecting do"),
  detail: z.record(z.string(), z.unknown()),
  comparison: z.array(ReviewComparison).default([]).describe("Old and new, field by field"),
  checks: z.array(ReviewCheck).default([]),
  sources: texts.default([]).describe("Where it was found, as it was sent"),
  flags: texts.default([]).describe("What deserves a second look"),
  editing: ReviewEditing.nullable()
    .default(null)
    .describe("What approve takes as `value`; null for none"),
  cursor: z.string().describe("Its place in the queue, for `after`"),
  created_at: z.string().describe("ISO 8601, UTC"),
});
export type ReviewItem = z.infer<typeof ReviewItem>;

/** The subject of a review for people: "Hope Kitchen: mission". Third-party text. */
export function aboutReview({ name, kind, editing, comparison }: ReviewItem): string {
  const what = queueWords[kind].about ?? editing?.field ?? comparison[0]?.field ?? kind;
  return `${name ?? "Not listed yet"}: ${what.replaceAll("_", " ")}`;
}

/** A review as its queue returns it; members that it leaves out are empty. */
export type FoundReview = z.input<typeof ReviewItem>;

/** 200 of GET /api/admin/reviews: oldest first. */
export const ReviewList = named("ReviewList", {
  count: count.describe("Reviews in this page"),
  reviews: z.array(ReviewItem),
  next: textOrNull.describe("`after` of the next page; null at the end"),
});

/** The body of approve. `value` is edited prose, or the chosen value of a contested field. */
export const ApproveBody = named("ReviewApproval", {
  value: z.string().min(1).max(10_000).nullish(),
  reason: reason.nullish(),
});

export const RejectBody = named("ReviewRejection", { reason });

/** 200 of approve and reject. */
export const ReviewDecision = named("ReviewDecision", {
  id: z.string(),
  decision: z.enum(["approved", "rejected"]),
  slug: textOrNull,
  complete: z
    .boolean()
    .describe("False: it sets a wallet, and waits for the approval of a second operator"),
  live: z.boolean().nullable().describe("Whether the published profile shows it already"),
  message: z.string(),
});
export type ReviewDecision = z.infer<typeof ReviewDecision>;

/** The most reviews that one request may decide. */
export const bulkMax = 100;

/** The body of POST /api/admin/reviews: one decision, with one reason, on many. */
export const DecideManyBody = named("ReviewDecisions", {
  ids: z.array(z.string().min(1).max(300)).min(1).max(bulkMax),
  decision: z.enum(["approved", "rejected"]),
  reason: reason.nullish().describe("Required to reject"),
});

/** 200 of POST /api/admin/reviews. Reviews that could not be decided say why; the others are decided. */
export const ReviewsDecided = named("ReviewsDecided", {
  done: count.describe(
    "How many were decided; not what waits for the approval of another operator",
  ),
  results: z.array(z.object({ id: z.string(), done: z.boolean(), message: z.string() })),
});
export type ReviewsDecided = z.infer<typeof ReviewsDecided>;

/** 200 of GET /api/admin/queues. */
export const ReviewQueues = named("ReviewQueues", {
  queues: z.array(
    z.object({
      kind: ReviewKind,
      waiting: count.describe("How many wait; counting stops at 100,000"),
      left_out: count.describe(
        "How many gave up their place unseen in the last 30 days, because 5 of their network, or 50 in all, waited for the same profile; counting stops at 10,000",
      ),
    }),
  ),
});

/** The body of POST /api/admin/agents/revert. */
export const RevertBody = z
  .object({
    agent_id: z.string().trim().min(1).max(128).optional(),
    submissions: z
      .array(z.int().min(1))
      .min(1)
      .max(500)
      .optional()
      .describe("Only these, by their numbers: others may have submitted under the same id"),
    reason,
  })
  .refine(
    ({ agent_id, submissions }) => agent_id !== undefined || submissions !== undefined,
    "Send agent_id, submissions, or both.",
  )
  .meta({ id: "AgentReversion" });

/** 200 of POST /api/admin/agents/revert. */
export const Reverted = named("AgentReverted", {
  agent_id: textOrNull.describe("As ids are compared; null when none was named"),
  submissions: count.describe("Submissions that were live by agreement, of those meant"),
  emptied: count.describe(
    "Fields that are empty now; the others were set from elsewhere since, and stay",
  ),
  recommendations: count.describe(
    "Profiles that are no longer recommended, because the recommendation relied on its agreement",
  ),
  complete: z.boolean().describe("False: there is more to undo; send the same request again"),
});
export type Reverted = z.infer<typeof Reverted>;
