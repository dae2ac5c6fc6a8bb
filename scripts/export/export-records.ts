import type { Transaction } from "@libsql/client";
import { recordLine } from "#content/nonprofit/record-line.ts";
import { idsAfter } from "#content/register/import-store.ts";
import { queryable, type Store } from "#content/store/open.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";

const recordsAtOnce = 1_000;

/**
 * All nonprofits as lines of our NDJSON, withdrawn ones too, in the order of their ids, 1,000 at a time. An embedded
 * store is read as it was at the beginning, whatever is written meanwhile.
 */
export async function* exportRecords(
  store: Store,
  asks: { contactEmails: boolean },
): AsyncGenerator<string[]> {
  // A server ends transactions after some seconds; an embedded store keeps the snapshot as long as it is read.
  const snapshot: Transaction | null = store.embedded
    ? await store.raw.transaction("deferred")
    : null;
  const source = snapshot === null ? store : queryable(snapshot);
  try {
    for (let after = 0; ;) {
      const ids = await idsAfter(source, after, recordsAtOnce);
      const last = ids.at(-1);
      if (last === undefined) return;
      after = last;
      yield (await recordsById(source, ids)).map((record) => recordLine(record, asks));
    }
  } finally {
    snapshot?.close();
  }
}
