import { brotliCompressSync, constants } from "node:zlib";
import { acceptsEncoding } from "#content/contract/base/accept.ts";
import { answerBytes } from "#content/contract/base/json.ts";
import { readCacheControl } from "./headers.ts";
import { namesIgnored } from "./ignored.ts";

const compressFromBytes = 1_024;

type Encoding = "identity" | "br" | "gzip";

/** Bytes that make up an answer, one after another. The same may stand in it more than once. */
export type AnswerParts = readonly Uint8Array<ArrayBuffer>[];

/** The bytes of an answer with their ETag, compressed at most once each way. */
export class EncodedBody {
  readonly contentType: string;
  readonly cacheControl: string | null;
  /** Of the whole answer, in bytes. */
  readonly length: number;
  readonly #parts: AnswerParts;
  readonly #tag: string;
  readonly #encoded = new Map<Encoding, Uint8Array<ArrayBuffer>>();
  #sent = 0;

  constructor(body: string | AnswerParts, contentType: string, cacheControl: string | null = null) {
    this.#parts = typeof body === "string" ? [utf8.encode(body)] : body;
    this.contentType = contentType;
    this.cacheControl = cacheControl;
    this.length = this.#parts.reduce((sum, part) => sum + part.byteLength, 0);
    this.#tag = Bun.hash(this.body).toString(36);
  }

  /** What the answer takes in memory, in bytes: a part that stands in it twice is kept once. */
  get bytesKept(): number {
    return [...new Set(this.#parts)].reduce((sum, part) => sum + part.byteLength, 0);
  }

  /** The whole answer. Put together again each time when it has several parts, so that they are kept once. */
  get body(): Uint8Array<ArrayBuffer> {
    const [first, ...otherParts] = this.#parts;
    if (first !== undefined && otherParts.length === 0) return first;
    const bytes = new Uint8Array(this.length);
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.byteLength;
    }
    return bytes;
  }

  /** A strong ETag: every encoding is a representation of its own. Source: RFC 9110, 8.8.3. */
  etag(encoding: Encoding): string {
    return encoding === "identity" ? `"${this.#tag}"` : `"${this.#tag}-${encoding}"`;
  }

  /** Whether If-None-Match names this answer in any encoding. */
  isNamedBy(ifNoneMatch: string | null): boolean {
    if (ifNoneMatch === null) return false;
    if (ifNoneMatch.trim() === "*") return true;
    return ifNoneMatch.split(",", namesMax).some(
      (name) =>
        name
          .trim()
          .replace(/^W\//, "")
          .replace(/(?:-br|-gzip)?"$/, '"') === `"${this.#tag}"`,
    );
  }

  /** The encoding to send to a client that accepts these. Small answers are left as they are. */
  encodingFor(acceptEncoding: string | null): Encoding {
    if (acceptEncoding === null || this.length < compressFromBytes) return "identity";
    this.#sent += 1;
    // Brotli takes four times as long as the quickest gzip: worth it for an answer that is sent again.
    const preferences = this.#sent > 1 ? (["br", "gzip"] as const) : (["gzip", "br"] as const);
    return preferences.find((encoding) => acceptsEncoding(acceptEncoding, encoding)) ?? "identity";
  }

  bytes(encoding: Encoding): Uint8Array<ArrayBuffer> {
    if (encoding === "identity") return this.body;
    const copy = this.#encoded.get(encoding);
    if (copy !== undefined) return copy;
    const encodedBytes = new Uint8Array(
      encoding === "br"
        ? brotliCompressSync(this.body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })
        : Bun.gzipSync(this.body, { level: 1, library: "libdeflate" }),
    );
    this.#encoded.set(encoding, encodedBytes);
    return encodedBytes;
  }
}

/** An answer in JSON: the same bytes as the bundle's file of it. */
export const encodedJson = (value: unknown, cacheControl: string | null = null): EncodedBody =>
  new EncodedBody(answerBytes(value), "application/json", cacheControl);

const utf8 = new TextEncoder();
const namesMax = 50;

type ResponseSettings = {
  status?: number | string | undefined;
  headers: Record<string, unknown>;
};

/**
 * What a route returned as a response: JSON with a strong ETag, 304 when the client has it, compressed when it
 * accepts that. What no cache may keep has no ETag. A response that a route made itself is left alone.
 */
export function answerOf(
  value: unknown,
  request: Request,
  settings: ResponseSettings,
): Response | undefined {
  if (value instanceof Response) return undefined;
  const status = typeof settings.status === "number" ? settings.status : 200;
  const encodedBody = value instanceof EncodedBody ? value : encodedJson(value);
  const isRead = request.method === "GET" && status === 200;
  const cacheControl = isRead ? (encodedBody.cacheControl ?? readCacheControl) : "no-store";
  const headers = headersOf(settings, cacheControl);
  headers.set("content-type", encodedBody.contentType);
  if (!isRead) return new Response(encodedBody.body, { status, headers });
  if (encodedBody.length >= compressFromBytes) headers.append("vary", "Accept-Encoding");
  const encoding = encodedBody.encodingFor(encodingsFor(request));
  // What no cache may keep, no client has.
  if (headers.get("cache-control") !== "no-store") {
    headers.set("etag", encodedBody.etag(encoding));
    if (encodedBody.isNamedBy(request.headers.get("if-none-match"))) {
      headers.delete("content-type");
      return new Response(null, { status: 304, headers });
    }
  }
  if (encoding !== "identity") headers.set("content-encoding", encoding);
  return new Response(encodedBody.bytes(encoding), { headers });
}

/** The encodings that a client takes; none for an answer to which something is still added. */
const encodingsFor = (request: Request): string | null =>
  namesIgnored(request) ? null : request.headers.get("accept-encoding");

/** The headers that a route set. */
function headersOf(set: ResponseSettings, cacheControl: string): Headers {
  const headers = new Headers({ "cache-control": cacheControl });
  for (const [name, value] of Object.entries(set.headers)) {
    if (typeof value === "string" || typeof value === "number") headers.set(name, String(value));
  }
  return headers;
}
