import { Elysia } from "elysia";
import { enrichmentStats } from "#content/store/enrichment-stats.ts";
import { freshCacheControl } from "../headers.ts";
import type { Parts } from "../parts.ts";
import { preparedJson } from "../prepared.ts";

/** GET /api/enrichments/stats. */
export const enrichmentStatsRoutes = ({ store }: Pick<Parts, "store">) =>
  new Elysia().get("/api/enrichments/stats", async () =>
    preparedJson(await enrichmentStats(store.raw), freshCacheControl),
  );
