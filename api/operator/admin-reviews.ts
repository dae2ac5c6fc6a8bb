import { Elysia } from "elysia";
import type { z } from "zod";
import { ApproveBody, RejectBody, reviewKinds } from "#content/contract/review.ts";
import { operatorOf } from "./operators.ts";
import type { Context } from "#api/context.ts";
import { type EncodedBody, encodedJson } from "#api/http/encoded-body.ts";
import { problem, refuse } from "#api/http/problem.ts";
import { queryOf, refuseParameter } from "#api/http/query.ts";
import { reviewRefusals } from "./review-refusals.ts";
import { decideReview, findReview, listReviews, reviewQueues, reviewsMax } from "./review.ts";

/** The operator's reviews for programs: queues, one of them, and approve and reject of one. Never cached. */
export const adminRoutes = (context: Context) =>
  new Elysia()
    .get("/api/admin/queues", async ({ request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      return encodedJson({ queues: await reviewQueues(context) }, "no-store");
    })
    .get("/api/admin/reviews", async ({ request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const query = queryOf(request.url);
      const kind = query.choice("kind", { values: reviewKinds, fallback: null });
      const limit = query.limit({ fallback: 50, max: reviewsMax });
      if (!kind.ok) return refuseParameter(kind.failure);
      if (!limit.ok) return refuseParameter(limit.failure);
      const page = { kind: kind.value, limit: limit.value, after: query.text("after") };
      const { reviews, next } = await listReviews(context, page);
      return encodedJson({ count: reviews.length, reviews, next }, "no-store");
    })
    .get("/api/admin/reviews/:id", async ({ params, request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const review = await findReview(context, params.id);
      const notFound = { kind: "review_not_found", id: params.id } as const;
      return review === null ? refuse(reviewRefusals, notFound) : encodedJson(review, "no-store");
    })
    .post("/api/admin/reviews/:id/approve", ({ params, body, request }) =>
      decide(context, request, { id: params.id, decision: "approved", body, shape: ApproveBody }),
    )
    .post("/api/admin/reviews/:id/reject", ({ params, body, request }) =>
      decide(context, request, { id: params.id, decision: "rejected", body, shape: RejectBody }),
    );

type Call = {
  id: string;
  decision: "approved" | "rejected";
  body: unknown;
  shape: typeof ApproveBody | typeof RejectBody;
};

async function decide(
  context: Context,
  request: Request,
  { id, decision, body, shape }: Call,
): Promise<Response | EncodedBody> {
  const operator = operatorOf(context, request);
  if (operator instanceof Response) return operator;
  // Approving as it stands needs no body at all.
  const read = shape.safeParse(body ?? {});
  if (!read.success) {
    return refuseBody(
      read.error,
      'Send {"reason": "…"} to reject; {} or {"value": "…", "reason": "…"} to approve.',
    );
  }
  const given: { value?: string | null | undefined; reason?: string | null | undefined } =
    read.data;
  const outcome = await decideReview(context, {
    id,
    decision,
    operator: operator.name,
    value: given.value ?? null,
    reason: given.reason ?? null,
  });
  return outcome.ok
    ? encodedJson(outcome.value, "no-store")
    : refuse(reviewRefusals, outcome.failure);
}

const errorsMax = 10;

/** The answer to a body that an operator's verb cannot use; `help` says what to send. */
export const refuseBody = (error: z.ZodError, help: string): Response => {
  const errors = error.issues
    .slice(0, errorsMax)
    .map(({ path, message }) => ({ path: path.join("."), message }));
  const [first] = errors;
  return problem({
    status: 400,
    code: "invalid_review",
    detail: `${help} ${first?.path ?? ""}: ${first?.message ?? ""}`,
    errors,
  });
};
