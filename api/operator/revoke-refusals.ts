import type { RevokeFailure } from "./revoke-verification.ts";
import type { FailureTable } from "#api/http/problem.ts";

/** Why a verification was not taken back, for all faces of the verb. */
export const revokeRefusals = {
  nonprofit_not_found: { status: 404, detail: "No nonprofit has this slug." },
  not_verified: { status: 409, detail: "This nonprofit is not verified: nothing to take back." },
} as const satisfies FailureTable<RevokeFailure>;
