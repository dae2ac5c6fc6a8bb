import { signals } from "#content/recommendation/ranking.ts";
import {
  ListParameters,
  RecommendParameters,
  SearchParameters,
} from "#content/contract/parameters.ts";
import * as examples from "./examples.ts";
import { history } from "./enrichment-examples.ts";
import type { Operation } from "./operation.ts";

const rankingTable = signals
  .map(({ name, weight, description }) => `- \`${name}\` (${weight}): ${description}`)
  .join("\n");

/** What is asked of the directory. None needs a key. */
export const readOperations: readonly Operation[] = [
  {
    operationId: "searchNonprofits",
    method: "get",
    path: "/api/search",
    tag: "Directory",
    summary: "Search nonprofits by words, cause and country",
    description:
      "With q ranked by full-text relevance (the name counts most), else by people reached. Words match by stem, the last one also by its beginning; all words first, any of them when all give too few. Filters combine; with none, the whole directory answers. `next` leads to the end.",
    query: SearchParameters,
    ok: { description: "One page of matches", schema: "SearchAnswer", example: examples.search },
    refusals: [400],
  },
  {
    operationId: "listNonprofits",
    method: "get",
    path: "/api/nonprofits",
    tag: "Directory",
    summary: "List all nonprofits",
    description: "Ordered by verified status, then people reached, then name.",
    query: ListParameters,
    ok: {
      description: "One page of the list",
      schema: "NonprofitList",
      example: {
        total: 1,
        count: 1,
        limit: 50,
        offset: 0,
        next: null,
        prev: null,
        nonprofits: [examples.summary],
      },
    },
    refusals: [400],
  },
  {
    operationId: "getNonprofit",
    method: "get",
    path: "/api/nonprofits/{slug}",
    tag: "Directory",
    summary: "Get the full profile of a nonprofit",
    description:
      "A withdrawn nonprofit answers 200 with status withdrawn. `provenance` says of each field where its value comes from.",
    ok: { description: "The profile", schema: "NonprofitDetail", example: examples.detail },
    refusals: [400, 404],
  },
  {
    operationId: "getNonprofitHistory",
    method: "get",
    path: "/api/nonprofits/{slug}/history",
    tag: "Directory",
    summary: "Get what was changed in a profile, by whom and when",
    description: "Newest first, at most 200 changes.",
    ok: { description: "The changes", schema: "History", example: history },
    refusals: [400, 404],
  },
  {
    operationId: "listCauses",
    method: "get",
    path: "/api/causes",
    tag: "Directory",
    summary: "List the 29 cause areas",
    description: "Their ids are the values of the parameter `cause`.",
    ok: { description: "All causes", schema: "CauseList", example: examples.causes },
  },
  {
    operationId: "getStats",
    method: "get",
    path: "/api/stats",
    tag: "Directory",
    summary: "Get the numbers of the directory",
    description: "Nonprofits, countries, people reached, queries and hits on the agent channels.",
    ok: { description: "The numbers as of now", schema: "Stats", example: examples.stats },
  },
  {
    operationId: "recommendNonprofits",
    method: "get",
    path: "/api/recommend",
    tag: "Recommendation",
    summary: "Recommend up to five nonprofits for a donor's intent",
    description: `Ranks profiles that the operator picked by hand; at least one of cause, country and q is required. Without a match, \`fallback\` leads to the search. Each item's \`explain\` adds up to its score:\n\n${rankingTable}`,
    query: RecommendParameters,
    ok: {
      description: "The recommendations, or where to look instead",
      schema: "RecommendAnswer",
      example: examples.recommend,
    },
    refusals: [400],
  },
];

const text = (mediaType: string, description: string, example: string) => ({
  description,
  mediaType,
  schema: "text",
  example,
});

/** Files that follow the directory: they change with it and can be kept. */
export const fileOperations: readonly Operation[] = [
  {
    operationId: "getNonprofitMarkdown",
    method: "get",
    path: "/nonprofits/{slug}.md",
    tag: "Directory",
    summary: "Get a profile as markdown",
    description: "The page for people as plain text. Its data comes from third parties.",
    ok: text("text/markdown", "The profile", "# Hope Kitchen\n"),
    refusals: [404],
    limited: false,
  },
  {
    operationId: "getChangeState",
    method: "get",
    path: "/changes/state.json",
    tag: "Changes",
    summary: "Get the newest number of the change feed",
    description:
      "Poll this, then fetch the numbered files that are new. Another epoch: the numbers start anew, so fetch the snapshot again.",
    ok: { description: "The state", schema: "FeedState", example: examples.feedState },
    refusals: [404],
    limited: false,
  },
  {
    operationId: "getChanges",
    method: "get",
    path: "/changes/{number}.json",
    tag: "Changes",
    summary: "Get a file of the change feed",
    description: "Never changes once it is there.",
    ok: {
      description: "Changes, oldest first",
      schema: "FeedFile",
      example: examples.feedFile,
    },
    refusals: [404],
    limited: false,
  },
];
