import type { Leaderboard } from "#content/contract/enrichment-answers.ts";
import { storedLeaderboard } from "#content/enrichment/leaderboard-store.ts";
import { causeList, countryList } from "#content/nonprofit/list-store.ts";
import {
  directoryFact,
  directoryStats,
  storedCounters,
} from "#content/operation/directory-store.ts";
import { type BundleFile, type DocumentKind, partsOf, type Source } from "./document.ts";
import { keyOf, type PageName } from "./keys.ts";

/** Pages of which there is one: each reads what it shows, and nothing else. */
export const page: DocumentKind = {
  kind: "page",
  all: () => [(Object.keys(pages) as PageName[]).map(keyOf.page)],
  render: (keys, source) =>
    Promise.all(
      keys.map(async (key) => {
        const render = pages[partsOf(key)[1] as PageName];
        if (render === undefined) throw new Error(`no page is named by ${key}`);
        return { key, files: [await render(source)] };
      }),
    ),
};

const pages: Record<PageName, (source: Source) => Promise<BundleFile>> = {
  home: async (source) => {
    const { baseUrl, renderer, store } = source;
    const stats = await statsOf(source);
    const { causes } = await causeList(store);
    const countries = await countryList(store);
    const body = await renderer.render("/", { baseUrl, stats, causes, countries });
    return { path: "index.html", body };
  },
  causes: async ({ baseUrl, renderer, store }) => {
    const { causes } = await causeList(store);
    return { path: "causes.html", body: await renderer.render("/causes", { baseUrl, causes }) };
  },
  countries: async ({ baseUrl, renderer, store }) => {
    const countries = await countryList(store);
    const body = await renderer.render("/countries", { baseUrl, countries });
    return { path: "countries.html", body };
  },
  statistics: async (source) => {
    const { baseUrl, renderer, store } = source;
    const publicationDay = await directoryFact(store, "publication_day");
    const stats = await statsOf(source);
    const body = await renderer.render("/statistics", { baseUrl, stats, publicationDay });
    return { path: "statistics.html", body };
  },
  methodology: async ({ baseUrl, renderer }) => ({
    path: "methodology.html",
    body: await renderer.render("/methodology", { baseUrl }),
  }),
  agents: async ({ baseUrl, renderer, store }) => {
    const leaderboard = (await storedLeaderboard(store)) ?? noAgentsYet;
    const body = await renderer.render("/agents", { baseUrl, leaderboard });
    return { path: "agents.html", body };
  },
  onboard: async ({ baseUrl, network, renderer }) => ({
    path: "onboard.html",
    body: await renderer.render("/onboard", { baseUrl, network }),
  }),
  "onboard-status": async ({ baseUrl, network, renderer }) => ({
    path: "onboard/status.html",
    body: await renderer.render("/onboard/status", { baseUrl, network }),
  }),
  receipt: async ({ baseUrl, network, renderer }) => ({
    path: "receipt.html",
    body: await renderer.render("/receipt", { baseUrl, network }),
  }),
  widget: async ({ baseUrl, network, renderer }) => ({
    path: "widget.html",
    body: await renderer.render("/widget", { baseUrl, network }),
  }),
  "not-found": async ({ baseUrl, renderer }) => ({
    path: "404.html",
    body: await renderer.render("/404", { baseUrl }),
  }),
  robots: async ({ baseUrl, renderer }) => ({
    path: "robots.txt",
    body: await renderer.render("/robots.txt", { baseUrl }),
  }),
};

const statsOf = async ({ store }: Source) => directoryStats(store, await storedCounters(store));

const noAgentsYet: Leaderboard = {
  message: "",
  totals: { total_submissions: 0, total_applied: 0, unique_agents: 0, nonprofits_improved: 0 },
  top_agents: [],
  recent_activity: [],
};
