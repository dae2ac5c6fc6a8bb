import { readCacheControl } from "./headers.ts";
import { EncodedBody, encodedJson } from "./encoded-body.ts";

type Set = {
  status?: number | string | undefined;
  headers: Record<string, unknown>;
};

/**
 * What a route returned as a response: JSON with a strong ETag, 304 when the client has it, compressed when it
 * accepts that. What no cache may keep has no ETag. A response that a route made itself is left alone.
 */
export function answerOf(value: unknown, request: Request, set: Set): Response | undefined {
  if (value instanceof Response) return undefined;
  const status = typeof set.status === "number" ? set.status : 200;
  const prepared = value instanceof EncodedBody ? value : encodedJson(value);
  const headers = new Headers();
  for (const [name, given] of Object.entries(set.headers)) {
    if (typeof given === "string" || typeof given === "number") headers.set(name, String(given));
  }
  headers.set("content-type", prepared.contentType);
  if (request.method !== "GET" || status !== 200) {
    if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
    return new Response(prepared.body, { status, headers });
  }
  if (!headers.has("cache-control")) {
    headers.set("cache-control", prepared.cacheControl ?? readCacheControl);
  }
  if (prepared.varies) headers.set("vary", "Accept-Encoding");
  const encoding = prepared.encodingFor(request.headers.get("accept-encoding"));
  // Nobody has what nobody may keep.
  if (headers.get("cache-control") !== "no-store") {
    headers.set("etag", prepared.etag(encoding));
    const known = request.headers.get("if-none-match");
    if (known !== null && prepared.isNamedBy(known)) {
      headers.delete("content-type");
      return new Response(null, { status: 304, headers });
    }
  }
  if (encoding !== "identity") headers.set("content-encoding", encoding);
  return new Response(prepared.bytes(encoding), { headers });
}
