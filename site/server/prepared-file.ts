import { brotliCompressSync, constants } from "node:zlib";
import { headersOf } from "#site/publisher/http-headers.ts";
import type { ManifestFile } from "#site/publisher/manifest.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * What is sent, made once: from bytes Bun would copy the content and from a plain object make the headers anew for every
 * answer, at half the rate.
 */
export type Shown = {
  body: Blob;
  etag: string;
  init: { readonly status: 200; readonly headers: Headers };
};

/** A file with its headers, ready to be sent again and again. */
export type PreparedFile = {
  file: ManifestFile;
  /** The bundle's version at which the look-up was right. */
  version: number;
  plain: Shown;
  /** Whether it may be sent compressed. */
  shrinks: boolean;
  /** Made when it is first asked for. */
  brotli: Shown | null;
};

const compressFromBytes = 1_024;
/** What is larger is sent from the disk as it is. */
export const keptBodyBytesMax = 512 * 1024;
const compressible = /^(text\/|application\/(json|linkset\+json|ld\+json|xml|yaml|javascript))|svg/;

export function prepareFile(file: ManifestFile, body: Blob, version: number): PreparedFile {
  const { contentType, cacheControl, others } = headersOf(file.path);
  const etag = `"${file.digest.slice(0, 32)}"`;
  const shrinks =
    file.size >= compressFromBytes &&
    file.size <= keptBodyBytesMax &&
    compressible.test(contentType);
  const headers = new Headers({
    "content-type": contentType,
    "cache-control": cacheControl,
    ...others,
    ...(shrinks ? { vary: "accept-encoding" } : {}),
    etag,
  });
  const plain: Shown = { body, etag, init: { status: 200, headers } };
  return { file, version, plain, shrinks, brotli: null };
}

/** What to send to this request: compressed where it is understood and helps. `read` gives the content, null when it is gone. */
export function shownTo(
  request: Request,
  prepared: PreparedFile,
  read: (file: ManifestFile) => Bytes | null,
): Shown {
  const { plain, shrinks, file } = prepared;
  if (!shrinks || request.headers.get("accept-encoding")?.includes("br") !== true) return plain;
  if (prepared.brotli === null) {
    const whole = read(file);
    if (whole === null) return plain;
    prepared.brotli = compressed(plain, whole);
  }
  return prepared.brotli;
}

/** Quality 5 costs about 0.1 ms a page, once per content. */
function compressed({ init, etag }: Shown, whole: Bytes): Shown {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };
  const own = `${etag.slice(0, -1)}-br"`;
  const headers = new Headers(init.headers);
  headers.set("content-encoding", "br");
  headers.set("etag", own);
  const body = new Blob([new Uint8Array(brotliCompressSync(whole, { params }))]);
  return { body, etag: own, init: { status: 200, headers } };
}
