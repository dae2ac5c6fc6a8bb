import { Elysia } from "elysia";
import { enrichableFields } from "#content/contract/enrichment.ts";
import { leaderboard } from "#content/enrichment/stats.ts";
import { exemplars, exemplarsLimit } from "#content/enrichment/exemplars.ts";
import { freshCacheControl } from "#api/http/headers.ts";
import type { Parts } from "#api/context.ts";
import { preparedJson } from "#api/http/encoded-body.ts";
import { queryOf, refuseParameter } from "#api/http/query.ts";

/** GET /api/agents/leaderboard and GET /api/agents/exemplars. */
export const agentRoutes = ({ store }: Pick<Parts, "store">) =>
  new Elysia()
    .get("/api/agents/leaderboard", async () =>
      preparedJson(await leaderboard(store), freshCacheControl),
    )
    .get("/api/agents/exemplars", async ({ request }) => {
      const query = queryOf(request.url);
      const limit = query.limit({ fallback: exemplarsLimit.default, max: exemplarsLimit.max });
      const field = query.choice("field", { values: enrichableFields, fallback: null });
      if (!limit.ok) return refuseParameter(limit.failure);
      if (!field.ok) return refuseParameter(field.failure);
      const answer = await exemplars(store, { field: field.value, limit: limit.value });
      return preparedJson(answer, freshCacheControl);
    });
