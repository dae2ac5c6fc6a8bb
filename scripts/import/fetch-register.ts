import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import registers from "#content/editorial/registers.json";
import { every } from "#content/runtime/timing.ts";
import { openLease } from "#content/operation/lease-store.ts";
import {
  lastFetched,
  noteFetch,
  emptyReport,
  type ImportReport,
} from "#content/register/import-store.ts";
import type { FetchedVersion } from "#content/store/tables/publishing.ts";
import { FetchFailed, type FetchedFile, fetchFile, type FetchOptions } from "./fetch-file.ts";
import { type FetchRequest, isList, isTogether, publishedFiles } from "./published.ts";
import { Interrupted, runImport } from "./run-import.ts";

const leaseMs = 120_000;
const problemLengthMax = 1_000;

/**
 * Fetches what a register publishes, unless the newest import of it had the same versions, and imports what is new.
 * Failures are noted in the store, for the health page. Throws FetchFailed and all that runImport does.
 */
export async function fetchAndImport(request: FetchRequest): Promise<ImportReport> {
  const { store, format, clock } = request;
  const lease = openLease(store, clock, { name: `fetch:${format}`, ms: leaseMs });
  if (!(await lease.hold())) throw new FetchFailed(`another process is fetching ${format}`);
  const keeping = every(() => lease.hold(), { everyMs: leaseMs / 4, onFailure: () => {} });
  try {
    return await fetched(request);
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

async function fetched(request: FetchRequest): Promise<ImportReport> {
  const { store, format, clock } = request;
  const register = registers.find(({ id }) => id === format);
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

/** Of files that are read together, the others are fetched again beside one that is new. */
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
