import { AnswerRefused, fetchPlain, refuseCompressed } from "#content/runtime/plain-fetch.ts";
import { mkdir, open, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { retry } from "#content/runtime/concurrency.ts";

/** The version of a file, as the server names it. */
export const Version = z.object({
  etag: z.string().nullable(),
  /** The header's text. */
  last_modified: z.string().nullable(),
});
export type Version = z.infer<typeof Version>;

/** `file` is null when the server still has the given version. */
export type FetchedFile = { url: string; version: Version; file: string | null; bytes: number };

/** A file could not be fetched. The message names its address and the reason. Partial downloads stay for the next try. */
export class FetchFailed extends Error {
  override name = "FetchFailed";
}

export type FetchOptions = {
  /** The folder for the file, and for its partial download. */
  folder: string;
  /** The version that was imported before; null for none. */
  before: Version | null;
  signal: AbortSignal;
  /** Called with the bytes fetched so far and the total; null when the server does not announce it. */
  onBytes?: (done: number, total: number | null) => void;
  /** A try ends after this time without a byte. */
  stallMs?: number;
  /** Maximum time of all tries together. */
  totalMs?: number;
  bytesMax?: number;
  triesMax?: number;
  firstWaitMs?: number;
};

const limits = {
  stallMs: 60_000,
  totalMs: 2 * 3_600_000,
  bytesMax: 4 * 2 ** 30,
  triesMax: 8,
  firstWaitMs: 2_000,
};
const waitMaxMs = 120_000;

/** Statuses worth another try. */
const passing = new Set([408, 425, 429, 500, 502, 503, 504]);

type Outcome =
  | { kind: "fetched"; version: Version; bytes: number }
  | { kind: "unchanged"; version: Version }
  | { kind: "failed"; reason: string; again: boolean };

const failed = (reason: string, again = false): Outcome => ({ kind: "failed", reason, again });

/**
 * Fetches a file, unless the server still has the version `before`. An interrupted try continues where it ended, as long
 * as the server says that the file is the same. The file appears only when it has the announced size, with the time of its
 * version; an existing file is used while it is the server's newest. Throws FetchFailed.
 */
export async function fetchFile(url: string, options: FetchOptions): Promise<FetchedFile> {
  const { folder, before, signal } = options;
  const settings = { ...limits, ...options };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, basename(new URL(url).pathname));
  const present = await stat(file).catch(() => null);
  const presentVersion = present && { etag: null, last_modified: present.mtime.toUTCString() };
  const whole = AbortSignal.any([signal, AbortSignal.timeout(settings.totalMs)]);
  const outcome = await retry(
    () =>
      tryOnce(url, openPart(file, url), {
        ...settings,
        before: presentVersion ?? before,
        signal: whole,
      }),
    (tried) => tried.kind === "failed" && tried.again && !whole.aborted,
    { triesMax: settings.triesMax, firstMs: settings.firstWaitMs, waitMaxMs, signal: whole },
  );
  if (outcome.kind === "failed") throw new FetchFailed(`${url}: ${outcome.reason}`);
  if (outcome.kind === "unchanged") {
    if (presentVersion === null) return { url, version: before ?? noVersion, file: null, bytes: 0 };
    return { url, version: { ...presentVersion, etag: outcome.version.etag }, file, bytes: 0 };
  }
  const { version, bytes } = outcome;
  const dated = Date.parse(version.last_modified ?? "");
  if (!Number.isNaN(dated)) await utimes(file, dated / 1_000, dated / 1_000);
  return { url, version, file, bytes };
}

/** Whether a file is newer than `before`, and its size. Fetches nothing. Undefined when missing. Throws FetchFailed. */
export async function askFile(url: string, signal: AbortSignal, before: Version | null) {
  const either = AbortSignal.any([signal, AbortSignal.timeout(limits.stallMs)]);
  const asking = { method: "HEAD", headers: headersFor(before, null), signal: either };
  const answer = await fetchPlain(url, asking).catch((error: Error) => {
    throw new FetchFailed(`${url}: ${error.message}`);
  });
  const refusal = refusalOf(answer, url, before);
  if (refusal?.kind !== "failed") return { is_new: refusal === null, bytes: totalOf(answer) };
  if (refusal.again) throw new FetchFailed(`${url}: ${refusal.reason}`);
  return answer.status === 405 ? { is_new: true, bytes: null } : undefined;
}

const noVersion: Version = { etag: null, last_modified: null };

const Download = Version.extend({ url: z.string(), total: z.number().nullable() });
type Download = z.infer<typeof Download>;

/** A partial download, with the version that it belongs to in a file beside it. */
function openPart(file: string, url: string) {
  const part = `${file}.part`;
  const note = `${part}.json`;
  const drop = async () => {
    await rm(part, { force: true });
    await rm(note, { force: true });
  };
  return {
    path: part,
    drop,
    /** Null when there is no partial download to continue. */
    started: async (): Promise<(Download & { size: number }) | null> => {
      try {
        const started = Download.parse(JSON.parse(await readFile(note, "utf8")));
        const { size } = await stat(part);
        if (started.url === url && size > 0 && strongOf(started) !== null)
          return { ...started, size };
      } catch {
        // There is no partial download, or its note is incomplete.
      }
      await drop();
      return null;
    },
    start: (started: Download) => writeFile(note, JSON.stringify(started)),
    finish: async () => {
      await rename(part, file);
      await rm(note, { force: true });
    },
  };
}

/** The value for If-Range. A weak ETag is not allowed, because it does not promise the same bytes. */
const strongOf = ({ etag, last_modified }: Version): string | null =>
  etag !== null && !etag.startsWith("W/") ? etag : last_modified;

type TryOptions = Pick<FetchOptions, "before" | "signal" | "onBytes"> & typeof limits;

async function tryOnce(
  url: string,
  part: ReturnType<typeof openPart>,
  options: TryOptions,
): Promise<Outcome> {
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(), options.stallMs);
  try {
    const started = await part.started();
    const answer = await fetchPlain(url, {
      signal: AbortSignal.any([stalled.signal, options.signal]),
      headers: headersFor(options.before, started),
    });
    const refusal = refusalOf(answer, url, options.before);
    if (refusal !== null) {
      await answer.body?.cancel();
      // The server has no such range, so the file has changed.
      if (answer.status === 416) await part.drop();
      await asLongAsAsked(answer, options.signal);
      return refusal;
    }
    const resumed = answer.status === 206 ? started : null;
    if (answer.status === 206 && !continues(answer, started)) {
      await answer.body?.cancel();
      await part.drop();
      return failed("the server went on with another file, or at another place", true);
    }
    return await take(answer, part, { ...options, url, resumed, onChunk: () => timer.refresh() });
  } catch (error) {
    if (isDiskError(error)) throw error;
    const why = error instanceof Error ? error.message : "no answer";
    return failed(
      stalled.signal.aborted ? `nothing came for ${options.stallMs / 1_000} s` : why,
      !(error instanceof AnswerRefused),
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for the seconds in Retry-After, at most two minutes. */
async function asLongAsAsked({ headers }: Response, signal: AbortSignal): Promise<void> {
  const waitMs = Number(headers.get("retry-after") ?? 0) * 1_000;
  if (!(waitMs > 0)) return;
  await pause(Math.min(waitMs, waitMaxMs), undefined, { signal }).catch(() => undefined);
}

function headersFor(before: Version | null, started: (Download & { size: number }) | null) {
  const headers: Record<string, string> = {
    "user-agent": "Almoner (import of public registers)",
  };
  if (before?.etag != null) headers["if-none-match"] = before.etag;
  if (before?.last_modified != null) headers["if-modified-since"] = before.last_modified;
  const same = started === null ? null : strongOf(started);
  if (started !== null && same !== null) {
    headers["range"] = `bytes=${started.size}-`;
    headers["if-range"] = same;
  }
  return headers;
}

/** The refusal in an answer; null for an answer with the file or a part of it. */
function refusalOf(answer: Response, url: string, before: Version | null): Outcome | null {
  const { status, headers } = answer;
  if (status === 304) {
    const isConditional = before !== null && (before.etag ?? before.last_modified) !== null;
    if (isConditional) return { kind: "unchanged", version: versionOf(answer) };
    return failed("status 304 to a question without a condition");
  }
  if (status !== 200 && status !== 206) {
    return failed(`status ${status}`, passing.has(status) || status === 416);
  }
  if (url.startsWith("https:") && !answer.url.startsWith("https:")) {
    return failed("it leads to an address without TLS");
  }
  const type = headers.get("content-type") ?? "";
  return type.startsWith("text/html") ? failed("the server sent a web page") : null;
}

const versionOf = ({ headers }: Response): Version => ({
  etag: headers.get("etag"),
  last_modified: headers.get("last-modified"),
});

const Range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/;

/** Whether a 206 continues this very file exactly where it ended. */
function continues(answer: Response, started: (Download & { size: number }) | null): boolean {
  const [, from, , total] = Range.exec(answer.headers.get("content-range") ?? "") ?? [];
  if (started === null || Number(from) !== started.size) return false;
  if (total !== "*" && started.total !== null && Number(total) !== started.total) return false;
  const { etag, last_modified } = versionOf(answer);
  return etag === null
    ? last_modified === null || last_modified === started.last_modified
    : etag === started.etag;
}

type Taking = Pick<TryOptions, "bytesMax" | "onBytes"> & {
  url: string;
  /** The earlier part, if the answer continues it. */
  resumed: (Download & { size: number }) | null;
  onChunk: () => void;
};

/** Appends the answer to the earlier part, and checks whether the file is complete. */
async function take(
  answer: Response,
  part: ReturnType<typeof openPart>,
  taking: Taking,
): Promise<Outcome> {
  const { url, bytesMax, resumed } = taking;
  const { etag, last_modified } = resumed ?? versionOf(answer);
  const total = resumed === null ? totalOf(answer) : (resumed.total ?? rangeTotal(answer));
  if ((total ?? 0) > bytesMax) return failed(`it has more than ${bytesMax} bytes`);
  if (resumed === null) await part.start({ url, total, etag, last_modified });
  const bytes = await write(answer, part.path, { ...taking, total });
  if (bytes > (total ?? bytesMax)) {
    await part.drop();
    return failed("more came than was announced, or than is taken", total !== null);
  }
  if (bytes < (total ?? 0)) return failed(`it ended after ${bytes} of ${total} bytes`, true);
  if (!(await isAsNamed(url, part.path))) {
    await part.drop();
    return failed("the server sent something else in place of a zip file");
  }
  await part.finish();
  return { kind: "fetched", version: { etag, last_modified }, bytes };
}

const isAsNamed = async (url: string, path: string): Promise<boolean> =>
  !new URL(url).pathname.endsWith(".zip") || (await Bun.file(path).slice(0, 2).text()) === "PK";

/** Returns the size of the file so far. Writes nothing beyond `total` or `bytesMax`. */
async function write(
  answer: Response,
  path: string,
  { url, resumed, total, bytesMax, onBytes, onChunk }: Taking & { total: number | null },
): Promise<number> {
  // Some servers use the same header for a gzip file.
  if (!url.endsWith(".gz")) await refuseCompressed(answer);
  const out = await open(path, resumed === null ? "w" : "a");
  let size = resumed?.size ?? 0;
  try {
    for await (const chunk of answer.body ?? []) {
      onChunk();
      size += chunk.length;
      onBytes?.(size, total);
      if (size > (total ?? bytesMax)) break;
      await out.write(chunk);
    }
  } finally {
    await out.close();
  }
  return size;
}

/** The announced size of the whole file in bytes; null when unknown. */
function totalOf({ headers }: Response): number | null {
  const length = headers.get("content-length");
  return length === null ? null : Number(length);
}

const rangeTotal = ({ headers }: Response): number | null => {
  const total = Range.exec(headers.get("content-range") ?? "")?.[3] ?? "*";
  return total === "*" ? null : Number(total);
};

/** Disk errors are not the server's fault, and another try does not help. */
const isDiskError = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  ["ENOSPC", "EACCES", "EROFS", "EMFILE", "EDQUOT"].includes(String(error.code));
