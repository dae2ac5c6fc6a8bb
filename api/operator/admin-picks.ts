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
import type { Context } from "#api/context.ts";
import { pickRefusals } from "./pick-refusals.ts";
import { type EncodedBody, encodedJson } from "#api/http/encoded-body.ts";
import { refuse } from "#api/http/problem.ts";
import { queryOf, refuseParameter } from "#api/http/query.ts";
import { refuseBody } from "./admin-reviews.ts";

/** The profiles that are recommended: list, add, edit and remove. Never cached. */
export const adminPickRoutes = (context: Context) => {
  const changed = (outcome: Result<PickChange, PickFailure>): EncodedBody | Response => {
    if (!outcome.ok) return refuse(pickRefusals, outcome.failure);
    context.curated.lookAgain();
    return encodedJson(outcome.value, "no-store");
  };
  return new Elysia()
    .get("/api/admin/picks", async ({ request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const query = queryOf(request.url);
      const limit = query.limit({ fallback: 50, max: picksPageMax });
      if (!limit.ok) return refuseParameter(limit.failure);
      const page = { after: query.text("after", 200), limit: limit.value };
      return encodedJson(await listPicks(context, page), "no-store");
    })
    .post("/api/admin/picks", async ({ body, request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const read = PickBody.safeParse(body);
      if (!read.success) return refuseBody(read.error, help);
      return changed(await addToPicks(context, { ...read.data, operator: operator.name }));
    })
    .post("/api/admin/picks/:slug", async ({ params, body, request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const read = PickEdit.safeParse(body);
      if (!read.success) return refuseBody(read.error, help);
      const { slug } = params;
      return changed(await editPick(context, { ...read.data, slug, operator: operator.name }));
    })
    .post("/api/admin/picks/:slug/remove", async ({ params, body, request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const read = PickRemoval.safeParse(body);
      if (!read.success) return refuseBody(read.error, 'Send {"reason": "…"}.');
      const { slug } = params;
      return changed(await removePick(context, { ...read.data, slug, operator: operator.name }));
    });
};

const help =
  'Send {"slug": "…", "recommended_for": ["donors interested in …"], "why_recommended": "…"} to add, without slug to edit.';
