import { sha256OfFile } from "#content/runtime/digest.ts";
import { qualitiesIn } from "#content/contract/base/accept.ts";
import { addressOf } from "#content/contract/base/request-address.ts";
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
/** With a query, or as a file that a program takes away, these are asked of the service; else the bundle holds the answer. */
export function asksService(request: Request): boolean {
  const { path, hasQuery } = addressOf(request);
  const isAsked = hasQuery || fileAccepted(request.headers.get("accept")) !== null;
  return isAsked && queryAddresses.test(path.replace(/(?<=.)\/$/, ""));
}
/** Live counters, second opinions, credit and gifts stand only in the service's answer; the bundle has those of a while ago. */
const alwaysLive = addressesWhere(({ from }) => from === "live");
/** What the service answers where the bundle has no file, profiles and lists in other languages among it; elsewhere a person who is lost sees a page. */
const ofService = addressesWhere(({ from }) => from !== "file");

/** What has a slug. In other letters, or with an id or a register number in its place, the service may know where it leads. */
const ofNonprofit = addressesWhere(({ path }) => path.includes("{slug}"));
const otherName = /\/(?:[^/]*[A-Z][^/]*|[\d-]+)$/;

/** The language in front of an address: /es of /es/about. */
const languageOf = (path: string): string => languagePrefix.exec(path)?.[0] ?? "";
const languagePrefix = new RegExp(`^/(?:${translationCodes})(?=/)`);

const cachedBytesMax = 64 * 1024 * 1024;
const headersBytes = 1_024;

/** The content of a file, the compressed forms that may join it (about a third each), and its headers. */
const cachedBytes = ({ file }: EncodedFile): number =>
  headersBytes + (file.size <= inSegmentBytesMax ? Math.ceil(file.size * 1.7) : 0);

/**
 * A file server over the current release: strong ETags, 304, brotli, and no more than one look-up per request. `onServed`
 * is called for each file that is served, for counting hits on discovery files and follow-throughs; `onLost` for each
 * whose content is gone or damaged: what the service cannot answer in its place is answered 503 until it is there again.
 */
export function createBundleServer(
  reader: BundleReader,
  { onServed, onLost = () => {} }: { onServed?: OnServed; onLost?: (path: string) => void } = {},
) {
  const lookUp = openLookUp(reader, onLost);
  const lostAnswer = (path: string): Response | null => {
    if (ofService.test(path) || reader.find(path) === null) return null;
    const headers = { "retry-after": "30", "content-type": "text/plain; charset=utf-8" };
    return new Response("This file is being restored. Try again in half a minute.\n", {
      status: 503,
      headers,
    });
  };
  const redirected = (path: string): Response | null => {
    const bare = redirectOf(path);
    if (bare === null || lookUp(bare) === null) return null;
    // For a script of another site, too: without its leave it may not follow.
    const headers = { location: bare, "access-control-allow-origin": "*" };
    return new Response(null, { status: 308, headers });
  };
  const givenAtProfile = (path: string): Response | null => {
    const giving = givingProfileOf(path);
    if (giving === null || lookUp(giving.profile) === null) return null;
    // Kept and purged like the page that may come to stand here.
    const { cacheControl, others } = headersOf(giving.page);
    const headers = { location: giving.location, "cache-control": cacheControl, ...others };
    return new Response(null, { status: 302, headers });
  };
  const atService = (path: string, query: string): Response | null => {
    const browseAddress = browseAddressOf(path, query);
    if (browseAddress === null || lookUp(browseAddress.list) === null) return null;
    return new Response(null, { status: 302, headers: { location: browseAddress.location } });
  };
  const standIn = (path: string, request: Request): Response | null =>
    lostAnswer(path) ?? redirected(path) ?? givenAtProfile(path) ?? missingAnswer(path, request);
  const missingAnswer = (path: string, request: Request): Response | null => {
    if (
      ofService.test(path) ||
      (ofNonprofit.test(path) && otherName.test(path.replaceAll(/%../g, "")))
    )
      return null;
    if (request.headers.get("accept")?.includes("text/html") !== true) return null;
    const page = lookUp(`${languageOf(path)}/404`) ?? lookUp("/404");
    return page === null ? null : answerWith(page, request, 404);
  };
  /** The markdown of a page for a reader who prefers it; a file that was asked for by its name is what it is. */
  const inMarkdown = (page: EncodedFile, path: string, request: Request): CachedAnswer | null => {
    if (path.endsWith(".html") || !prefersMarkdown(request.headers.get("accept"))) return null;
    const markdown = markdownPathOf(page.file.path);
    const encoded = markdown === null ? null : lookUp(`/${markdown}`);
    return encoded === null ? null : inPlaceOfPage(encoded.shownTo(request), encoded.file.path);
  };
  return {
    /** Answers from the bundle at once, or gives null: then the service is asked. */
    answer: (request: Request): Response | null => {
      if (request.method !== "GET" && request.method !== "HEAD") return null;
      const { path, hasQuery, query } = addressOf(request);
      if (alwaysLive.test(path) || asksService(request)) return null;
      const encoded = lookUp(path);
      const elsewhere = hasQuery || encoded === null ? atService(path, query) : null;
      if (elsewhere !== null || encoded === null) return elsewhere ?? standIn(path, request);
      onServed?.(path, request);
      return answerWith(encoded, request, 200, inMarkdown(encoded, path, request));
    },
  };
}

/** Finds what a path shows now, as it is cached or else in the bundle. */
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
    // The content went between two looks: a newer release replaced the file.
    if (body === null) {
      const newest = reader.version();
      if (newest !== version) return lookUp(urlPath, newest);
      onLost(file.path);
      return null;
    }
    const newEntry = encodeFile(file, body, { version, read: reader.read });
    // The path was cut from an address, whose query may be long.
    cache.set(detachedCopy(urlPath), newEntry);
    if (ownPath !== null) void compare(urlPath, file, ownPath);
    return newEntry;
  };
  /** What is too large for memory is compared with its digest while it is sent for the first time. */
  const compare = async (urlPath: string, file: ManifestFile, ownPath: string): Promise<void> => {
    // One that went meanwhile is missed at the next look.
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

/** Asks once for all requests that one turn of the event loop finds at the sockets: asking costs as much as answering. */
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

/** Whether an If-None-Match names this ETag. Weak forms count: a CDN may have made one of ours. */
const matches = (condition: string, etag: string): boolean =>
  condition === etag ||
  condition === "*" ||
  condition.split(",").some((name) => name.trim().replace(/^W\//, "") === etag);

const markdownPreferences = weighedCache<boolean>(100_000, undefined, {
  memoMethod: (accept) => namesMarkdown(accept),
});

/**
 * Whether a client wants markdown where a page is to be had in both forms: it names text/markdown, and ranks it no lower
 * than text/html. What browsers send never does. Source: RFC 9110, "Accept"; site/delivery/edge/nginx/http.conf says the same.
 */
export const prefersMarkdown = (accept: string | null): boolean =>
  accept !== null && markdownPreferences.memo(accept);

function namesMarkdown(accept: string): boolean {
  const qualities = qualitiesIn(accept);
  const markdown = qualities.get("text/markdown") ?? 0;
  const page = ["text/html", "text/*", "*/*"].find((type) => qualities.has(type));
  return markdown > 0 && markdown >= (qualities.get(page ?? "") ?? 0);
}
