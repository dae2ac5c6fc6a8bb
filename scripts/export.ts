import { createWriteStream, renameSync, rmSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { ParsedArgs } from "citty";
import type { Transaction } from "@libsql/client";
import { nonprofitIdsAfter } from "#content/nonprofit/list-store.ts";
import { recordLine } from "#content/nonprofit/record-line.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { exportTables } from "#content/store/move.ts";
import { type Queryable, queryable, type Store } from "#content/store/open.ts";
import type { Config } from "#api/config.ts";
import { configOrExit, openExistingStore, stopSignal, stopWith } from "./support/config.ts";
import { exportPlainSite } from "./export/plain-site.ts";
import { startProgress } from "./support/progress.ts";
import { flag, runCommand, textOption, wordedCommand } from "./support/command.ts";
import { publisherFolders } from "#site/bundle/manifest.ts";

const args = {
  out: textOption,
  all: flag,
  site: textOption,
  "with-contact-emails": flag,
} as const;

export const command = wordedCommand("export", {
  args,
  run: ({ args: options }) => {
    const config = configOrExit();
    return options.site === undefined
      ? exportRows(config, options)
      : exportSite(config, options.site, options.out);
  },
});

async function exportRows(config: Config, options: ParsedArgs<typeof args>): Promise<void> {
  using store = await openExistingStore(config);
  const file = options.out === undefined ? null : `${options.out}.part-${process.pid}`;
  const out =
    file === null ? process.stdout : createWriteStream(file, { flush: true, mode: 0o600 });
  const progress = startProgress("exporting", 0);
  let count = 0;
  const onLines = (lines: number) => progress.at((count += lines));
  const asks = { contactEmails: options["with-contact-emails"] === true };
  const signal = stopSignal();
  const all = options.all === true;
  const texts = atOneMoment(store, (source) =>
    all ? exportTables(source, onLines) : exportRecords(source, asks, onLines),
  );
  const failure = await pipeline(texts, out, { signal, end: file !== null }).then(
    () => null,
    (error: Error) => error,
  );
  progress.end();
  if (failure !== null) {
    if (file !== null) rmSync(file, { force: true });
    stopWith(`export: ${signal.aborted ? "interrupted" : failure.message}`);
  }
  if (file !== null) renameSync(file, options.out ?? file);
  console.error(`${count.toLocaleString("en")} ${all ? "rows" : "records"}`);
  if (all) {
    console.error("Keys are not in it: copy the folder `secrets` of the data folder, too.");
    if (!store.embedded) console.error(ofServer);
  }
}

/** The published site for a host that maps nothing. */
function exportSite({ dataDir, baseUrl }: Config, form: string, folder: string | undefined): void {
  if (form !== "plain" || folder === undefined)
    stopWith("Write it so: bun run export --site plain --out folder", 2);
  const { bundle } = publisherFolders(dataDir);
  try {
    const files = exportPlainSite({ bundle, folder, baseUrl });
    console.error(`${files.toLocaleString("en")} files`);
  } catch (error) {
    stopWith(`export: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const ofServer =
  "What was written to the database server meanwhile may be in some tables only: stop what writes there, and export again.";

const recordsAtOnce = 1_000;

/** All nonprofits as lines of our NDJSON, withdrawn ones too, in the order of their ids, 1,000 at a time. */
async function* exportRecords(
  source: Queryable,
  asks: { contactEmails: boolean },
  onLines: (count: number) => void,
): AsyncGenerator<string> {
  for (let after = 0; ;) {
    const ids = await nonprofitIdsAfter(source, after, recordsAtOnce);
    const last = ids.at(-1);
    if (last === undefined) return;
    after = last;
    const records = await recordsById(source, ids);
    onLines(records.length);
    yield `${records.map((record) => recordLine(record, asks)).join("\n")}\n`;
  }
}

/** Reads an embedded store as it was at the beginning, whatever is written meanwhile. */
async function* atOneMoment(
  store: Store,
  read: (source: Queryable) => AsyncGenerator<string>,
): AsyncGenerator<string> {
  // A server ends transactions after some seconds; an embedded store keeps the snapshot as long as it is read.
  const snapshot: Transaction | null = store.embedded
    ? await store.raw.transaction("deferred")
    : null;
  try {
    yield* read(snapshot === null ? store : queryable(snapshot));
  } finally {
    snapshot?.close();
  }
}

if (import.meta.main) await runCommand(command);
