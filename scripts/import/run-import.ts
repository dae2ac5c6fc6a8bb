import { readFileSync, statfsSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "csv-parse/sync";
import { findService } from "#api/operator/running-service.ts";
import { mergeIndex } from "#content/find/index-store.ts";
import type { Pace } from "#content/register/apply-rows.ts";
import {
  causeMapping,
  type CauseMapping,
  type MappingTables,
} from "#content/register/cause-mapping.ts";
import {
  bytesNeeded,
  type ImportFailure,
  type ImportInput,
  importRegister,
  type ImportSource,
  type ImportWorld,
} from "#content/register/import.ts";
import { type ImportReport, filesRead } from "#content/register/import-store.ts";
import type { RegisterFile } from "#content/register/stage-rows.ts";
import { softwareVersion } from "#content/store/software.ts";
import { acnc } from "./acnc.ts";
import { ccew } from "./ccew.ts";
import {
  type CsvFormat,
  type DocumentFormat,
  type Format,
  type OpenContext,
  type OpenedFile,
  readRow,
} from "./format.ts";
import { irs1023ez, irs990, irsBmf } from "./irs.ts";
import { irs990Xml } from "./irs-990-xml.ts";
import { irs990n, irsPub78, irsRevocations } from "./irs-lists.ts";
import { documentFile, documentsDigest } from "./read-documents.ts";
import { BadInput, fileDay, filesIn, fileSize, readCsv, readLines } from "./read-file.ts";
import { openStaging } from "./staging.ts";
import { ukRegister, ukcat } from "./uk.ts";

export type ImportRequest = Omit<ImportInput, "source" | "files"> &
  Pick<ImportWorld, "store" | "clock" | "signal" | "onCovered"> & {
    /** Paths. */
    files: string[];
    dataDir: string;
    /** The date of the data, YYYY-MM-DD; null for the date on which each file was last changed. */
    asOf: string | null;
    /** Called while fetching (MB), reading (bytes), and applying and linking (organisations). */
    onProgress: (step: string, done: number, total: number) => void;
    /** Called for each malformed row that is left out, and for files that a register lacks or does not use. */
    onSkipped: (problem: string) => void;
  };

/** An import that ended early. What was applied stays, and running it again finishes the work. */
export class Interrupted extends Error {
  override name = "Interrupted";
}

/** Imports files. Throws BadInput (the store is unchanged) or Interrupted. */
export async function runImport(request: ImportRequest): Promise<ImportReport> {
  const startedMs = performance.now();
  const { store, clock, signal, dataDir, onProgress, onCovered, onSkipped } = request;
  const { files, marks } = await unreadOf(request);
  let staging: ReturnType<typeof openStaging> | null = null;
  const freeBytes = () => {
    const { bavail, bsize } = statfsSync(dataDir);
    return bavail * bsize;
  };
  try {
    staging = openStaging(dataDir);
    const isBeside = !store.embedded || (await findService(dataDir)) !== null;
    const world: ImportWorld = {
      store,
      clock,
      signal,
      staging,
      onProgress,
      onCovered,
      pace: startPace(isBeside ? transactionBesideMs : transactionMs),
      mergeIndex: () => mergeIndex(store),
      freeBytes,
      onSkipped: ({ file, line, problem }) => onSkipped(new BadInput(file, line, problem).message),
    };
    const source = sourceOf({ ...request, files });
    const input = { ...request, source, files: files.map((file) => basename(file)), marks };
    const outcome = await importRegister(world, input);
    if (!outcome.ok) throw errorOf(outcome.failure, request);
    outcome.value.known = request.files.length - files.length;
    outcome.value.seconds = (performance.now() - startedMs) / 1_000;
    return outcome.value;
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    throw new BadInput(
      dataDir,
      null,
      shortOf(staging === null ? 0 : bytesNeeded(staging), freeBytes()),
    );
  } finally {
    staging?.close();
  }
}

/** The files and folders to read, and their marks, without documents that were imported before. */
async function unreadOf({ store, format, files, checkOnly }: ImportRequest) {
  if (checkOnly || !isOfDocuments(formatNamed(format))) return { files, marks: [] };
  const readMarks = await filesRead(store, format);
  const unread: [file: string, mark: string][] = [];
  for (const file of files) {
    const mark = `sha256:${documentsDigest(file)} ${softwareVersion()}`;
    if (!readMarks.has(mark)) unread.push([file, mark]);
  }
  return { files: unread.map(([file]) => file), marks: unread.map(([, mark]) => mark) };
}

const formatNamed = (format: string) => registerFormats.find(({ name }) => name === format);

const isOfDocuments = (format: Format | undefined): format is DocumentFormat =>
  format !== undefined && "readFile" in format;

function sourceOf(request: ImportRequest): ImportSource {
  const { format, asOf, clock, onProgress, dataDir, onSkipped } = request;
  const register = formatNamed(format);
  const files = filesIn(request.files, isOfDocuments(register) ? documentFile : undefined);
  const total = files.map(fileSize).reduce((sum, size) => sum + size, 0);
  let doneBytes = 0;
  const onBytes = (bytes: number) => onProgress("reading", (doneBytes += bytes), total);
  if (register === undefined) {
    const recordFile = (name: string) => ({ name, lines: readLines(name, onBytes) });
    return { register: null, read: () => files.map(recordFile) };
  }
  // No register has data about dates more than a year ahead.
  const latest = new Date(clock().getTime() + yearMs).toISOString();
  const opening = { dataDir, latest, onBytes, onLeftOut: onSkipped };
  const today = clock().toISOString().slice(0, 10);
  const tables = isOfDocuments(register)
    ? files.map((name) => ({ name, rows: register.readFile(name, onBytes, today) }))
    : openTables(register, files, opening);
  const read = () => tables.map((file) => ({ ...file, day: asOf ?? fileDay(file.name) }));
  return { register, read };
}

function openTables(format: CsvFormat, files: readonly string[], context: OpenContext) {
  const reading = { mapping: loadCauseMapping(), latest: context.latest };
  const tables =
    format.open?.(files, context) ??
    files.map((name) => ({ name, rows: readCsv(name, format, context.onBytes) }));
  return tables.map(({ name, rows }) => ({ name, rows: rowsOf(format, rows, reading) }));
}

const yearMs = 366 * 86_400_000;

async function* rowsOf(
  format: CsvFormat,
  rows: OpenedFile["rows"],
  reading: { mapping: CauseMapping; latest: string },
): RegisterFile["rows"] {
  for await (const entry of rows) {
    if ("problem" in entry) {
      yield entry;
      continue;
    }
    const { row, line } = entry;
    const part = format.parts?.ofRow(row) ?? "";
    yield { line, part, outcome: readRow(format, row, reading) };
  }
}

const n = (count: number): string => count.toLocaleString("en");
const giga = (size: number): string => `${(Math.ceil(size / 1e7) / 100).toFixed(2)} GB`;

/** Says how much disk space is missing; never zero, because the disk did fill up. */
const shortOf = (needed: number, free: number): string =>
  `the disk is too full: about ${giga(Math.max(needed - free, 1e7))} are missing (${giga(free)} of ${giga(needed)} are free). Free that much and run the same command again`;

export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error &&
  (/SQLITE_FULL|ENOSPC|disk is full/i.test(
    `${"code" in error ? String(error.code) : ""} ${error.message}`,
  ) ||
    isDiskFull(error.cause));

/** The error for a failure, in words for an operator. */
function errorOf(failure: ImportFailure, { files, dataDir }: ImportRequest): Error {
  const badInput = (place: string, problem: string) => new BadInput(place, null, problem);
  if (failure.kind === "interrupted") {
    const { stored } = failure;
    const progress = stored === null ? "nothing was written" : `${n(stored)} nonprofits are stored`;
    const then = stored === null ? "begin from the start" : "finish";
    return new Interrupted(`interrupted; ${progress}. Run the same command again to ${then}`);
  }
  if (failure.kind === "bad_row") {
    return new BadInput(failure.file, failure.line, failure.problem);
  }
  if (failure.kind === "no_rows") {
    return badInput(failure.file, "there is no row under the header");
  }
  if (failure.kind === "too_many_bad") {
    const { bad, rows } = failure;
    const problem = `${n(bad)} of ${n(rows)} rows are malformed, more than 1 %: the register may have a new layout; --skip-bad takes the others in anyway`;
    return badInput(failure.file, problem);
  }
  if (failure.kind === "not_yet") {
    const problem = `it is as of ${failure.as_of}, which is yet to come; see --as-of`;
    return badInput(failure.file, problem);
  }
  if (failure.kind === "disk_too_small") {
    return badInput(dataDir, shortOf(failure.needed, failure.free));
  }
  if (failure.kind === "unknown_parts") {
    const [unknown, known] = [failure.unknown, failure.known].map((parts) => parts.join(", "));
    return badInput("--scope", `no row and no profile is in ${unknown}: send some of ${known}`);
  }
  const { part } = failure;
  const problem =
    failure.kind === "older"
      ? `this is as of ${failure.as_of}, and ${part} was read as of ${failure.read} already; give a newer file, or the right date with --as-of`
      : `${n(failure.gone)} of the ${n(failure.had)} organisations of ${part} would be withdrawn; the file seems incomplete. --scope none withdraws none of them, --withdraw-many all`;
  return badInput(files.join(", "), problem);
}

/** Target time for which a transaction holds the write lock, in milliseconds; each has an overhead of 10 ms. */
const transactionMs = 140;
/** Beside a service, whose own writes are to be stored within 100 ms. */
const transactionBesideMs = 40;
const sizeMin = 10;
const sizeMax = 1_500;
/** About as long as others wait between attempts at the lock; they would hit a shorter pause only by luck. */
const pauseMs = 30;

/** Finds how many organisations fit into a transaction of this length, and pauses between two. */
function startPace(lengthMs: number): Pace {
  let size = 100;
  return {
    size: (): number => size,
    run: async <Value>(work: () => Promise<Value>): Promise<Value> => {
      const startedMs = performance.now();
      const value = await work();
      const tookMs = Math.max(performance.now() - startedMs, 1);
      // Moves half-way to the size that would have taken the target time, because one slow commit is no trend.
      size = Math.round((size + size * Math.min(lengthMs / tookMs, 2)) / 2);
      size = Math.min(Math.max(size, sizeMin), sizeMax);
      await Bun.sleep(pauseMs);
      return value;
    },
  };
}

export const registerFormats: readonly Format[] = [
  irsBmf,
  irsPub78,
  irsRevocations,
  irs990n,
  irs990,
  irs990Xml,
  irs1023ez,
  ccew,
  ukRegister("oscr"),
  ukRegister("ccni"),
  ukcat,
  acnc,
];

/** All names that `import` knows, ours last. */
export const formatNames = [...registerFormats.map(({ name }) => name), "ndjson"];

const folder = join(import.meta.dirname, "../../content/editorial/mapping");

let mapping: CauseMapping | undefined;

/** The mapping of registers' codes to causes, read once from the tables in content/editorial/mapping. */
export const loadCauseMapping = (): CauseMapping =>
  (mapping ??= causeMapping({
    ntee: table("ntee", "NTEE_TO_CAUSES"),
    activity: table("activity", "ACTIVITY_TO_NTEE"),
    keywords: table("keywords", "NAME_KEYWORDS_TO_CAUSES"),
    ukcat: table("ukcat", "UKCAT_TO_CAUSES"),
    icnptso: table("icnptso", "ICNPTSO_TO_CAUSES"),
    purposes: table("purposes", "PURPOSES_TO_CAUSES"),
  }));

type Tables = { [Name in keyof MappingTables]: MappingTables[Name][number] };

// The type of a row follows from the name of its table; causeMapping refuses unknown causes.
const table = <Name extends keyof Tables>(_: Name, file: string): Tables[Name][] =>
  parse<Tables[Name]>(readFileSync(join(folder, `${file}.csv`)), { columns: true, bom: true });
