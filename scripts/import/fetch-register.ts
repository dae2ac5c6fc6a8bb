import { rm } from "node:fs/promises";
import { join } from "node:path";
import registers from "#content/editorial/registers.json";
import { every } from "#content/runtime/timing.ts";
import { openLease } from "#content/operation/lease-store.ts";
import { lastFetched, noteFetch } from "#content/register/import-store.ts";
import type { FetchedVersion } from "#content/store/tables/publishing.ts";
import { FetchFailed, type FetchedFile, fetchFile, type FetchOptions } from "./fetch-file.ts";
import { emptyReport, type ImportReport } from "#content/register/import-report.ts";
import { type ImportRequest, runImport } from "./run-import.ts";

export type FetchRequest = Omit<ImportRequest, "files" | "fetched"> & {
  /** Stands in place of the publishers' own origins, for a mirror; undefined for theirs. */
  origin: string | undefined;
  /** How patient a try is; for tests. */
  patience?: Pick<FetchOptions, "stallMs" | "totalMs" | "bytesMax" | "triesMax" | "firstWaitMs">;
};

const leaseMs = 120_000;
const problemLengthMax = 1_000;

/** The registers whose files can be fetched from where they are published. */
export const publishedRegisters = registers.flatMap(({ id, files }) =>
  files.length > 0 ? [id] : [],
);

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
  } catch (error) {
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
  const { store, dataDir, format, clock } = request;
  const register = registers.find(({ id }) => id === format);
  const urls = (register?.files ?? []).map((url) => at(url, request.origin));
  const before = await lastFetched(store, format);
  const folder = join(dataDir, "registers", format);
  const found: FetchedFile[] = [];
  const newFiles = () => found.flatMap(({ file }) => file ?? []);
  try {
    for (const url of urls) found.push(await fetchOne(request, { url, folder, before }));
    const versions = found.map(({ url, version }): FetchedVersion => ({ url, ...version }));
    const files = newFiles();
    const scope = register?.selection === true ? "none" : request.scope;
    const report =
      files.length === 0
        ? emptyReport(format, [])
        : await runImport({ ...request, files, scope, fetched: versions });
    if (files.length === 0 && !request.checkOnly) {
      const note = { format, fetched: versions, problem: null, now: clock() };
      await store.write((tx) => noteFetch(tx, note));
    }
    report.fetched = found.map(({ url, bytes, file }) => ({
      url,
      bytes,
      unchanged: file === null,
    }));
    return report;
  } finally {
    for (const file of newFiles()) await rm(file, { force: true });
  }
}

function fetchOne(
  { signal, patience, onProgress }: FetchRequest,
  { url, folder, before }: { url: string; folder: string; before: readonly FetchedVersion[] },
): Promise<FetchedFile> {
  const known = before.find((one) => one.url === url);
  const version =
    known === undefined ? null : { etag: known.etag, last_modified: known.last_modified };
  let bytes = 0;
  return fetchFile(url, {
    ...patience,
    folder,
    before: version,
    signal,
    onBytes: (more) => onProgress("fetching", (bytes += more), 0),
  });
}

/** A published address, at another origin where one is set. */
function at(url: string, origin: string | undefined): string {
  const { pathname, search } = new URL(url);
  return origin === undefined ? url : `${origin}${pathname}${search}`;
}
