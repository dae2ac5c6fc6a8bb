import { existsSync, linkSync, rmSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { systemClock } from "#content/contract/base/time.ts";
import { holdsSample } from "#content/operation/directory-facts-store.ts";
import { type Store, openStore, storeAddress } from "#content/store/open.ts";
import { FetchFailed } from "#scripts/import/fetch-file.ts";
import {
  type FetchReport,
  fetchAll,
  planFetch,
  fetchAndImport,
  type FetchRequest,
  countryNames,
  isList,
  publishedRegisters,
  registersOf,
} from "#scripts/import/fetch-all.ts";
import { irs990Xml } from "#scripts/import/irs-990-xml.ts";
import { BadInput, fileDay, readLines } from "#scripts/import/read-file.ts";
import {
  Interrupted,
  formatNames,
  isDiskFull,
  registerFormats,
  runImport,
} from "#scripts/import/run-import.ts";
import { type ImportReport, isNeverFilled } from "#content/register/import-store.ts";
import { coveredInWords, reportInWords } from "#scripts/import/report.ts";
import { configOrExit, reasonOf, stopSignal, stopWith } from "#scripts/support/config.ts";
import { followProgress, startProgress } from "#scripts/support/progress.ts";
import {
  flag,
  positionals,
  runCommand,
  textOption,
  wordedCommand,
} from "#scripts/support/command.ts";
import type { Config } from "#api/config.ts";
import { NotMovable, importTables } from "#content/store/move.ts";

/** "all" is the output of `export --all`, which is not imported record by record. */
const formats = [...formatNames, "all", ...countryNames];
const fetchable = [...countryNames, ...publishedRegisters];

const args = {
  format: {
    ...positionals,
    description: `One of ${formats.join(", ")}; then the files, plain, gzipped or zipped`,
  },
  fetch: flag,
  years: { ...textOption, default: "3" },
  "skip-bad": flag,
  check: flag,
  scope: textOption,
  "as-of": textOption,
  "withdraw-many": flag,
  "into-sample": flag,
  json: flag,
} as const;

const skippedShownMax = 10;

const about = [
  ...registerFormats.map((format) => `  ${format.name.padEnd(11)} ${format.about}`),
  ...countryNames.map((name) => `  ${name.padEnd(11)} --fetch: ${registersOf(name).join(", ")}`),
];

export const command = wordedCommand("import", {
  args,
  about,
  run: async ({ args: options, rawArgs }) => {
    const [, ...files] = options._;
    const fetches = options.fetch === true;
    const asOf = options["as-of"];
    const slip = slipOf(options.format, files, { ...options, fetches, asOf, rawArgs });
    if (slip !== null) stopWith(slip, 2);
    const config = configOrExit();
    if (options.format === "all") {
      const rows = await importAll(files, config);
      const words = `${rows.toLocaleString("en")} rows. Copy the folder \`secrets\` of the other data folder, too.`;
      return print({ report: { rows }, words, ok: true }, options.json);
    }
    const newFile = newFileOf(config);
    // An interrupted import can be repeated, so a commit need not reach the disk at once.
    using store = await openStore({
      url: config.databaseUrl,
      authToken: config.databaseToken,
      busyWaitMs: 60_000,
      synchronous: "NORMAL",
      oneConnection: true,
      // Returns touch few pages, one after the other.
      writeCacheMb: options.format === irs990Xml.name ? 16 : 32,
    });
    if (options["into-sample"] !== true) await refuseMixing(store, config.dataDir, files);
    const progress = followProgress();
    const tell = (line: string) => {
      progress.end();
      if (line !== "") console.error(line);
    };
    try {
      const request = {
        store,
        dataDir: config.dataDir,
        origin: config.registerOrigin,
        years: Number(options.years),
        format: options.format,
        asOf: asOf ?? null,
        skipBad: options["skip-bad"] === true,
        checkOnly: options.check === true,
        scope: options.scope ?? null,
        allowManyWithdrawals: options["withdraw-many"] === true,
        clock: systemClock,
        signal: AbortSignal.any([stopSignal(), parentGone()]),
        onProgress: progress.at,
        onCovered: (planned: ImportReport) => tell(coveredInWords(planned)),
        onSkipped: firstOnes(),
      };
      const done = fetches
        ? await fetchedBy(request, tell)
        : reported(await runImport({ ...request, files, fetched: null }));
      progress.end();
      print(done, options.json);
    } catch (error) {
      progress.end();
      process.exitCode = explain(error);
    } finally {
      await dropUnfilled(store, newFile);
      // An open channel to the publisher that started this process would keep it alive.
      if (process.connected) process.disconnect?.();
    }
  },
});

/** The file of a store that is not there yet; null for one that is, and for a server. */
function newFileOf({ databaseUrl }: Config): string | null {
  const path = storeAddress(databaseUrl);
  return databaseUrl.startsWith("file:") && !existsSync(path) ? path : null;
}

/** Removes a store that this import made and did not fill: it would block a restore. */
async function dropUnfilled(store: Store, newFile: string | null): Promise<void> {
  if (newFile === null || !(await isNeverFilled(store))) return;
  store.close();
  removeStore(newFile);
}

function removeStore(path: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
}

function print({ report, words, ok }: FetchReport, isJson = false): void {
  console.log(isJson ? JSON.stringify(report) : words);
  if (!ok) process.exitCode = 1;
}

const reported = (report: ImportReport): FetchReport => ({
  report,
  words: reportInWords(report),
  ok: true,
});

/** A country, or a list of files, takes several imports. */
async function fetchedBy(
  request: FetchRequest,
  tell: (line: string) => void,
): Promise<FetchReport> {
  const { format, checkOnly } = request;
  const isOne = !countryNames.includes(format) && !isList(format);
  if (isOne) return reported(await fetchAndImport(request));
  return checkOnly ? planFetch(request) : fetchAll(request, tell);
}

type TypedOptions = {
  fetches: boolean;
  asOf: string | undefined;
  years: string;
  rawArgs: readonly string[];
};

/** What is wrong with the command line; null when it is right. */
function slipOf(
  format: string,
  files: readonly string[],
  { fetches, asOf, years, rawArgs }: TypedOptions,
): string | null {
  const isCountry = countryNames.includes(format);
  const isAlone = files.length === 0 && fetchable.includes(format);
  // `import all` takes everything as it is, or nothing.
  const otherOption = rawArgs.find((word) => /^--(?!json$)\w/.test(word))?.replace(/=.*/, "");
  const isWithoutOthers = format !== "all" || otherOption === undefined;
  const how = isCountry ? `${format} --fetch, first with --check` : `${format} <files…>`;
  const slips: [boolean, string][] = [
    [formats.includes(format), `${format} is not a format. Give one of ${formats.join(", ")}.`],
    [isWithoutOthers, `import all takes no ${otherOption}, and nothing was written.`],
    [z.iso.date().optional().safeParse(asOf).success, "--as-of: give a date as YYYY-MM-DD."],
    [/^(?:[1-9]|1\d|20)$/.test(years), "--years: give a whole number from 1 to 20."],
    [!fetches || isAlone, `--fetch stands alone, without files, for ${fetchable.join(", ")}.`],
    [fetches || (files.length > 0 && !isCountry), `Say what to import: import ${how}`],
  ];
  return slips.find(([isRight]) => !isRight)?.[1] ?? null;
}

/** Ends the process if the store holds a sample, with two commands that import the files into another directory. */
async function refuseMixing(store: Store, folder: string, files: readonly string[]): Promise<void> {
  if (!(await holdsSample(store))) return;
  const typed = process.argv.slice(2);
  const day = files
    .filter((file) => existsSync(file))
    .map(fileDay)
    .sort()
    .at(-1);
  const isDated = day === undefined || typed.some((word) => word.startsWith("--as-of"));
  const words = [...typed, ...(isDated ? [] : ["--as-of", day])];
  const quoted = words.map((word) => (/^[\w./:@=,-]+$/.test(word) ? word : `'${word}'`));
  const there = `ALMONER_DATA_DIR='${folder}-own'`;
  stopWith(
    [
      `${folder} holds a sample. Real nonprofits never stand beside invented ones, so nothing was imported.`,
      "Make a directory of your own, in another folder, and start it:",
      `  ${there} npm run import -- ${quoted.join(" ")}`,
      `  ${there} npm start`,
    ].join("\n"),
  );
}

/** Fires when the publisher that started this process is gone. */
function parentGone(): AbortSignal {
  const gone = new AbortController();
  process.on("disconnect", () => gone.abort());
  return gone.signal;
}

const expected = [BadInput, FetchFailed, Interrupted];

function explain(error: unknown): number {
  if (error instanceof Error && expected.some((kind) => error instanceof kind))
    console.error(error.message);
  else if (isDiskFull(error))
    console.error("The disk is full. Free some space and run the same command again to finish.");
  else throw error;
  return error instanceof Interrupted ? 130 : 1;
}

/** Prints the first malformed rows; further ones are only counted. */
function firstOnes(): (problem: string) => void {
  let count = 0;
  return (problem) => {
    count += 1;
    if (count <= skippedShownMax) console.error(`left out: ${problem}`);
    if (count === skippedShownMax) console.error("left out: further rows are only counted");
  };
}

/** Fills an empty store with the output of `export --all`: all or nothing. Ends the process with the reason if it fails. */
export async function importAll(files: readonly string[], config: Config): Promise<number> {
  const [file] = files;
  if (file === undefined || files.length > 1) stopWith("Give one file: import all <file>", 2);
  if (!config.databaseUrl.startsWith("file:")) {
    stopWith("Everything is imported into a file: leave ALMONER_DATABASE_URL out for this.", 2);
  }
  const path = storeAddress(config.databaseUrl);
  // A new store gets its final name only with its rows. `upkeep` removes drafts.
  const draft = newFileOf(config) && `${path}.restoring-${process.pid}`;
  const url = draft === null ? config.databaseUrl : pathToFileURL(draft).href;
  const store = await openStore({ url, writeCacheMb: 128 });
  const close = () => {
    store.close();
    if (draft !== null) removeStore(draft);
  };
  const progress = startProgress("Rows", 0);
  async function* lines(from: string) {
    for await (const { text } of readLines(from, () => {})) yield text;
  }
  try {
    const rows = await importTables(store, lines(file), progress.at);
    store.close();
    // Fails if another process has created the store meanwhile.
    if (draft !== null) linkSync(draft, path);
    return rows;
  } catch (error) {
    const isKnown = error instanceof NotMovable || error instanceof BadInput;
    const why = isKnown ? `${error.message}.` : reasonOf(error, config.dataDir);
    close();
    return stopWith(`${file}: ${why}\nNothing was written.`);
  } finally {
    progress.end();
    close();
  }
}

if (import.meta.main) await runCommand(command);
