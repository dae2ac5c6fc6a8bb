import { acceptsEncoding } from "#content/contract/base/accept.ts";
import { weighedCache } from "#content/runtime/cache.ts";
import { headersOf } from "./http-headers.ts";
import type { ManifestFile } from "#site/bundle/manifest.ts";
import { compressFromBytes, compressors } from "#site/bundle/export-folder.ts";

type Encoding = keyof typeof compressors;

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * What is sent, made once: from bytes Bun would copy the content and from a plain object make the headers again for every
 * answer, at half the rate.
 */
export type CachedAnswer = {
  body: Blob;
  etag: string;
  init: { readonly status: 200; readonly headers: Headers };
};

/** A file with its headers, ready to be sent again and again. */
export type EncodedFile = {
  file: ManifestFile;
  /** The bundle's version at which the look-up was right. */
  version: number;
  /** What to send to this request: compressed where it is understood and helps. */
  shownTo(request: Request): CachedAnswer;
};

/** What is larger is sent as it is: compressing it would hold up others. */
const compressedBytesMax = 512 * 1024;
const compressible =
  /^(text\/|application\/(json|linkset\+json|ld\+json|(?:atom\+)?xml|yaml|javascript))|svg/;

/** `read` gives the content again for compressing it, null when it is gone. */
export function encodeFile(
  file: ManifestFile,
  body: Blob,
  { version, read }: { version: number; read: (file: ManifestFile) => Bytes | null },
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
    ...varying(/\.html$|^api\/nonprofits\.json$/.test(file.path), shrinks),
    etag,
  });
  const plain: CachedAnswer = { body, etag, init: { status: 200, headers } };
  const compressed: Partial<Record<Encoding, CachedAnswer>> = {};
  const shownTo = (request: Request): CachedAnswer => {
    const encoding = shrinks ? encodingFor(request.headers.get("accept-encoding")) : null;
    if (encoding === null) return plain;
    const answer = compressed[encoding];
    if (answer !== undefined) return answer;
    const whole = read(file);
    if (whole === null) return plain;
    return (compressed[encoding] = compress(plain, whole, encoding));
  };
  return { file, version, shownTo };
}

/** A page is to be had in markdown, too, the list as a file, and what shrinks compressed. */
const varying = (isNegotiated: boolean, shrinks: boolean): { vary?: string } => {
  const vary = [...(isNegotiated ? ["accept"] : []), ...(shrinks ? ["accept-encoding"] : [])];
  return vary.length === 0 ? {} : { vary: vary.join(", ") };
};

const negotiated = new WeakMap<CachedAnswer, CachedAnswer>();

/**
 * A file of markdown in the place of a page. Caches that heed no Vary must not keep it: they would show it to browsers.
 */
export function inPlaceOfPage(page: CachedAnswer, path: string): CachedAnswer {
  const answer = negotiated.get(page);
  if (answer !== undefined) return answer;
  const headers = new Headers(page.init.headers);
  headers.set("vary", "accept, accept-encoding");
  headers.set("cache-control", negotiatedCacheControl);
  headers.set("content-location", `/${path}`);
  const inPlace: CachedAnswer = { ...page, init: { status: 200, headers } };
  negotiated.set(page, inPlace);
  return inPlace;
}

export const negotiatedCacheControl = "private, max-age=60";

function compress({ init, etag }: CachedAnswer, whole: Bytes, encoding: Encoding): CachedAnswer {
  const own = `${etag.slice(0, -1)}-${encoding}"`;
  const headers = new Headers(init.headers);
  headers.set("content-encoding", encoding);
  headers.set("etag", own);
  const body = new Blob([new Uint8Array(compressors[encoding](whole))]);
  return { body, etag: own, init: { status: 200, headers } };
}

/** Clients send the same few headers again and again. */
const encodings = weighedCache<Encoding | "identity">(100_000, undefined, {
  memoMethod: (accepted) =>
    (["br", "gzip"] as const).find((name) => acceptsEncoding(accepted, name)) ?? "identity",
});

/** The smaller form that a client understands; null for none. */
function encodingFor(accepted: string | null): Encoding | null {
  const encoding = accepted === null ? "identity" : encodings.memo(accepted);
  return encoding === "identity" ? null : encoding;
}
