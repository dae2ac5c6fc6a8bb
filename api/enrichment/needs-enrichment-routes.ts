import { Elysia } from "elysia";
import { isoDay } from "#content/contract/time.ts";
import { helpWantedFilters } from "#content/enrichment/help-wanted.ts";
import {
  helpWantedAnswer,
  helpWantedLimit,
  helpWantedTotals,
} from "#content/enrichment/help-wanted-answer.ts";
import { directoryFact } from "#content/operation/stats.ts";
import { freshCacheControl } from "#api/http/headers.ts";
import type { Parts } from "#api/context.ts";
import { preparedJson } from "#api/http/encoded-body.ts";
import { queryOf, refuseParameter } from "#api/http/query.ts";

/** GET /api/needs-enrichment. */
export const needsEnrichmentRoutes = ({ store, clock, config }: Parts) =>
  new Elysia().get("/api/needs-enrichment", async ({ request }) => {
    const query = queryOf(request.url);
    const limit = query.limit({ fallback: helpWantedLimit.default, max: helpWantedLimit.max });
    const field = query.choice("field", { values: helpWantedFilters, fallback: null });
    if (!limit.ok) return refuseParameter(limit.failure);
    if (!field.ok) return refuseParameter(field.failure);
    const asked = {
      day: (await directoryFact(store, "publication_day")) ?? isoDay(clock().getTime()),
      limit: limit.value,
      field: field.value,
      cause: query.text("cause"),
      pending: query.flag("pending"),
    };
    const totals = await helpWantedTotals(store);
    const { baseUrl } = config;
    const answer = await helpWantedAnswer(store, asked, {
      baseUrl,
      totals,
      secondOpinions: config.consensus,
    });
    return preparedJson(answer, freshCacheControl);
  });
