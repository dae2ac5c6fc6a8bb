import { brotliCompressSync, constants } from "node:zlib";
import { headersOf, redirectOf } from "#site/publisher/http-headers.ts";
import type { BundleEntry, BundleReader } from "./bundle-reader.ts";

/** Answers from the bundle at once, or gives null: then the service is asked. */
export type BundleServer = {
  answer(request: Request): Response | null;
};

export type BundleServerOptions = {
  /** Told of each file that is served, for counting hits on discovery files and follow-throughs. */
  onServed?: (urlPath: string, request: Request) => void;
};

/** With a query these are questions to the service; without one the bundle holds the answer. */
const asksWithQuery = /^\/api\/(nonprofits|needs-enrichment|agents\/[a-z]+|enrichments\/stats)\/?$/;
/** Live counters and second opinions stand only in the service's answer; the bundle has those of the last checkpoint. */
const alwaysLive: ReadonlySet<string> = new Set([
  "/api/stats",
  "/api/needs-enrichment",
  "/healthz",
]);

/** What the service answers, whatever the bundle holds; elsewhere a person who is lost sees a page. */
const ofService = /^\/(api|mcp|desk|healthz)(\/|$)/;

const preparedMax = 20_000;
const compressFromBytes = 1_024;
const compressible = /^(text\/|application\/(json|linkset\+json|ld\+json|xml|yaml|javascript))|svg/;

type Prepared = {
  version: number;
  entry: BundleEntry;
  plain: Record<string, string>;
  etag: string;
  brotli: { body: Uint8Array<ArrayBuffer>; headers: Record<string, string>; etag: string } | null;
};

/** A file server over the current release: strong ETags, 304, brotli, and no more than one look-up per request. */
export function createBundleServer(
  reader: BundleReader,
  { onServed }: BundleServerOptions = {},
): BundleServer {
  const prepared = new Map<string, Prepared>();
  const prepare = (urlPath: string): Prepared | null => {
    const version = reader.version();
    const known = prepared.get(urlPath);
    if (known?.version === version) return known;
    const entry = reader.find(urlPath);
    if (entry === null) {
      prepared.delete(urlPath);
      return null;
    }
    if (known?.entry.digest === entry.digest) {
      known.version = version;
      return known;
    }
    if (prepared.size >= preparedMax) prepared.clear();
    const fresh = prepareEntry(entry, version);
    prepared.set(urlPath, fresh);
    return fresh;
  };
  const redirected = (path: string): Response | null => {
    const bare = redirectOf(path);
    if (bare === null || prepare(bare) === null) return null;
    return new Response(null, { status: 308, headers: { location: bare } });
  };
  const missing = (path: string, request: Request): Response | null => {
    if (ofService.test(path) || request.headers.get("accept")?.includes("text/html") !== true) {
      return null;
    }
    const page = prepare("/404");
    return page === null ? null : answerWith(page, request, 404);
  };
  return {
    answer: (request) => {
      if (request.method !== "GET" && request.method !== "HEAD") return null;
      const { path, hasQuery } = splitUrl(request.url);
      if (alwaysLive.has(path) || (hasQuery && asksWithQuery.test(path))) return null;
      const found = prepare(path);
      if (found === null) return redirected(path) ?? missing(path, request);
      onServed?.(path, request);
      return answerWith(found, request, 200);
    },
  };
}

/** The path and whether a query follows, without parsing the whole URL: this stands before every file. */
function splitUrl(url: string): { path: string; hasQuery: boolean } {
  const from = url.indexOf("/", url.indexOf("//") + 2);
  if (from < 0) return { path: "/", hasQuery: false };
  const query = url.indexOf("?", from);
  return query < 0
    ? { path: url.slice(from), hasQuery: false }
    : { path: url.slice(from, query), hasQuery: true };
}

function prepareEntry(entry: BundleEntry, version: number): Prepared {
  const { contentType, cacheControl, others } = headersOf(entry.path);
  const etag = `"${entry.digest.slice(0, 32)}"`;
  const shrinks = compressible.test(contentType) && entry.body.length >= compressFromBytes;
  const plain = {
    "content-type": contentType,
    "cache-control": cacheControl,
    "access-control-allow-origin": "*",
    ...others,
    ...(shrinks ? { vary: "accept-encoding" } : {}),
    etag,
  };
  return { version, entry, plain, etag, brotli: null };
}

function answerWith(found: Prepared, request: Request, status: number): Response {
  const accepted = request.headers.get("accept-encoding");
  const shown = accepted?.includes("br") === true && "vary" in found.plain ? compress(found) : null;
  const headers = shown?.headers ?? found.plain;
  const wanted = request.headers.get("if-none-match");
  if (wanted !== null && matches(wanted, shown?.etag ?? found.etag)) {
    return new Response(null, { status: 304, headers });
  }
  const body = shown?.body ?? found.entry.body;
  if (request.method === "HEAD") {
    return new Response(null, {
      status,
      headers: { ...headers, "content-length": String(body.length) },
    });
  }
  return new Response(body, { status, headers });
}

/** Whether an If-None-Match names this ETag. Weak forms count: a CDN may have made one of ours. */
const matches = (wanted: string, etag: string): boolean =>
  wanted === etag ||
  wanted === "*" ||
  wanted.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);

/** Compressed once per content; quality 5 costs about 0.1 ms a page. */
function compress(found: Prepared): NonNullable<Prepared["brotli"]> {
  if (found.brotli === null) {
    const body = new Uint8Array(
      brotliCompressSync(found.entry.body, {
        params: { [constants.BROTLI_PARAM_QUALITY]: 5 },
      }),
    );
    const etag = `${found.etag.slice(0, -1)}-br"`;
    found.brotli = {
      body,
      etag,
      headers: { ...found.plain, "content-encoding": "br", etag },
    };
  }
  return found.brotli;
}
