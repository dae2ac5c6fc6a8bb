import { brotliCompressSync, constants } from "node:zlib";
import { headersOf } from "#site/publisher/http-headers.ts";
import type { ManifestFile } from "#site/publisher/manifest.ts";

type Bytes = Uint8Array<ArrayBuffer>;
type Shown = { body: Bytes | Blob; length: number; etag: string; headers: Record<string, string> };

/** A file with its headers, ready to be sent again and again. */
export type PreparedFile = {
  file: ManifestFile;
  /** The bundle's version at which the look-up was right. */
  version: number;
  plain: Shown;
  /** Made when it is first asked for; null for what does not shrink. */
  brotli: Shown | null;
};

const compressFromBytes = 1_024;
const compressible = /^(text\/|application\/(json|linkset\+json|ld\+json|xml|yaml|javascript))|svg/;

export function prepareFile(file: ManifestFile, body: Bytes | Blob, version: number): PreparedFile {
  const { contentType, cacheControl, others } = headersOf(file.path);
  const etag = `"${file.digest.slice(0, 32)}"`;
  const shrinks =
    body instanceof Uint8Array &&
    body.length >= compressFromBytes &&
    compressible.test(contentType);
  const headers = {
    "content-type": contentType,
    "cache-control": cacheControl,
    ...others,
    ...(shrinks ? { vary: "accept-encoding" } : {}),
    etag,
  };
  return { file, version, plain: { body, length: file.size, etag, headers }, brotli: null };
}

/** What to send to this request: compressed where it is understood and helps. */
export function shownTo(request: Request, prepared: PreparedFile): Shown {
  const { plain } = prepared;
  if (!("vary" in plain.headers) || !(plain.body instanceof Uint8Array)) return plain;
  if (request.headers.get("accept-encoding")?.includes("br") !== true) return plain;
  prepared.brotli ??= compressed(plain, plain.body);
  return prepared.brotli;
}

/** Quality 5 costs about 0.1 ms a page, once per content. */
function compressed({ headers, etag }: Shown, whole: Bytes): Shown {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };
  const body = new Uint8Array(brotliCompressSync(whole, { params }));
  const own = `${etag.slice(0, -1)}-br"`;
  return {
    body,
    length: body.length,
    etag: own,
    headers: { ...headers, "content-encoding": "br", etag: own },
  };
}
