import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import fetching from "#content/editorial/fetching.json";
import knownRegisters from "#content/editorial/registers.json";
import { openLease } from "#content/operation/lease-store.ts";
import {
  emptyReport,
  type ImportReport,
  lastFetched,
  noteFetch,
} from "#content/register/import-store.ts";
import { boundedText, fetchPlain } from "#content/runtime/plain-fetch.ts";
import { every } from "#content/runtime/timing.ts";
import type { FetchedVersion } from "#content/store/tables/publishing.ts";
import {
  askFile,
  FetchFailed,
  type FetchedFile,
  fetchFile,
  type FetchOptions,
} from "./fetch-file.ts";
import { BadInput } from "./read-file.ts";
import { reportInWords } from "./report.ts";
import { Interrupted, runImport, type ImportRequest } from "./run-import.ts";

/** A register whose page links to its files: the pattern of their addresses captures the year first. */
type FileList = { page: string; names: string };
const lists: Readonly<Record<string, FileList>> = fetching.lists;

/** Whether a register's files are tables that must be read together. */
const isTogether = (register: string): boolean =>
  knownRegisters.some((entry) => entry.id === register && "together" in entry);

/** Whether a register has many independent files: each is fetched, imported and removed before the next. */
export const isList = (register: string): boolean => Object.hasOwn(lists, register);

/** Registers whose files can be fetched from their publishers. */
export const publishedRegisters = knownRegisters.flatMap(({ id, files }) =>
  files.length > 0 || isList(id) ? [id] : [],
);

const countries: Readonly<Record<string, string[]>> = fetching.countries;
export const countryNames = Object.keys(countries);

/** The registers that a name stands for, in the order of fetching: one register, or those of a country. */
export const registersOf = (name: string): string[] => countries[name] ?? [name];

export type FetchRequest = Omit<ImportRequest, "files" | "fetched"> & {
  /** Replaces the publishers' origins, for a mirror; undefined for the real ones. */
  origin: string | undefined;
  /** How many of the newest years of a list to take. */
  years: number;
  /** Only these of the register's files; by default all. */
  urls?: string[];
  /** Timeouts and retries; for tests. */
  patience?: Pick<FetchOptions, "stallMs" | "totalMs" | "bytesMax" | "triesMax" | "firstWaitMs">;
};

/** The present addresses of a register's files; those of a list sorted by newest year. Throws FetchFailed. */
export async function publishedFiles(register: string, request: FetchRequest): Promise<string[]> {
  const list = lists[register];
  const registerFiles = knownRegisters.find(({ id }) => id === register)?.files ?? [];
  const files = list ? await listedFiles(list, request) : registerFiles;
  return files.map((url) => at(url, request.origin));
}

const pageBytesMax = 2 * 2 ** 20;
const pageMs = 60_000;

/** The page may link anywhere, so only whole addresses that match the pattern count. */
async function listedFiles(list: FileList, request: FetchRequest): Promise<string[]> {
  const { origin, clock, signal, years } = request;
  const either = AbortSignal.any([signal, AbortSignal.timeout(pageMs)]);
  const page = await fetchPlain(at(list.page, origin), { signal: either })
    .then((answer) => boundedText(answer, pageBytesMax))
    .catch(() => "");
  const links = [...page.matchAll(/\bhref\s*=\s*["']([^"'\s]{1,300})["']/gi)].map(
    ([, link = ""]) => URL.parse(link, list.page)?.href ?? "",
  );
  const names = new RegExp(list.names);
  const byYear = Map.groupBy(new Set(links), (url) => Number(names.exec(url)?.[1] ?? Infinity));
  const past = [...byYear.keys()].filter((year) => year <= clock().getUTCFullYear());
  const newest = past.sort((a, b) => b - a).slice(0, years);
  if (newest.length > 0) return newest.flatMap((year) => byYear.get(year) ?? []);
  throw new FetchFailed(`${list.page}: it did not answer, or links to no such file`);
}

/** A published address, moved to another origin if one is set. */
function at(url: string, origin: string | undefined): string {
  const { pathname, search } = new URL(url);
  return origin === undefined ? url : `${origin}${pathname}${search}`;
}

/** The output, as JSON or text; `ok` is false when a part failed. */
export type FetchReport = { report: unknown; words: string; ok: boolean };

/** After this many failures a list is given up: its server, or the layout of its files, has a fault. */
const problemsMax = 5;

/** Returns null and adds to `problems` when a server or a file fails; other errors are thrown. */
const attempt = <Value>(work: Promise<Value>, problems: string[]): Promise<Value | null> =>
  work.catch((error: unknown) => {
    if (!(error instanceof FetchFailed || error instanceof BadInput)) throw error;
    problems.push(error.message);
    return null;
  });

/**
 * Fetches and imports the registers of a country, or the files of a list, one after the other. A failure does not stop the
 * others and is stored for the health page. `tell` gets a line for each. Throws Interrupted.
 */
export async function fetchAll(
  request: FetchRequest,
  tell: (line: string) => void,
): Promise<FetchReport> {
  const names = registersOf(request.format);
  const [registers, failed]: [object[], string[]] = [[], []];
  for (const [before, format] of names.entries()) {
    const place = `${before + 1} of ${names.length}: ${format}`;
    tell(place);
    const onProgress: FetchRequest["onProgress"] = (step, ...rest) =>
      request.onProgress(`${place}, ${step}`, ...rest);
    const outcome = await fetchEach({ ...request, format, onProgress });
    for (const line of [...outcome.reports.map(reportInWords), ...outcome.problems]) tell(line);
    failed.push(...outcome.problems.map((problem) => `  ${format}: ${problem}`));
    registers.push({ register: format, ...outcome });
  }
  const lines = failed.length > 0 ? ["failed:", ...failed, fetching.advice] : ["all is here"];
  const report = { name: request.format, registers };
  return { report, words: `${request.format}: ${lines.join("\n")}`, ok: failed.length === 0 };
}

async function fetchEach(request: FetchRequest) {
  const { store, format, clock } = request;
  const [reports, problems]: [ImportReport[], string[]] = [[], []];
  const all = (await attempt(publishedFiles(format, request), problems)) ?? [];
  const parts = isList(format) ? all.map((url) => [url]) : [all];
  for (const urls of parts) {
    if (problems.length === problemsMax) break;
    const report = await attempt(fetchAndImport({ ...request, urls }), problems);
    // Hundreds of files may have been imported before.
    if (report !== null && (report.files.length > 0 || !isList(format))) reports.push(report);
  }
  if (isList(format) && !request.signal.aborted) {
    const fetched = await lastFetched(store, format, false);
    const problem = problems.join("; ") || null;
    await store.write((tx) => noteFetch(tx, { format, fetched, problem, now: clock() }));
  }
  return { reports, problems };
}

const estimates: Readonly<Record<string, { seconds_per_mb: number; disk_times: number }>> =
  fetching.estimates;
const mega = (bytes: number): string => `${Math.ceil(bytes / 1e6).toLocaleString("en")} MB`;

/** Reports what would be fetched in which order, what is new, and its time and disk space. Fetches no file. */
export async function planFetch(request: FetchRequest): Promise<FetchReport> {
  const names = registersOf(request.format);
  const registers = [];
  const lines: string[] = [];
  const total = { bytes: 0, minutes: 0, disk_bytes: 0 };
  for (const [before, register] of names.entries()) {
    const { files, problems } = await filesOf(register, request);
    const bytes = files.reduce((sum, file) => sum + (file.is_new ? (file.bytes ?? 0) : 0), 0);
    const { seconds_per_mb, disk_times } = estimates[register] ?? fetching.estimates.other;
    const minutes = Math.ceil(((bytes / 1e6) * seconds_per_mb) / 60);
    total.bytes += bytes;
    total.minutes += minutes;
    total.disk_bytes += Math.ceil(bytes * disk_times);
    registers.push({ register, bytes, minutes, files, problems });
    const news = `${files.filter(({ is_new }) => is_new).length} of ${files.length} files are new`;
    const place = `${before + 1} of ${names.length}: ${register}`;
    lines.push(`${place}: ${news}, ${mega(bytes)}, about ${minutes} min`, ...problems);
  }
  const sums = `${mega(total.bytes)}, ${total.minutes} min, ${mega(total.disk_bytes)} of disk`;
  lines.push(`Nothing was fetched. In all ${sums}. ${fetching.estimated}`);
  const ok = registers.every(({ problems }) => problems.length === 0);
  return { report: { estimated: total, registers }, words: lines.join("\n"), ok };
}

async function filesOf(register: string, request: FetchRequest) {
  const problems: string[] = [];
  const before = await lastFetched(request.store, register, !isList(register));
  const files: { url: string; bytes: number | null; is_new: boolean }[] = [];
  for (const url of (await attempt(publishedFiles(register, request), problems)) ?? []) {
    const earlier = before.find((file) => file.url === url) ?? null;
    const fetched = await attempt(askFile(url, request.signal, earlier), problems);
    if (fetched === undefined) problems.push(`${url}: no such file`);
    files.push({ url, bytes: null, is_new: false, ...fetched });
  }
  return { files, problems };
}

const leaseMs = 120_000;
const problemLengthMax = 1_000;

/**
 * Fetches the files of a register, unless the last import had the same versions, and imports what is new. Failures are
 * stored for the health page. Throws FetchFailed and all that runImport throws.
 */
export async function fetchAndImport(request: FetchRequest): Promise<ImportReport> {
  const { store, format, clock } = request;
  const lease = openLease(store, clock, { name: `fetch:${format}`, ms: leaseMs });
  if (!(await lease.hold())) throw new FetchFailed(`another process is fetching ${format}`);
  const keeping = every(() => lease.hold(), { everyMs: leaseMs / 4, onFailure: () => {} });
  try {
    return await importNew(request);
  } catch (thrown) {
    const stopped = request.signal.aborted && thrown instanceof FetchFailed;
    const error = stopped ? new Interrupted("interrupted; run the same command again") : thrown;
    const problem = error instanceof Error ? error.message.slice(0, problemLengthMax) : "unknown";
    const note = { format, fetched: [], problem, now: clock() };
    if (!request.checkOnly) await store.write((tx) => noteFetch(tx, note));
    throw error;
  } finally {
    await keeping.stop();
    await lease.leave();
  }
}

async function importNew(request: FetchRequest): Promise<ImportReport> {
  const { store, format, clock } = request;
  const register = knownRegisters.find(({ id }) => id === format);
  const urls = request.urls ?? (await publishedFiles(format, request));
  const before = await lastFetched(store, format, !isList(format));
  const newFiles = await fetchNew(request, urls, before);
  const others = isList(format) ? before.filter(({ url }) => !urls.includes(url)) : [];
  const versions = [...others, ...newFiles.map(({ url, version }) => ({ url, ...version }))];
  const files = newFiles.flatMap(({ file }) => file ?? []);
  const isNew = files.length > 0;
  try {
    const scope = register?.selection === true ? "none" : request.scope;
    const report = isNew
      ? await runImport({ ...request, files, scope, fetched: versions })
      : emptyReport(format, []);
    if (!isNew && !request.checkOnly && !isList(format)) {
      const note = { format, fetched: versions, problem: null, now: clock() };
      await store.write((tx) => noteFetch(tx, note));
    }
    report.fetched = newFiles.map(({ url, bytes, file }) => ({
      url,
      bytes,
      unchanged: file === null,
    }));
    return report;
  } finally {
    if (!request.signal.aborted) for (const file of files) await rm(file, { force: true });
  }
}

/** If one of several files that belong together is new, the others are fetched again, too. */
async function fetchNew(
  request: FetchRequest,
  urls: readonly string[],
  before: readonly FetchedVersion[],
): Promise<FetchedFile[]> {
  const files: FetchedFile[] = [];
  for (const url of urls) files.push(await fetchOne(request, url, before));
  const isPart = new Set(files.map(({ file }) => file === null)).size > 1;
  return isPart && isTogether(request.format) ? fetchNew(request, urls, []) : files;
}

function fetchOne(
  { dataDir, format, signal, patience, onProgress }: FetchRequest,
  url: string,
  before: readonly FetchedVersion[],
): Promise<FetchedFile> {
  const folder = join(dataDir, "registers", format);
  const earlier = before.find((file) => file.url === url) ?? null;
  const step = `${basename(new URL(url).pathname)} in MB`;
  const onBytes: FetchOptions["onBytes"] = (done, total) =>
    onProgress(step, Math.ceil(done / 1e6), Math.ceil((total ?? 0) / 1e6));
  return fetchFile(url, { ...patience, folder, before: earlier, signal, onBytes });
}
