import { comparedOrgs, Comparison } from "#content/contract/comparison.ts";
import { CauseList, listSorts, pagesMax } from "#content/contract/browse.ts";
import {
  FoundNonprofit,
  SearchAnswer,
  searchLimitDefault,
  searchLimitMax,
} from "#content/contract/search.ts";
import { History } from "#content/contract/enrichment-answers.ts";
import { FeedFile, FeedState } from "#content/contract/feed.ts";
import {
  listLimit,
  NonprofitDetail,
  NonprofitList,
  NonprofitSummary,
} from "#content/contract/nonprofit.ts";
import { z } from "zod";
import { addresses } from "#content/contract/addresses.ts";
import { asFile, filesAnswered, identifiers } from "./list-file.ts";
import {
  choice,
  filter,
  filterLengthMax,
  filterTooLong,
  filters,
  flag,
  limit,
  nearby,
  number,
  offset,
  parameter,
  text,
} from "./query.ts";
import {
  fields,
  include,
  shape,
  htmlPage,
  type Operation,
  operations,
  type Problems,
} from "./operation.ts";
import { ApiIndex, Health, Ready, Stats } from "#content/contract/stats.ts";
import files from "#content/editorial/files.json";
import {
  Organisation,
  OrganisationsAnswer,
  OrganisationsBody,
  OrganisationsFound,
} from "#content/contract/standing.ts";

const countryOfNumber = filter(
  "country",
  "Country of a number that names no register, by its English name or ISO 3166 code",
  "United Kingdom",
);

/** Refusals of a number that cannot be looked up. */
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

const listing = {
  ...filters,
  sort: choice(
    "sort",
    listSorts,
    "relevance: best known first; income: greatest first, in the register's own currency; completeness: what tells most first; name",
    "relevance",
  ),
};

/** The parameters of a search. */
const searchQuery = {
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

/** Queries of the directory. None needs a key. */
// walk: table
export const directoryOperations = operations("Directory", {
  searchNonprofits: {
    path: addresses.searchJson.path,
    query: z.object({
      ...searchQuery,
      limit: limit(searchLimitDefault, searchLimitMax),
      offset,
      ...asFile,
      fields: fields(FoundNonprofit, [identifiers]),
      shape,
    }),
    ok: { description: "One page of matches", shape: SearchAnswer, ...filesAnswered },
  },
  searchForPeople: {
    path: addresses.search.path,
    query: z.object({
      ...searchQuery,
      page: number("page", "Page of the results, from 1", 1, pagesMax),
    }),
    ok: htmlPage,
    refusals: [404],
  },
  compareNonprofits: {
    path: addresses.compareJson.path,
    query: z.object({ orgs: comparedOrgs, fields: fields(NonprofitDetail) }),
    ok: { description: "What is known of each", shape: Comparison },
  },
  compareForPeople: {
    path: addresses.compare.path,
    query: z.object({ orgs: text("As at /api/compare; empty for the form", "hope-kitchen") }),
    ok: htmlPage,
  },
  listNonprofits: {
    path: addresses.listNonprofits.path,
    query: z.object({
      ...listing,
      limit: limit(listLimit.default, listLimit.max),
      offset,
      ...asFile,
      fields: fields(NonprofitSummary, [identifiers]),
      include,
    }),
    ok: { description: "One page of the list", shape: NonprofitList, ...filesAnswered },
  },
  browseNonprofits: {
    path: addresses.browse.path,
    query: z.object({
      ...listing,
      page: number("page", "Page of the list, from 1", 1, pagesMax),
    }),
    ok: htmlPage,
    refusals: [404],
  },
  getNonprofit: {
    path: addresses.getNonprofit.path,
    query: z.object({ fields: fields(NonprofitDetail) }),
    ok: { description: "The profile", shape: NonprofitDetail },
    refusals: [400],
  },
  getNonprofitHistory: {
    path: addresses.getHistory.path,
    ok: { description: "The changes", shape: History },
    refusals: [400],
  },
  historyForPeople: {
    path: addresses.history.path,
    ok: htmlPage,
    refusals: [400],
  },
  getOrganisation: {
    path: addresses.getOrganisation.path,
    query: z.object({ country: countryOfNumber }),
    ok: { description: "What is known", shape: Organisation },
    problems: organisationProblems,
  },
  findOrganisations: {
    path: addresses.findOrganisations.path,
    query: z.object({
      name: parameter(
        (raw) => raw.trim(),
        z
          .string({ error: "name is the name of an organisation." })
          .min(1)
          .max(filterLengthMax, filterTooLong("name")),
        "The organisation's name, as it is known to you; misspelt is fine. Its website, slug or register number do, too",
        "Hope Kitchen",
      ),
      country: filters.country,
      limit: limit(5, 10),
    }),
    ok: { description: "Who it may be, the likeliest first", shape: OrganisationsFound },
  },
  checkOrganisations: {
    method: "post",
    path: addresses.standing.path,
    body: {
      shape: OrganisationsBody,
      refusal: "invalid_numbers",
      storesNothing: true,
      list: "ids",
    },
    ok: { description: "What is known of each", shape: OrganisationsAnswer },
  },
  listCauses: {
    path: addresses.listCauses.path,
    ok: { description: "All causes", shape: CauseList },
  },
  getStats: {
    path: addresses.stats.path,
    query: z.object({ include }),
    ok: { description: "The numbers as of now", shape: Stats },
  },
});

/** Files that change with the directory and may be cached. */
export const fileOperations = operations("Changes", {
  getProfileFeed: {
    path: addresses.profileFeed.path,
    ok: {
      description: "The feed",
      mediaType: "application/atom+xml",
      shape: "text",
      example: "<feed/>\n",
    },
    refusals: [400],
  },
  getChangeState: {
    path: addresses.changeState.path,
    ok: { description: "The state", shape: FeedState },
    refusals: [404],
  },
  getChanges: {
    path: addresses.changes.path,
    ok: { description: "Changes, oldest first", shape: FeedFile },
  },
});

/** An object whose content is described elsewhere. */
const PlainObject = z.looseObject({}).meta({ id: "PlainObject" });

/** Files for programs that this directory itself does not read. */
export const plainFiles: readonly Operation[] = files.map(
  ({ type = "application/json", ...file }) => ({
    ...file,
    method: "get",
    tag: "Files",
    description: file.summary,
    ok: {
      description: "The file",
      mediaType: type,
      shape: /[/+]json$/.test(type) ? PlainObject : "text",
    },
    refusals: [404],
  }),
);

/** A message of the Model Context Protocol. */
const McpMessage = z
  .looseObject({ jsonrpc: z.literal("2.0"), method: z.string() })
  .meta({ id: "McpMessage", examples: [{ jsonrpc: "2.0", id: 1, method: "tools/list" }] });

const mcp = {
  body: { shape: McpMessage, storesNothing: true },
  ok: { description: "The answer, as JSON or as one event", shape: PlainObject },
  refusals: [403],
} as const;

/** Operations of the service itself. */
export const serviceOperations = operations("Service", {
  getHealth: {
    path: addresses.healthz.path,
    ok: { description: "The service answers", shape: Health },
    fresh: true,
    refusals: [405],
  },
  listAddresses: {
    path: addresses.apiIndex.path,
    ok: { description: "The addresses", shape: ApiIndex },
  },
  callTool: {
    method: "post",
    path: addresses.mcp.path,
    tag: "MCP",
    query: z.object({
      tools: choice(
        "tools",
        ["default", "all"],
        "all: also tools that are not listed by default",
        "all",
      ),
    }),
    ...mcp,
  },
  callReadTool: { method: "post", path: addresses.mcpRead.path, tag: "MCP", ...mcp },
  getReadiness: {
    path: addresses.readyz.path,
    ok: { description: "All parts work", shape: Ready },
    fresh: true,
    refusals: [405],
  },
});
