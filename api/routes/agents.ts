import { Elysia } from "elysia";
import { enrichableFields } from "#content/shapes/enrichment.ts";
import { leaderboard } from "#content/store/enrichment-stats.ts";
import { exemplars, exemplarsLimit } from "#content/store/exemplars.ts";
import { freshCacheControl } from "../headers.ts";
import type { Parts } from "../parts.ts";
import { preparedJson } from "../prepared.ts";
import { queryOf, refuseParameter } from "../query.ts";

/** GET /api/agents/leaderboard and GET /api/agents/exemplars. */
export const agentRoutes = ({ store }: Pick<Parts, "store">) =>
  new Elysia()
    .get("/api/agents/leaderboard", async () =>
      preparedJson(await leaderboard(store.raw), freshCacheControl),
    )
    .get("/api/agents/exemplars", async ({ request }) => {
      const query = queryOf(request.url);
      const limit = query.limit({ fallback: exemplarsLimit.default, max: exemplarsLimit.max });
      const field = query.choice("field", { values: enrichableFields, fallback: null });
      if (!limit.ok) return refuseParameter(limit.failure);
      if (!field.ok) return refuseParameter(field.failure);
      const answer = await exemplars(store.raw, { field: field.value, limit: limit.value });
      return preparedJson(answer, freshCacheControl);
    });
