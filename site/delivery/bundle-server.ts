import { sha256OfFile } from "#content/runtime/digest.ts";
import { addressOf, qualitiesIn } from "#content/contract/base/request.ts";
import { fileAccepted } from "#content/contract/operations/list-file.ts";
import { statSync } from "node:fs";
import { browseAddressOf, givingProfileOf, headersOf, redirectOf } from "./http-headers.ts";
import { markdownPathOf } from "#site/parts/markdown.ts";
import { translationCodes } from "#content/language/languages.ts";
import { addressesWhere } from "#content/language/address-pattern.ts";
import { inSegmentBytesMax } from "#site/bundle/blobs.ts";
import type { ManifestFile } from "#site/bundle/manifest.ts";
import type { BundleReader } from "./bundle-reader.ts";
import { detachedCopy } from "#content/contract/operations/query.ts";
import { weighedCache } from "#content/runtime/cache.ts";
import { type EncodedFile, encodeFile, inPlaceOfPage, type CachedAnswer } from "./encoded-file.ts";

export type BundleServer = ReturnType<typeof createBundleServer>;

type OnServed = (urlPath: string, request: Request) => void;

const queryAddresses = addressesWhere(({ from }) => from === "queried");
/** Whether the request has a query, or prefers a file format to JSON, at an address where the service answers these. */
export function asksService(request: Request): boolean {
  const { path, hasQuery } = addressOf(request);
  const isAsked = hasQuery || fileAccepted(request.headers.get("accept")) !== null;
  return isAsked && queryAddresses.test(withoutSlash(path));
}
/** The service answers an address with and without a slash at its end. */
const withoutSlash = (path: string): string => path.replace(/(?<=.)\/$/, "");
/** Live counters, second opinions, credit, donations: the service answers these; the bundle has an older copy. */
const alwaysLive = addressesWhere(({ from }) => from === "live");
/** Addresses that the service may answer without a file, also translated ones; at others a browser gets the 404 page. */
const serviceMayAnswer = addressesWhere(({ from }) => from !== "file");

/** If a slug has capitals, or may be an id or a register number, the service may redirect to the right slug. */
const ofNonprofit = addressesWhere(({ path }) => path.includes("{slug}"));
const redirectedName = /[A-Z\d][^/]*$/;

/** The language prefix of a path: /es of /es/about, else "". */
const languageOf = (path: string): string => languagePrefix.exec(path)?.[0] ?? "";
const languagePrefix = new RegExp(`^/(?:${translationCodes})(?=/)`);

const cachedBytesMax = 64 * 1024 * 1024;
const headersBytes = 1_024;

/** The size of a cached file: its content, its compressed forms (about a third each), and its headers. */
const cachedBytes = ({ file }: EncodedFile): number =>
  headersBytes + (file.size <= inSegmentBytesMax ? Math.ceil(file.size * 1.7) : 0);

/**
 * A file server for the current release: strong ETags, 304, brotli, at most one look-up per request. `onServed` is called
 * for each file served, to count hits on discovery files and follow-ups; `onLost` for each file whose content is gone or
 * damaged. Where the service cannot answer instead, such a file is answered 503 until it is restored.
 */
export function createBundleServer(
  reader: BundleReader,
  { onServed, onLost = () => {} }: { onServed?: OnServed; onLost?: (path: string) => void } = {},
) {
  const lookUp = openLookUp(reader, onLost);
  const lostAnswer = (path: string): Response | null => {
    if (serviceMayAnswer.test(path) || reader.find(path) === null) return null;
    const headers = { "retry-after": "30", "content-type": "text/plain; charset=utf-8" };
    return new Response("This file is being restored. Try again in half a minute.\n", {
      status: 503,
      headers,
    });
  };
  const redirected = (path: string, query: string): Response | null => {
    const bare = redirectOf(path);
    if (bare === null || (lookUp(bare) === null && givenAtProfile(bare) === null)) return null;
    const location = bare + (query && `?${query}`);
    // For scripts of other sites too: without this header they may not follow the redirect.
    const headers = { location, "access-control-allow-origin": "*" };
    return new Response(null, { status: 308, headers });
  };
  const givenAtProfile = (path: string): Response | null => {
    const giving = givingProfileOf(path);
    if (giving === null || lookUp(giving.profile) === null) return null;
    // Cached and purged like the page that may be published at this address later.
    const { cacheControl, others } = headersOf(giving.page);
    const headers = { location: giving.location, "cache-control": cacheControl, ...others };
    return new Response(null, { status: 302, headers });
  };
  const redirectToBrowse = (path: string, query: string): Response | null => {
    const browseAddress = browseAddressOf(path, query);
    if (browseAddress === null || lookUp(browseAddress.list) === null) return null;
    return new Response(null, { status: 302, headers: { location: browseAddress.location } });
  };
  const standIn = (path: string, request: Request): Response | null =>
    lostAnswer(path) ??
    redirected(path, addressOf(request).query) ??
    givenAtProfile(path) ??
    missingAnswer(path, request);
  const missingAnswer = (path: string, request: Request): Response | null => {
    const bare = withoutSlash(path);
    if (
      serviceMayAnswer.test(bare) ||
      (ofNonprofit.test(bare) && redirectedName.test(bare.replaceAll(/%../g, "")))
    )
      return null;
    if (request.headers.get("accept")?.includes("text/html") !== true) return null;
    const page = lookUp(`${languageOf(path)}/404`) ?? lookUp("/404");
    return page === null ? null : answerWith(page, request, 404);
  };
  /** The markdown of a page for a client that prefers it; null when the path names the .html file itself. */
  const inMarkdown = (page: EncodedFile, path: string, request: Request): CachedAnswer | null => {
    if (path.endsWith(".html") || !prefersMarkdown(request.headers.get("accept"))) return null;
    const markdown = markdownPathOf(page.file.path);
    const encoded = markdown === null ? null : lookUp(`/${markdown}`);
    return encoded === null ? null : inPlaceOfPage(encoded.shownTo(request), encoded.file.path);
  };
  return {
    /** Answers from the bundle; null when the service is to be asked. */
    answer: (request: Request): Response | null => {
      if (request.method !== "GET" && request.method !== "HEAD") return null;
      const { path, hasQuery, query } = addressOf(request);
      if (alwaysLive.test(path) || asksService(request)) return null;
      const encoded = lookUp(path);
      const elsewhere = hasQuery || encoded === null ? redirectToBrowse(path, query) : null;
      if (elsewhere !== null || encoded === null) return elsewhere ?? standIn(path, request);
      onServed?.(path, request);
      return answerWith(encoded, request, 200, inMarkdown(encoded, path, request));
    },
  };
}

/** Returns a function that finds the file at a path in the current release, in the cache or else in the bundle. */
function openLookUp(
  reader: BundleReader,
  onLost: (path: string) => void,
): (urlPath: string) => EncodedFile | null {
  const cache = weighedCache(cachedBytesMax, cachedBytes);
  const versionNow = oncePerTurn(() => reader.version());
  const lookUp = (urlPath: string, version: number): EncodedFile | null => {
    const entry = cache.get(urlPath);
    if (entry?.version === version) return entry;
    const file = reader.find(urlPath);
    if (
      entry !== undefined &&
      entry.file.digest === file?.digest &&
      entry.file.path === file.path
    ) {
      entry.version = version;
      return entry;
    }
    cache.delete(urlPath);
    if (file === null) return null;
    const ownPath = reader.ownFile(file);
    const body = ownPath === null ? bodyOf(reader, file) : largeBody(ownPath, file);
    // The content is gone: either a newer release replaced the file, or it is lost.
    if (body === null) {
      const newest = reader.version();
      if (newest !== version) return lookUp(urlPath, newest);
      onLost(file.path);
      return null;
    }
    const isOwnFile = ownPath !== null;
    const newEntry = encodeFile(file, body, { version, read: reader.read, isOwnFile });
    // Detached, because the path is a slice of a URL whose query may be long.
    cache.set(detachedCopy(urlPath), newEntry);
    if (isOwnFile) void compare(urlPath, file, ownPath);
    return newEntry;
  };
  /** Compares a file too large for memory with its digest while it is first sent. */
  const compare = async (urlPath: string, file: ManifestFile, ownPath: string): Promise<void> => {
    // If the file is gone, the next look-up notices.
    const digest = await sha256OfFile(ownPath).catch(() => file.digest);
    if (digest === file.digest) return;
    cache.delete(urlPath);
    onLost(file.path);
  };
  return (urlPath) => lookUp(urlPath, versionNow());
}

const largeBody = (ownPath: string, { size }: ManifestFile): Blob | null =>
  statSync(ownPath, { throwIfNoEntry: false })?.size === size ? Bun.file(ownPath) : null;

function bodyOf(reader: BundleReader, file: ManifestFile): Blob | null {
  const bytes = reader.read(file);
  return bytes === null ? null : new Blob([bytes]);
}

/** Calls `ask` once for all requests of one turn of the event loop: a call costs as much as an answer. */
function oncePerTurn(ask: () => number): () => number {
  let answer: number | null = null;
  return () => {
    if (answer === null) {
      answer = ask();
      setImmediate(() => {
        answer = null;
      });
    }
    return answer;
  };
}

function answerWith(
  file: EncodedFile,
  request: Request,
  status: 200 | 404,
  instead: CachedAnswer | null = null,
): Response {
  const { body, etag, init } = instead ?? file.shownTo(request);
  const { headers } = init;
  const etags = request.headers.get("if-none-match");
  if (etags !== null && matches(etags, etag)) return new Response(null, { status: 304, headers });
  if (request.method !== "HEAD")
    return new Response(body, status === 200 ? init : { status, headers });
  const withLength = new Headers(headers);
  withLength.set("content-length", String(body.size));
  return new Response(null, { status, headers: withLength });
}

/** Whether an If-None-Match names this ETag. Weak forms match too, because a CDN may have weakened one of ours. */
const matches = (condition: string, etag: string): boolean =>
  condition === etag ||
  condition === "*" ||
  condition.split(",").some((name) => name.trim().replace(/^W\//, "") === etag);

const markdownPreferences = weighedCache<boolean>(100_000, undefined, {
  memoMethod: (accept) => namesMarkdown(accept),
});

/**
 * Whether a client prefers markdown to HTML: it names text/markdown, and ranks it no lower than text/html. Browsers never
 * do. Source: RFC 9110, "Accept"; site/delivery/edge/nginx/http.conf has the same rule.
 */
export const prefersMarkdown = (accept: string | null): boolean =>
  accept !== null && markdownPreferences.memo(accept);

function namesMarkdown(accept: string): boolean {
  const qualities = qualitiesIn(accept);
  const markdown = qualities.get("text/markdown") ?? 0;
  const page = ["text/html", "text/*", "*/*"].find((type) => qualities.has(type));
  return markdown > 0 && markdown >= (qualities.get(page ?? "") ?? 0);
}
