import { Elysia } from "elysia";
import { RevertBody } from "#content/contract/review.ts";
import { auditPageMax, readAudit } from "./audit.ts";
import { revertAgent } from "./revert-agent.ts";
import { operatorOf } from "./operators.ts";
import type { Context } from "#api/context.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { queryOf, refuseParameter } from "#api/http/query.ts";
import { refuseBody } from "./admin-reviews.ts";

/** So many submissions are undone in one request: about two seconds of work. */
export const revertedPerRequest = 500;

/** What operators did, and undoing what an agent did. Never cached. */
export const adminLogRoutes = (context: Context) =>
  new Elysia()
    .get("/api/admin/audit", async ({ request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const query = queryOf(request.url);
      const before = query.number("before");
      const limit = query.limit({ fallback: 50, max: auditPageMax });
      if (!before.ok) return refuseParameter(before.failure);
      if (!limit.ok) return refuseParameter(limit.failure);
      const page = {
        operator: query.text("operator", 64),
        action: query.text("action", 64),
        subject: query.text("subject", 300),
        before: before.value,
        limit: limit.value,
      };
      return encodedJson(await readAudit(context, page), "no-store");
    })
    .post("/api/admin/agents/revert", async ({ body, request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const read = RevertBody.safeParse(body);
      if (!read.success) return refuseBody(read.error, 'Send {"agent_id": "…", "reason": "…"}.');
      const { agent_id, reason } = read.data;
      const done = await revertAgent(context, {
        agent: agent_id,
        operator: operator.name,
        reason,
        submissionsMax: revertedPerRequest,
      });
      if (done.recommendations > 0) context.curated.lookAgain();
      return encodedJson(done, "no-store");
    });
