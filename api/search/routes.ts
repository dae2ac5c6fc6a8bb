import { Elysia } from "elysia";
import { isAskedByTool } from "#api/http/client.ts";
import type { Context } from "#api/context.ts";
import { formOf } from "#api/http/headers.ts";
import { noPages } from "#api/http/problem.ts";
import { pathOf, schemaOf } from "#api/http/route.ts";
import { directoryOperations as operations } from "#content/contract/operations/directory.ts";
import type { QueryOf } from "#content/contract/operations/operation.ts";
import { searchLimitDefault, type SearchQuery } from "#content/contract/search.ts";
import { searched } from "./find-profile.ts";

type Needed = Pick<Context, "search" | "activity" | "log" | "draw">;

/** GET /api/search, and the same as a page for people. */
export const searchRoutes = ({ search, activity, log, draw }: Needed) =>
  new Elysia()
    .get(
      pathOf(operations.searchNonprofits),
      async ({ request, query: { limit, offset, ...asked } }) => {
        activity.count(isAskedByTool(request) ? "query:mcp" : "query:search");
        const query = { ...wordsAndFilters(asked), limit, offset };
        log.debug({ asked: query }, "search");
        return search.find(query);
      },
      schemaOf(operations.searchNonprofits),
    )
    .get(
      pathOf(operations.searchForPeople),
      async ({ query: asked, request }) => {
        if (draw === undefined) return noPages();
        activity.count("query:search");
        const limit = searchLimitDefault;
        const offset = ((asked.page ?? 1) - 1) * limit;
        const query = { ...wordsAndFilters(asked), limit, offset };
        const isNarrowed = narrowing.some((name) => asked[name] !== undefined);
        // Counts stand beside the results: with filters, these are what was counted.
        const [answer, facets] = await Promise.all([
          searched({ search }, isNarrowed ? { ...query, steady: true } : query),
          search.count(query),
        ]);
        return draw.search(asked, { ...answer, facets }, formOf(request));
      },
      schemaOf(operations.searchForPeople),
    );

const narrowing = ["cause", "country", "region", "accepts", "has_website"] as const;

type Asked = Omit<QueryOf<typeof operations.searchForPeople>, "page">;

const wordsAndFilters = (asked: Asked): Omit<SearchQuery, "limit" | "offset"> => ({
  q: asked.q ?? null,
  cause: asked.cause ?? null,
  country: asked.country ?? null,
  region: asked.region ?? null,
  ghd_aligned: asked.ghd_aligned !== undefined,
  accepts: asked.accepts ?? null,
  has_website: asked.has_website === undefined ? null : asked.has_website === "true",
  literal: asked.literal !== undefined,
});
