import { listSorts, pagesMax } from "#content/contract/browse.ts";
import { CauseList } from "#content/contract/cause.ts";
import { History } from "#content/contract/enrichment-answers.ts";
import { FeedFile, FeedState } from "#content/contract/feed.ts";
import { listLimit, NonprofitDetail, NonprofitList } from "#content/contract/nonprofit.ts";
import { z } from "zod";
import { addresses } from "#content/contract/addresses.ts";
import { filters, nearby } from "./filters.ts";
import { choice, filter, flag, limit, number, offset, text } from "./query.ts";
import { SearchAnswer, searchLimitDefault, searchLimitMax } from "#content/contract/search.ts";
import { Health, Ready, Stats } from "#content/contract/stats.ts";
import { htmlPage, operations, type Problems } from "./operation.ts";
import {
  Organisation,
  OrganisationsAnswer,
  OrganisationsBody,
} from "#content/contract/standing.ts";

const countryOfNumber = filter(
  "country",
  "Country of a number that names no register, by its English name or ISO 3166 code",
  "United Kingdom",
);

/** What a number is answered with that cannot be looked up. */
export const organisationProblems = {
  number_not_valid: {
    status: 400,
    detail: ({ looks }: { looks: readonly string[] }) =>
      `This is no valid register number: ${looks.join("; ")}.`,
  },
  register_not_known: {
    status: 404,
    detail: ({ prefix, known }: { prefix: string; known: readonly string[] }) =>
      `No register of "${prefix}" is known here. Known are ${known.join(", ")}.`,
    members: ["known"],
  },
} as const satisfies Problems;

/** By what lists are narrowed and sorted. */
const listing = {
  ...filters,
  sort: choice(
    "sort",
    listSorts,
    "relevance: best known first; income: greatest first, in the register's own currency; completeness: what tells most first; name",
    "relevance",
  ),
};

/** What a search is made of. */
const searching = {
  q: text(
    'Words looked for in name, tagline, mission and description, with a place if you like ("food bank honolulu"), or a register number; "in quotes" words are a phrase',
    "clean water",
  ),
  ...filters,
  ...nearby,
  literal: flag(
    "literal",
    "Searches for exactly these words: no number, place or other spelling is read in them",
    "1",
  ),
};

/** What is asked of the directory. None needs a key. */
// walk: table
export const directoryOperations = operations("Directory", {
  searchNonprofits: {
    path: addresses.searchJson.path,
    summary: "Search nonprofits by words, cause and country",
    description:
      "With `q`, ranked by full-text relevance (the name counts most), else by people reached. Words match by stem, the last one also by its beginning; all words first, any of them when all give too few. A register number gives that organisation alone. A place in `q` (a country, state or city) is a filter, words that no profile has are corrected: `understood`, `exact` and `note` say so, `literal=1` switches it off. Filters combine; with none, the whole directory answers. `next` leads to the end.",
    query: z.object({
      ...searching,
      limit: limit(searchLimitDefault, searchLimitMax),
      offset,
    }),
    ok: { description: "One page of matches", shape: SearchAnswer },
  },
  searchForPeople: {
    path: addresses.search.path,
    summary: "Search nonprofits on a page for people",
    description:
      "The same search as a page that works without a script, 20 to a page. Programs ask GET /api/search.",
    query: z.object({
      ...searching,
      page: number("page", "Page of the results, from 1", 1, pagesMax),
    }),
    ok: htmlPage,
    refusals: [404],
  },
  listNonprofits: {
    path: addresses.listNonprofits.path,
    summary: "List nonprofits, narrowed by what registers and profiles say of them",
    description:
      "Filters combine; `facets` says how many match with each value, exactly. Unless sorted otherwise: verified first, then people reached; equals by how complete the profile is, then by yearly income (by order of magnitude, whatever the currency), then by name.",
    query: z.object({ ...listing, limit: limit(listLimit.default, listLimit.max), offset }),
    ok: { description: "One page of the list", shape: NonprofitList },
  },
  browseNonprofits: {
    path: addresses.browse.path,
    summary: "Browse nonprofits on a page for people",
    description:
      "The same list as a page that works without a script, 100 to a page. Programs ask GET /api/nonprofits.",
    query: z.object({
      ...listing,
      page: number("page", "Page of the list, from 1", 1, pagesMax),
    }),
    ok: htmlPage,
    refusals: [404],
  },
  getNonprofit: {
    path: addresses.getNonprofit.path,
    summary: "Get the full profile of a nonprofit",
    description:
      "A withdrawn nonprofit answers 200 with status withdrawn. `provenance` says of each field where its value comes from.",
    ok: { description: "The profile", shape: NonprofitDetail },
    refusals: [400],
  },
  getNonprofitHistory: {
    path: addresses.getHistory.path,
    summary: "Get the changes of a profile, with who made them and when",
    description: "Newest first, at most 200 changes.",
    ok: { description: "The changes", shape: History },
    refusals: [400],
  },
  historyForPeople: {
    path: addresses.history.path,
    summary: "Read the changes of a profile on a page for people",
    description:
      "The same changes as a page, with values that agents disagree on and with gifts. Programs ask GET /api/history/{slug}.",
    ok: {
      description: "The page",
      mediaType: "text/html",
      shape: "text",
      example: "<!doctype html>\n",
    },
    refusals: [400],
  },
  getOrganisation: {
    path: addresses.getOrganisation.path,
    summary: "Look up an organisation by its register number",
    description:
      "Does it exist, is it in good standing, are gifts deductible: says who, as of when. Any usual spelling: `US-EIN-530196605`, `53-0196605`, `SC041666`. A number that no register lists is 200 with `not listed`, which alone says nothing against it: churches and subordinates of a group need not be listed.",
    query: z.object({ country: countryOfNumber }),
    ok: { description: "What is known", shape: Organisation },
    problems: organisationProblems,
  },
  checkOrganisations: {
    method: "post",
    path: addresses.standing.path,
    summary: "Look up as many as 1,000 organisations by their register numbers",
    description:
      "Answers as getOrganisation does, in the order of `ids`. A number that cannot be looked up has an `error` and stops no other.",
    body: { shape: OrganisationsBody, refusal: "invalid_numbers" },
    ok: { description: "What is known of each", shape: OrganisationsAnswer },
  },
  listCauses: {
    path: addresses.listCauses.path,
    summary: "List the 29 cause areas",
    description: "Their ids are the values of the parameter `cause`.",
    ok: { description: "All causes", shape: CauseList },
  },
  getStats: {
    path: addresses.stats.path,
    summary: "Get the numbers of the directory",
    description: "Nonprofits, countries, people reached, queries and hits on the agent channels.",
    ok: { description: "The numbers as of now", shape: Stats },
  },
});

/** Files that follow the directory: they change with it and can be kept. */
export const fileOperations = operations("Changes", {
  getNonprofitMarkdown: {
    path: addresses.profileMarkdown.path,
    tag: "Directory",
    summary: "Get a profile as markdown",
    description: "The page for people as plain text. Its data comes from third parties.",
    ok: {
      description: "The profile",
      mediaType: "text/markdown",
      shape: "text",
      example: "# Hope Kitchen\n",
    },
  },
  getChangeState: {
    path: addresses.changeState.path,
    summary: "Get the newest number of the change feed",
    description:
      "Poll this, then fetch the numbered files that are new. When epoch changes, the numbers start again: fetch the snapshot again.",
    ok: { description: "The state", shape: FeedState },
    refusals: [404],
  },
  getChanges: {
    path: addresses.changes.path,
    summary: "Get a file of the change feed",
    description: "A published file never changes.",
    ok: { description: "Changes, oldest first", shape: FeedFile },
  },
});

/** What is asked of the service itself. */
export const serviceOperations = operations("Service", {
  getHealth: {
    path: addresses.healthz.path,
    summary: "Ask whether the service answers",
    description: "Does not use the store.",
    ok: { description: "The service answers", shape: Health },
    fresh: true,
    refusals: [405],
  },
  getReadiness: {
    path: addresses.readyz.path,
    summary: "Ask whether the directory works",
    description:
      "Looks at the store, the chain and the publisher. 503 names in `reasons` what is missing, or that the service is being stopped. For monitors: pages and reads may go on all the same.",
    ok: { description: "All parts work", shape: Ready },
    fresh: true,
    refusals: [405],
  },
});
