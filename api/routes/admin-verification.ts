import { Elysia } from "elysia";
import { RevokeBody } from "#content/shapes/onboarding.ts";
import { operatorOf } from "../operators.ts";
import type { Parts } from "../parts.ts";
import { preparedJson } from "../prepared.ts";
import { refuse } from "../problem.ts";
import { revokeRefusals } from "../revoke-refusals.ts";
import { revokeVerification } from "#api/verbs/revoke-verification.ts";
import { refuseBody } from "./admin.ts";

/** POST /api/admin/nonprofits/{slug}/revoke: takes back a verification. */
export const adminVerificationRoutes = (parts: Parts) =>
  new Elysia().post("/api/admin/nonprofits/:slug/revoke", async ({ params, body, request }) => {
    const operator = operatorOf(parts, request);
    if (operator instanceof Response) return operator;
    const read = RevokeBody.safeParse(body ?? {});
    if (!read.success) {
      return refuseBody(read.error, 'Send {"reason": "…"}, or {"reason": "…", "take_back_values": true}.'); // prettier-ignore
    }
    const { reason, take_back_values } = read.data;
    const outcome = await revokeVerification(parts, {
      slug: params.slug,
      operator: operator.name,
      reason,
      takeBackValues: take_back_values === true,
    });
    return outcome.ok
      ? preparedJson(outcome.value, "no-store")
      : refuse(revokeRefusals, outcome.failure);
  });
