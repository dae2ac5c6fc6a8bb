import { CauseList } from "#content/contract/cause.ts";
import { History } from "#content/contract/enrichment-answers.ts";
import { FeedFile, FeedState } from "#content/contract/feed.ts";
import { listLimit, NonprofitDetail, NonprofitList } from "#content/contract/nonprofit.ts";
import { z } from "zod";
import { cause, country, flag, limit, offset, text } from "./query.ts";
import { SearchAnswer, searchLimitDefault, searchLimitMax } from "#content/contract/search.ts";
import { Health, Stats } from "#content/contract/stats.ts";
import { operation } from "./operation.ts";

export const searchNonprofits = operation({
  operationId: "searchNonprofits",
  method: "get",
  path: "/api/search",
  tag: "Directory",
  summary: "Search nonprofits by words, cause and country",
  description:
    "With `q`, ranked by full-text relevance (the name counts most), else by people reached. Words match by stem, the last one also by its beginning; all words first, any of them when all give too few. Filters combine; with none, the whole directory answers. `next` leads to the end.",
  query: z.object({
    q: text(
      'Words looked for in name, tagline, mission and description; "in quotes" they are a phrase',
      "clean water",
    ),
    cause,
    country,
    ghd_aligned: flag("Only profiles aligned with global health and development", "1"),
    limit: limit(searchLimitDefault, searchLimitMax),
    offset,
  }),
  ok: { description: "One page of matches", shape: SearchAnswer },
});

export const listNonprofits = operation({
  operationId: "listNonprofits",
  method: "get",
  path: "/api/nonprofits",
  tag: "Directory",
  summary: "List all nonprofits",
  description: "Ordered by verified status, then people reached, then name.",
  query: z.object({ limit: limit(listLimit.default, listLimit.max), offset }),
  ok: { description: "One page of the list", shape: NonprofitList },
});

export const getNonprofit = operation({
  operationId: "getNonprofit",
  method: "get",
  path: "/api/nonprofits/{slug}",
  tag: "Directory",
  summary: "Get the full profile of a nonprofit",
  description:
    "A withdrawn nonprofit answers 200 with status withdrawn. `provenance` says of each field where its value comes from.",
  ok: { description: "The profile", shape: NonprofitDetail },
  refusals: [400],
});

export const getNonprofitHistory = operation({
  operationId: "getNonprofitHistory",
  method: "get",
  path: "/api/nonprofits/{slug}/history",
  tag: "Directory",
  summary: "Get the changes of a profile, with who made them and when",
  description: "Newest first, at most 200 changes.",
  ok: { description: "The changes", shape: History },
  refusals: [400],
});

export const listCauses = operation({
  operationId: "listCauses",
  method: "get",
  path: "/api/causes",
  tag: "Directory",
  summary: "List the 29 cause areas",
  description: "Their ids are the values of the parameter `cause`.",
  ok: { description: "All causes", shape: CauseList },
});

export const getStats = operation({
  operationId: "getStats",
  method: "get",
  path: "/api/stats",
  tag: "Directory",
  summary: "Get the numbers of the directory",
  description: "Nonprofits, countries, people reached, queries and hits on the agent channels.",
  ok: { description: "The numbers as of now", shape: Stats },
});

/** What is asked of the directory. None needs a key. */
export const readOperations = [
  searchNonprofits,
  listNonprofits,
  getNonprofit,
  getNonprofitHistory,
  listCauses,
  getStats,
];

const plain = (mediaType: string, description: string, example: string) => ({
  description,
  mediaType,
  shape: "text" as const,
  example,
});

export const getNonprofitMarkdown = operation({
  operationId: "getNonprofitMarkdown",
  method: "get",
  path: "/nonprofits/{slug}.md",
  tag: "Directory",
  summary: "Get a profile as markdown",
  description: "The page for people as plain text. Its data comes from third parties.",
  ok: plain("text/markdown", "The profile", "# Hope Kitchen\n"),
  limited: false,
});

export const getChangeState = operation({
  operationId: "getChangeState",
  method: "get",
  path: "/changes/state.json",
  tag: "Changes",
  summary: "Get the newest number of the change feed",
  description:
    "Poll this, then fetch the numbered files that are new. When epoch changes, the numbers start again: fetch the snapshot again.",
  ok: { description: "The state", shape: FeedState },
  refusals: [404],
  limited: false,
});

export const getChanges = operation({
  operationId: "getChanges",
  method: "get",
  path: "/changes/{number}.json",
  tag: "Changes",
  summary: "Get a file of the change feed",
  description: "A published file never changes.",
  ok: { description: "Changes, oldest first", shape: FeedFile },
  limited: false,
});

/** Files that follow the directory: they change with it and can be kept. */
export const fileOperations = [getNonprofitMarkdown, getChangeState, getChanges];

export const getHealth = operation({
  operationId: "getHealth",
  method: "get",
  path: "/healthz",
  tag: "Service",
  summary: "Ask whether the service answers",
  description: "Does not use the store.",
  ok: { description: "The service answers", shape: Health },
  fresh: true,
  limited: false,
});

export const serviceOperations = [getHealth];
