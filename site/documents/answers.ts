import { answerBytes } from "#content/nonprofit/wire.ts";
import { causeList } from "#content/nonprofit/list-store.ts";
import { directoryStats, storedCounters } from "#content/operation/directory-store.ts";
import type { DocumentKey, DocumentKind, Source } from "./document.ts";
import { keyOf } from "./keys.ts";

/** A kind with a single document, which is the answer of the service to a GET without parameters. */
const answer = (
  key: DocumentKey,
  path: string,
  ask: (source: Source) => Promise<unknown>,
): DocumentKind => ({
  kind: key,
  all: () => [[key]],
  render: async (keys, source) => {
    const body = answerBytes(await ask(source));
    return keys.map(() => ({ key, files: [{ path, body }] }));
  },
});

export const causesAnswer = answer(keyOf.causes, "api/causes.json", ({ store }) =>
  causeList(store),
);

/** The counters are those of the last checkpoint: live ones would make the bundle depend on more than the store. */
export const statsAnswer = answer(keyOf.stats, "api/stats.json", async ({ store }) =>
  directoryStats(store, await storedCounters(store)),
);
