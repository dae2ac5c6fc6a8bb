import { answerBytes } from "#content/nonprofit/wire.ts";
import {
  helpWantedAnswer,
  helpWantedDefault,
  storedHelpWantedTotals,
} from "#content/enrichment/needs-store.ts";
import type { DocumentKind } from "./document.ts";
import { keyOf } from "./keys.ts";
import { publicationDay } from "./publication-day.ts";

export const helpWantedPath = "api/needs-enrichment.json";

/**
 * GET /api/needs-enrichment without parameters, for readers of the bundle alone. The day that turns the rotation and
 * the totals are facts of the store; second opinions are left to the service, which knows them to the second.
 */
export const helpWanted: DocumentKind = {
  kind: keyOf.helpWanted,
  all: () => [[keyOf.helpWanted]],
  render: async (keys, { store, baseUrl }) => {
    const day = await publicationDay({ store });
    const answer = await helpWantedAnswer(store, helpWantedDefault(day), {
      baseUrl,
      totals: await storedHelpWantedTotals(store),
      secondOpinions: null,
    });
    const files = [{ path: helpWantedPath, body: answerBytes(answer) }];
    return keys.map((key) => ({ key, files }));
  },
};
