import { Elysia } from "elysia";
import type { z } from "zod";
import { ApproveBody, RejectBody, reviewKinds } from "#content/shapes/review.ts";
import { operatorOf } from "../operators.ts";
import type { Parts } from "../parts.ts";
import { type Prepared, preparedJson } from "../prepared.ts";
import { type FailureTable, problem, refuse } from "../problem.ts";
import { queryOf, refuseParameter } from "../query.ts";
import { decideReview, listReviews, type ReviewFailure, reviewsMax } from "#api/verbs/review.ts";

/** The operator's desk for programs: GET /api/admin/reviews, and approve and reject of one. Never cached. */
export const adminRoutes = (parts: Parts) =>
  new Elysia()
    .get("/api/admin/reviews", async ({ request }) => {
      const operator = operatorOf(parts, request);
      if (operator instanceof Response) return operator;
      const query = queryOf(request.url);
      const kind = query.choice("kind", { values: reviewKinds, fallback: null });
      const limit = query.limit({ fallback: 50, max: reviewsMax });
      if (!kind.ok) return refuseParameter(kind.failure);
      if (!limit.ok) return refuseParameter(limit.failure);
      const reviews = await listReviews(parts, { kind: kind.value, limit: limit.value });
      return preparedJson({ count: reviews.length, reviews }, "no-store");
    })
    .post("/api/admin/reviews/:id/approve", ({ params, body, request }) =>
      decide(parts, request, { id: params.id, decision: "approved", body, shape: ApproveBody }),
    )
    .post("/api/admin/reviews/:id/reject", ({ params, body, request }) =>
      decide(parts, request, { id: params.id, decision: "rejected", body, shape: RejectBody }),
    );

type Call = {
  id: string;
  decision: "approved" | "rejected";
  body: unknown;
  shape: typeof ApproveBody | typeof RejectBody;
};

async function decide(
  parts: Parts,
  request: Request,
  { id, decision, body, shape }: Call,
): Promise<Response | Prepared> {
  const operator = operatorOf(parts, request);
  if (operator instanceof Response) return operator;
  // Approving as it stands needs no body at all.
  const read = shape.safeParse(body ?? {});
  if (!read.success) return badBody(read.error);
  const given: { value?: string | null | undefined; reason?: string | null | undefined } =
    read.data;
  const outcome = await decideReview(parts, {
    id,
    decision,
    operator: operator.name,
    value: given.value ?? null,
    reason: given.reason ?? null,
  });
  return outcome.ok ? preparedJson(outcome.value, "no-store") : refuse(answers, outcome.failure);
}

const badBody = (error: z.ZodError): Response => {
  const errors = error.issues
    .slice(0, 10)
    .map(({ path, message }) => ({ path: path.join("."), message }));
  const [first] = errors;
  return problem({
    status: 400,
    code: "invalid_review",
    detail: `Send {"reason": "…"} to reject; {} or {"value": "…", "reason": "…"} to approve. ${first?.path ?? ""}: ${first?.message ?? ""}`,
    errors,
  });
};

const answers = {
  review_not_found: { status: 404, detail: "Nothing with this id waits for a decision." },
  review_decided: ({ status }) => ({ status: 409, detail: `This was decided before: ${status}.` }),
  field_has_value: ({ field }) => ({
    status: 409,
    detail: `The profile holds a ${field} by now, which is never overwritten. Reject this one.`,
  }),
  review_value_not_usable: ({ message }) => ({ status: 400, detail: message }),
} as const satisfies FailureTable<ReviewFailure>;
