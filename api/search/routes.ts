import { slugsIn } from "#content/contract/comparison.ts";
import { listFile } from "#api/directory/list-file.ts";
import { isToolCall } from "#api/http/client.ts";
import type { Context } from "#api/context.ts";
import { formOf, freshCacheControl } from "#api/http/headers.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { noPages } from "#api/http/problem.ts";
import { route, serve, serveIn } from "#api/http/route.ts";
import { languageCodes } from "#content/language/languages.ts";
import { compare } from "#content/find/answer.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import {
  FoundNonprofit,
  SearchAnswer,
  type SearchInput,
  searchLimitDefault,
  type SearchQuery,
} from "#content/contract/search.ts";
import { directoryOperations as operations } from "#content/contract/operations/directory.ts";
import { withFields } from "#content/contract/operations/operation.ts";
import { filtersOf, givenFilters } from "#content/contract/browse.ts";

/** Runs a search as a program would, so that people and programs get the same answer. */
export const searched = async ({ search }: Pick<Context, "search">, query: SearchQuery) =>
  SearchAnswer.parse(JSON.parse(decoder.decode((await search.find(query)).body)));

const decoder = new TextDecoder();

type SearchContext = Pick<
  Context,
  "search" | "activity" | "log" | "draw" | "store" | "config" | "limits"
>;

/** The page of a search, at its address in each language. */
function searchPages({ search, activity, draw }: SearchContext) {
  const page = route(operations.searchForPeople, async ({ query: parameters, request }) => {
    if (draw === undefined) return noPages();
    activity.count("query:search");
    const limit = searchLimitDefault;
    const offset = ((parameters.page ?? 1) - 1) * limit;
    const query = { ...wordsAndFilters(parameters), limit, offset };
    const isNarrowed = givenFilters(parameters).length > 0;
    // The page shows counts beside the results, so with filters the results must be those that were counted.
    const [answer, facets] = await Promise.all([
      searched({ search }, isNarrowed ? { ...query, steady: true } : query),
      search.count(query),
    ]);
    if (offset > 0 && offset >= answer.total) return draw.missing(formOf(request));
    return draw.search(parameters, { ...answer, facets }, formOf(request));
  });
  return serveIn(languageCodes, page);
}

/** GET /api/compare, and its page at the address of each language. */
export function compareRoutes(context: Pick<Context, "store" | "search" | "config" | "draw">) {
  const { config, draw } = context;
  const page = route(
    operations.compareForPeople,
    async ({ query, request }) =>
      draw?.compare(await compare(context, slugsIn(query.orgs ?? "")), formOf(request)) ??
      noPages(),
  );
  return serve(
    route(operations.compareNonprofits, async ({ query }) => {
      const { records, not_found } = await compare(context, slugsIn(query.orgs));
      const nonprofits = records.map((record) =>
        toDetail(record, config.baseUrl, config.givingLinks),
      );
      const answer = { nonprofits: withFields(nonprofits, query.fields), not_found };
      return encodedJson(answer, freshCacheControl);
    }),
  ).use(serveIn(languageCodes, page));
}

/** GET /api/search, and its page for people. */
export const searchRoutes = (context: SearchContext) => {
  const { search, activity, log } = context;
  return serve(
    route(
      operations.searchNonprofits,
      async ({ request, set, query: { limit, offset, fields, shape, ...parameters } }) => {
        activity.count(isToolCall(request) ? "query:mcp" : "query:search");
        const query = { ...wordsAndFilters(parameters), limit, offset, fields, shape };
        log.debug({ asked: query }, "search");
        set.headers["vary"] = "Accept";
        const find = (rows: number) => search.page({ ...query, limit: rows });
        const list = { format: parameters.format, fields, offset };
        const file = await listFile(context, request, list, FoundNonprofit, find);
        return file ?? search.find(query);
      },
    ),
  ).use(searchPages(context));
};

const wordsAndFilters = ({
  q,
  literal,
  near,
  within_km,
  ...filters
}: SearchInput): Omit<SearchQuery, "limit" | "offset"> => ({
  q: q ?? null,
  filters: filtersOf(filters),
  near,
  within_km,
  literal: literal !== undefined,
});
