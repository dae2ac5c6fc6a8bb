import type { ReviewFailure } from "./review-desk.ts";
import type { FailureTable } from "#api/http/problem.ts";

/** Why a decision was not taken: the words of the desk and of its programs. */
export const reviewRefusals = {
  review_not_found: { status: 404, detail: "Nothing with this id waits for a decision." },
  review_decided: ({ status }) => ({ status: 409, detail: `This was decided before: ${status}.` }),
  field_has_value: ({ field }) => ({
    status: 409,
    detail: `The profile holds a ${field} by now, which is never overwritten. Reject this one.`,
  }),
  review_conflict: ({ message }) => ({ status: 409, detail: message }),
  review_value_not_usable: ({ message }) => ({ status: 400, detail: message }),
} as const satisfies FailureTable<ReviewFailure>;
