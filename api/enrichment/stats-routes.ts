import { Elysia } from "elysia";
import { enrichmentStats } from "#content/enrichment/stats.ts";
import { freshCacheControl } from "#api/http/headers.ts";
import type { Parts } from "#api/context.ts";
import { preparedJson } from "#api/http/encoded-body.ts";

/** GET /api/enrichments/stats. */
export const enrichmentStatsRoutes = ({ store }: Pick<Parts, "store">) =>
  new Elysia().get("/api/enrichments/stats", async () =>
    preparedJson(await enrichmentStats(store), freshCacheControl),
  );
