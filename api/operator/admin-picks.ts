import { Elysia } from "elysia";
import { PickBody, type PickChange, PickEdit, PickRemoval } from "#content/contract/pick.ts";
import type { Result } from "#content/contract/result.ts";
import {
  addToPicks,
  editPick,
  listPicks,
  type PickFailure,
  picksPageMax,
  removePick,
} from "./picks.ts";
import { operatorOf } from "./operators.ts";
import type { Parts } from "#api/context.ts";
import { pickRefusals } from "./pick-refusals.ts";
import { type Prepared, preparedJson } from "#api/http/encoded-body.ts";
import { refuse } from "#api/http/problem.ts";
import { queryOf, refuseParameter } from "#api/http/query.ts";
import { refuseBody } from "./admin-reviews.ts";

/** The profiles that are recommended: list, add, edit and remove. Never cached. */
export const adminPickRoutes = (parts: Parts) => {
  const changed = (outcome: Result<PickChange, PickFailure>): Prepared | Response => {
    if (!outcome.ok) return refuse(pickRefusals, outcome.failure);
    parts.curated.lookAgain();
    return preparedJson(outcome.value, "no-store");
  };
  return new Elysia()
    .get("/api/admin/picks", async ({ request }) => {
      const operator = operatorOf(parts, request);
      if (operator instanceof Response) return operator;
      const query = queryOf(request.url);
      const limit = query.limit({ fallback: 50, max: picksPageMax });
      if (!limit.ok) return refuseParameter(limit.failure);
      const page = { after: query.text("after", 200), limit: limit.value };
      return preparedJson(await listPicks(parts, page), "no-store");
    })
    .post("/api/admin/picks", async ({ body, request }) => {
      const operator = operatorOf(parts, request);
      if (operator instanceof Response) return operator;
      const read = PickBody.safeParse(body);
      if (!read.success) return refuseBody(read.error, help);
      return changed(await addToPicks(parts, { ...read.data, operator: operator.name }));
    })
    .post("/api/admin/picks/:slug", async ({ params, body, request }) => {
      const operator = operatorOf(parts, request);
      if (operator instanceof Response) return operator;
      const read = PickEdit.safeParse(body);
      if (!read.success) return refuseBody(read.error, help);
      const { slug } = params;
      return changed(await editPick(parts, { ...read.data, slug, operator: operator.name }));
    })
    .post("/api/admin/picks/:slug/remove", async ({ params, body, request }) => {
      const operator = operatorOf(parts, request);
      if (operator instanceof Response) return operator;
      const read = PickRemoval.safeParse(body);
      if (!read.success) return refuseBody(read.error, 'Send {"reason": "…"}.');
      const { slug } = params;
      return changed(await removePick(parts, { ...read.data, slug, operator: operator.name }));
    });
};

const help =
  'Send {"slug": "…", "recommended_for": ["donors interested in …"], "why_recommended": "…"} to add, without slug to edit.';
