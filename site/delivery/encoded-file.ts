import { acceptsEncoding, compressFromBytes } from "#content/contract/base/request.ts";
import { weighedCache } from "#content/runtime/cache.ts";
import { headersOf } from "./http-headers.ts";
import type { ManifestFile } from "#site/bundle/manifest.ts";
import { compressors } from "#site/bundle/export-folder.ts";

type Encoding = keyof typeof compressors;

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Body and headers of an answer, made once: with bytes and plain objects Bun would copy the content and build the headers
 * for every answer, at half the rate.
 */
export type CachedAnswer = {
  body: Blob;
  etag: string;
  init: { readonly status: 200; readonly headers: Headers };
};

/** A file with its headers, ready to be sent repeatedly. */
export type EncodedFile = {
  file: ManifestFile;
  /** The version of the bundle for which the look-up is valid. */
  version: number;
  /** What to send for this request: compressed if the client accepts that and the file shrinks. */
  shownTo(request: Request): CachedAnswer;
};

/** Larger files are sent uncompressed: compressing them would delay other requests. */
export const compressedBytesMax = 640 * 1024;
const compressible =
  /^(text\/|application\/(json|linkset\+json|ld\+json|(?:atom\+)?xml|yaml|javascript))|svg/;

/**
 * `read` returns the content again, to compress it; null when it is gone. `isOwnFile`: the body is a file on disk, which
 * Bun would offer to save under its name there, the digest.
 */
export function encodeFile(
  file: ManifestFile,
  body: Blob,
  {
    version,
    read,
    isOwnFile,
  }: { version: number; read: (file: ManifestFile) => Bytes | null; isOwnFile: boolean },
): EncodedFile {
  const { contentType, cacheControl, others } = headersOf(file.path);
  const etag = `"${file.digest.slice(0, 32)}"`;
  const shrinks =
    file.size >= compressFromBytes &&
    file.size <= compressedBytesMax &&
    compressible.test(contentType);
  const headers = new Headers({
    "content-type": contentType,
    "cache-control": cacheControl,
    ...others,
    ...(isOwnFile && {
      "content-disposition": `inline; filename="${file.path.split("/").at(-1)}"`,
    }),
    ...varyHeader(/\.html$|^api\/nonprofits\.json$/.test(file.path), shrinks),
    etag,
  });
  const plain: CachedAnswer = { body, etag, init: { status: 200, headers } };
  const answers: Partial<Record<Encoding, CachedAnswer>> = {};
  const shownTo = (request: Request): CachedAnswer => {
    const encoding = shrinks ? encodingFor(request.headers.get("accept-encoding")) : null;
    if (encoding === null) return plain;
    const answer = answers[encoding];
    if (answer !== undefined) return answer;
    const bytes = read(file);
    if (bytes === null) return plain;
    return (answers[encoding] = compress(plain, bytes, encoding));
  };
  return { file, version, shownTo };
}

/** The Vary header: pages vary by `accept` (markdown), the list too (as a file), and what shrinks by `accept-encoding`. */
const varyHeader = (isNegotiated: boolean, shrinks: boolean): { vary?: string } => {
  const vary = [...(isNegotiated ? ["accept"] : []), ...(shrinks ? ["accept-encoding"] : [])];
  return vary.length === 0 ? {} : { vary: vary.join(", ") };
};

const negotiatedAnswers = new WeakMap<CachedAnswer, CachedAnswer>();

/** A markdown file sent at a page's address. Caches that ignore Vary must not store it: they would show it to browsers. */
export function inPlaceOfPage(page: CachedAnswer, path: string): CachedAnswer {
  const answer = negotiatedAnswers.get(page);
  if (answer !== undefined) return answer;
  const headers = new Headers(page.init.headers);
  headers.set("vary", "accept, accept-encoding");
  headers.set("cache-control", negotiatedCacheControl);
  headers.set("content-location", `/${path}`);
  const inPlace: CachedAnswer = { ...page, init: { status: 200, headers } };
  negotiatedAnswers.set(page, inPlace);
  return inPlace;
}

export const negotiatedCacheControl = "private, max-age=60";

function compress({ init, etag }: CachedAnswer, bytes: Bytes, encoding: Encoding): CachedAnswer {
  const ownEtag = `${etag.slice(0, -1)}-${encoding}"`;
  const headers = new Headers(init.headers);
  headers.set("content-encoding", encoding);
  headers.set("etag", ownEtag);
  const body = new Blob([new Uint8Array(compressors[encoding](bytes))]);
  return { body, etag: ownEtag, init: { status: 200, headers } };
}

/** A cache, because clients send the same few headers repeatedly. */
const encodings = weighedCache<Encoding | "identity">(100_000, undefined, {
  memoMethod: (acceptEncoding) =>
    (["br", "gzip"] as const).find((name) => acceptsEncoding(acceptEncoding, name)) ?? "identity",
});

/** The encoding that a client accepts, brotli before gzip; null for none. */
function encodingFor(acceptEncoding: string | null): Encoding | null {
  const encoding = acceptEncoding === null ? "identity" : encodings.memo(acceptEncoding);
  return encoding === "identity" ? null : encoding;
}
