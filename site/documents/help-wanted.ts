import { answerBytes } from "#content/rules/list-answer.ts";
import {
  helpWantedAnswer,
  helpWantedDefault,
  storedHelpWantedTotals,
} from "#content/store/help-wanted-answer.ts";
import { directoryFact } from "#content/store/stats.ts";
import type { DocumentKind } from "#site/publisher/document.ts";
import { keyOf } from "./keys.ts";

/** The day of a directory that was never published on a schedule: the rotation has to begin somewhere. */
const firstDay = "2026-01-01";

/**
 * GET /api/needs-enrichment without parameters, for readers of the bundle alone. The day that turns the rotation and
 * the totals are facts of the store; second opinions are left to the service, which knows them to the second.
 */
export const helpWanted: DocumentKind = {
  kind: keyOf.helpWanted,
  all: () => [[keyOf.helpWanted]],
  render: async (keys, { store, baseUrl }) => {
    const day = (await directoryFact(store.raw, "publication_day")) ?? firstDay;
    const answer = await helpWantedAnswer(store.raw, helpWantedDefault(day), {
      baseUrl,
      totals: await storedHelpWantedTotals(store.raw),
      secondOpinions: false,
    });
    const files = [{ path: "api/needs-enrichment.json", body: answerBytes(answer) }];
    return keys.map((key) => ({ key, files }));
  },
};
