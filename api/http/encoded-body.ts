import { brotliCompressSync, constants } from "node:zlib";
import { acceptsEncoding, compressFromBytes } from "#content/contract/base/request.ts";
import { answerBytes } from "#content/contract/base/json.ts";
import { readCacheControl } from "./headers.ts";
import { namesIgnored } from "./unknown-names.ts";

type Encoding = "identity" | "br" | "gzip";

/** The bytes of an answer in order. The same part may occur more than once. */
export type AnswerParts = readonly Uint8Array<ArrayBuffer>[];

/** The bytes of an answer with their ETag; each encoding is computed at most once. */
export class EncodedBody {
  readonly contentType: string;
  readonly cacheControl: string | null;
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

  /** Memory that the answer takes, in bytes: a part that occurs twice is held once. */
  get memoryBytes(): number {
    return [...new Set(this.#parts)].reduce((sum, part) => sum + part.byteLength, 0);
  }

  /** The whole answer. With several parts it is concatenated at each call, so that memory holds each part only once. */
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

  /** A strong ETag, which differs by encoding, because each encoding is a representation. Source: RFC 9110, 8.8.3. */
  etag(encoding: Encoding): string {
    return encoding === "identity" ? `"${this.#tag}"` : `"${this.#tag}-${encoding}"`;
  }

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

  /** The encoding for a client that accepts these. Answers below 1,024 bytes are not compressed. */
  encodingFor(acceptEncoding: string | null): Encoding {
    if (acceptEncoding === null || this.length < compressFromBytes) return "identity";
    this.#sent += 1;
    // Brotli takes four times as long as the fastest gzip; that pays off only for an answer that is sent again.
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

/** An answer in JSON, with the same bytes as its file in the bundle. */
export const encodedJson = (value: unknown, cacheControl: string | null = null): EncodedBody =>
  new EncodedBody(answerBytes(value), "application/json", cacheControl);

const utf8 = new TextEncoder();
const namesMax = 50;

type ResponseSettings = {
  status?: number | string | undefined;
  headers: Record<string, unknown>;
};

/**
 * Makes a response of what a route returned: JSON with a strong ETag, 304 when the client has it, compressed when the
 * client accepts that. A no-store answer has no ETag. A Response that the route made itself is left as it is (undefined).
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
  // No client can have stored a no-store answer.
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

/** The encodings that a client accepts; none for an answer to which `withNotes` still adds members. */
const encodingsFor = (request: Request): string | null =>
  namesIgnored(request) ? null : request.headers.get("accept-encoding");

function headersOf(set: ResponseSettings, cacheControl: string): Headers {
  const headers = new Headers({ "cache-control": cacheControl });
  for (const [name, value] of Object.entries(set.headers)) {
    if (typeof value === "string" || typeof value === "number") headers.set(name, String(value));
  }
  return headers;
}
