import { existsSync } from "node:fs";
import { z } from "zod";
import { systemClock } from "#content/contract/base/time.ts";
import { holdsSample } from "#content/operation/directory-facts-store.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { FetchFailed } from "./import/fetch-file.ts";
import { fetchAll, planFetch, type FetchReport } from "./import/fetch-all.ts";
import { fetchAndImport } from "./import/fetch-register.ts";
import { importAll } from "./import/import-all.ts";
import { irs990Xml } from "./import/irs-990-xml.ts";
import {
  countryNames,
  type FetchRequest,
  isList,
  publishedRegisters,
  registersOf,
} from "./import/published.ts";
import { BadInput, fileDay } from "./import/read-file.ts";
import {
  Interrupted,
  isDiskFull,
  registerFormats,
  formatNames,
  runImport,
} from "./import/run-import.ts";
import type { ImportReport } from "#content/register/import-report.ts";
import { coveredInWords, reportInWords } from "./import/report.ts";
import { configOrExit, stopSignal, stopWith } from "./support/config.ts";
import { followProgress } from "./support/progress.ts";
import { flag, positional, runCommand, textOption, wordedCommand } from "./support/command.ts";

/** Everything that `export --all` wrote is taken as it is, by another way than records are. */
const formats = [...formatNames, "all", ...countryNames];
const fetchable = [...countryNames, ...publishedRegisters];

const args = {
  format: {
    ...positional,
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

const command = wordedCommand("import", {
  args,
  about,
  run: async ({ args: asked }) => {
    const [, ...files] = asked._;
    const fetches = asked.fetch === true;
    const slip = slipOf(asked.format, files, { ...asked, fetches, asOf: asked["as-of"] });
    if (slip !== null) stopWith(slip, 2);
    const config = configOrExit();
    if (asked.format === "all") {
      const rows = await importAll(files, config);
      const words = `${rows.toLocaleString("en")} rows. Copy the folder \`secrets\` of the other data folder, too.`;
      return print({ report: { rows }, words, ok: true }, asked.json);
    }
    // An interrupted import can be run again, so a commit need not reach the disk at once.
    using store = await openStore({
      url: config.databaseUrl,
      authToken: config.databaseToken,
      busyWaitMs: 60_000,
      synchronous: "NORMAL",
      oneConnection: true,
      // Returns go to few pages, one after the other.
      writeCacheMb: asked.format === irs990Xml.name ? 16 : 32,
    });
    if (asked["into-sample"] !== true) await refuseMixing(store, config.dataDir, files);
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
        years: Number(asked.years),
        format: asked.format,
        asOf: asked["as-of"] ?? null,
        skipBad: asked["skip-bad"] === true,
        checkOnly: asked.check === true,
        scope: asked.scope ?? null,
        allowManyWithdrawals: asked["withdraw-many"] === true,
        clock: systemClock,
        signal: AbortSignal.any([stopSignal(), parentGone()]),
        onProgress: progress.at,
        onCovered: (planned: ImportReport) => tell(coveredInWords(planned)),
        onSkipped: firstOnes(),
      };
      const done = fetches
        ? await fetchedBy(request, tell)
        : told(await runImport({ ...request, files, fetched: null }));
      progress.end();
      print(done, asked.json);
    } catch (error) {
      progress.end();
      process.exitCode = explain(error);
    } finally {
      // The channel to a publisher that started this would keep it alive.
      if (process.connected) process.disconnect?.();
    }
  },
});

function print({ report, words, ok }: FetchReport, isJson = false): void {
  console.log(isJson ? JSON.stringify(report) : words);
  if (!ok) process.exitCode = 1;
}

const told = (report: ImportReport): FetchReport => ({
  report,
  words: reportInWords(report),
  ok: true,
});

/** A country and a list of files are many runs. */
async function fetchedBy(
  request: FetchRequest,
  tell: (line: string) => void,
): Promise<FetchReport> {
  const { format, checkOnly } = request;
  const isOne = !countryNames.includes(format) && !isList(format);
  if (isOne) return told(await fetchAndImport(request));
  return checkOnly ? planFetch(request) : fetchAll(request, tell);
}

/** What is wrong with the command as it was given, or null. */
function slipOf(
  format: string,
  files: readonly string[],
  { fetches, asOf, years }: { fetches: boolean; asOf: string | undefined; years: string },
): string | null {
  const isCountry = countryNames.includes(format);
  const isAlone = files.length === 0 && fetchable.includes(format);
  const how = isCountry ? `${format} --fetch, first with --check` : `${format} <files…>`;
  const slips: [boolean, string][] = [
    [formats.includes(format), `${format} is not a format. Give one of ${formats.join(", ")}.`],
    [z.iso.date().optional().safeParse(asOf).success, "--as-of: give a date as YYYY-MM-DD."],
    [/^(?:[1-9]|1\d|20)$/.test(years), "--years: give a whole number from 1 to 20."],
    [!fetches || isAlone, `--fetch stands alone, without files, for ${fetchable.join(", ")}.`],
    [fetches || (files.length > 0 && !isCountry), `Say what to import: import ${how}`],
  ];
  return slips.find(([isRight]) => !isRight)?.[1] ?? null;
}

/** Ends the process when the store holds a sample, with the two commands that make a directory of these files instead. */
async function refuseMixing(store: Store, folder: string, files: readonly string[]): Promise<void> {
  if (!(await holdsSample(store))) return;
  const given = process.argv.slice(2);
  const day = files
    .filter((file) => existsSync(file))
    .map(fileDay)
    .sort()
    .at(-1);
  const isDated = day === undefined || given.some((word) => word.startsWith("--as-of"));
  const words = [...given, ...(isDated ? [] : ["--as-of", day])];
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

/** A signal that fires when the publisher that started this process is gone. */
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

/** Shows the first malformed rows; the others are only counted. */
function firstOnes(): (problem: string) => void {
  let shown = 0;
  return (problem) => {
    shown += 1;
    if (shown <= skippedShownMax) console.error(`left out: ${problem}`);
    if (shown === skippedShownMax) console.error("left out: further rows are only counted");
  };
}

await runCommand(command);
