import { Elysia } from "elysia";
import { RevokeBody } from "#content/contract/onboarding.ts";
import { operatorOf } from "./operators.ts";
import type { Context } from "#api/context.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { refuse } from "#api/http/problem.ts";
import { revokeRefusals } from "./revoke-refusals.ts";
import { revokeVerification } from "./revoke-verification.ts";
import { refuseBody } from "./admin-reviews.ts";

/** POST /api/admin/nonprofits/{slug}/revoke: takes back a verification. */
export const adminVerificationRoutes = (context: Context) =>
  new Elysia().post("/api/admin/nonprofits/:slug/revoke", async ({ params, body, request }) => {
    const operator = operatorOf(context, request);
    if (operator instanceof Response) return operator;
    const read = RevokeBody.safeParse(body ?? {});
    if (!read.success) {
      return refuseBody(
        read.error,
        'Send {"reason": "…"}, or {"reason": "…", "take_back_values": true}.',
      );
    }
    const { reason, take_back_values } = read.data;
    const outcome = await revokeVerification(context, {
      slug: params.slug,
      operator: operator.name,
      reason,
      takeBackValues: take_back_values === true,
    });
    return outcome.ok
      ? encodedJson(outcome.value, "no-store")
      : refuse(revokeRefusals, outcome.failure);
  });
