import { z } from "zod";

/** What an operator decides. onboarding, draft and hold belong to organisations and to recommendation. */
export const reviewKinds = ["onboarding", "prose", "draft", "contested", "revert", "hold"] as const;
export const ReviewKind = z.enum(reviewKinds);
export type ReviewKind = z.infer<typeof ReviewKind>;

/** One thing that waits for an operator. Third-party text stands only in `detail`. */
export const ReviewItem = z
  .object({
    id: z.string().describe("For approve and reject, for example prose-12"),
    kind: ReviewKind,
    slug: z.string().nullable(),
    name: z.string().nullable().describe("Name of the nonprofit"),
    summary: z.string().describe("What is to be decided, and what approving and rejecting do"),
    detail: z.record(z.string(), z.unknown()),
    created_at: z.string().describe("ISO 8601, UTC"),
  })
  .meta({ id: "ReviewItem" });
export type ReviewItem = z.infer<typeof ReviewItem>;

/** 200 of GET /api/admin/reviews: the oldest first. */
export const ReviewList = z
  .object({ count: z.int().min(0), reviews: z.array(ReviewItem) })
  .meta({ id: "ReviewList" });
export type ReviewList = z.infer<typeof ReviewList>;

const reason = z.string().trim().min(1).max(500);

/** The body of approve. `value` is edited prose, or the chosen value of a contested field. */
export const ApproveBody = z
  .object({
    value: z.string().min(1).max(10_000).nullish(),
    reason: reason.nullish(),
  })
  .meta({ id: "ReviewApproval" });

export const RejectBody = z.object({ reason }).meta({ id: "ReviewRejection" });

/** 200 of approve and reject. */
export const ReviewDecision = z
  .object({
    id: z.string(),
    decision: z.enum(["approved", "rejected"]),
    slug: z.string().nullable(),
    live: z.boolean().nullable().describe("Whether the published profile shows it already"),
    message: z.string(),
  })
  .meta({ id: "ReviewDecision" });
export type ReviewDecision = z.infer<typeof ReviewDecision>;
