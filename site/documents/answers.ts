import {
  helpWantedAnswer,
  helpWantedDefault,
  storedHelpWantedTotals,
} from "#content/enrichment/needs-store.ts";
import { causeList } from "#content/nonprofit/list-store.ts";
import { directoryStats, storedCounters } from "#content/operation/directory-store.ts";
import { publicationDay } from "./discovery.ts";
import type { DocumentKind } from "./document.ts";
import { keyOf } from "./keys.ts";

/** GET /api/causes. */
export const causesAnswer: DocumentKind = {
  kind: keyOf.causes,
  all: () => [[keyOf.causes]],
  render: async (keys, { store, renderer }) => {
    const answer = await causeList(store);
    const body = await renderer.render("/api/causes.json", { answer });
    return keys.map((key) => ({ key, files: [{ path: "api/causes.json", body }] }));
  },
};

/** The counters are those of the last checkpoint: live ones would make the bundle depend on more than the store. */
export const statsAnswer: DocumentKind = {
  kind: keyOf.stats,
  all: () => [[keyOf.stats]],
  render: async (keys, { store, renderer }) => {
    const answer = await directoryStats(store, await storedCounters(store));
    const body = await renderer.render("/api/stats.json", { answer });
    return keys.map((key) => ({ key, files: [{ path: "api/stats.json", body }] }));
  },
};

export const helpWantedPath = "api/needs-enrichment.json";

/**
 * GET /api/needs-enrichment without parameters, for readers of the bundle alone. The day that turns the rotation and
 * the totals are facts of the store; second opinions are left to the service, which knows them to the second.
 */
export const helpWanted: DocumentKind = {
  kind: keyOf.helpWanted,
  all: () => [[keyOf.helpWanted]],
  render: async (keys, { store, baseUrl, renderer }) => {
    const day = await publicationDay({ store });
    const answer = await helpWantedAnswer(store, helpWantedDefault(day), {
      baseUrl,
      totals: await storedHelpWantedTotals(store),
      secondOpinions: null,
    });
    const body = await renderer.render("/api/needs-enrichment.json", { answer });
    const files = [{ path: helpWantedPath, body }];
    return keys.map((key) => ({ key, files }));
  },
};
