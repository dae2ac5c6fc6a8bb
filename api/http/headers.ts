import { addressOf } from "#content/contract/base/request-address.ts";
import descriptionLinks from "#content/editorial/description-links.json";
import { languageCodes } from "#content/language/languages.ts";
import type { Allowance } from "#content/operation/limit-store.ts";

/** Where a program finds out about the service. Source: RFC 8288, RFC 9727. */
const links = descriptionLinks.join(", ");

const nosniff = ["x-content-type-options", "nosniff"] as const;

/**
 * Sent with every answer but the desk's: the directory is public, for any origin. By hand, because @elysiajs/cors sends
 * `Vary: *`, which no cache keeps.
 */
const always: readonly (readonly [string, string])[] = [
  ["access-control-allow-origin", "*"],
  [
    "access-control-expose-headers",
    "ETag, Link, Content-Disposition, X-Total-Count, X-Truncated, Retry-After, Almoner-Sequence, RateLimit, RateLimit-Policy, X-PAYMENT-REQUIRED, PAYMENT-REQUIRED, X-PAYMENT-RESPONSE, PAYMENT-RESPONSE, Deprecation, Sunset",
  ],
  ["link", links],
  nosniff,
  ["referrer-policy", "strict-origin-when-cross-origin"],
];

/** For pages of the service itself, unless they bring their own: nothing from elsewhere, no inline script. */
const contentSecurityPolicy =
  "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** Reads may be kept by caches for a short time, like the files of the bundle. */
export const readCacheControl = "public, max-age=60, stale-while-revalidate=600";
export const freshCacheControl = "public, max-age=5, stale-while-revalidate=60";
/** For what is logged each time it is asked: a cache may hold it, but asks each time whether it still holds. */
export const askedCacheControl = "private, no-cache";

/** Adds what every answer carries, without touching what the route said itself. */
export function addHeaders(response: Response, method: string, allowance: Allowance | null): void {
  const { headers } = response;
  // What the desk keeps to its own origin is no part of the public directory.
  const isSameOrigin = headers.get("cross-origin-resource-policy") === "same-origin";
  for (const [name, value] of isSameOrigin ? [nosniff] : always) {
    if (!headers.has(name)) headers.set(name, value);
  }
  if (!headers.has("cache-control"))
    headers.set("cache-control", method === "GET" && response.ok ? freshCacheControl : "no-store");
  if (headers.get("content-type")?.startsWith("text/html") === true) guardPage(headers);
  if (allowance === null) return;
  const { policy, limit, windowMs, remaining, resetMs } = allowance;
  // Source: draft-ietf-httpapi-ratelimit-headers.
  headers.set("ratelimit-policy", `"${policy}";q=${limit};w=${windowMs / 1_000}`);
  headers.set("ratelimit", `"${policy}";r=${remaining};t=${Math.ceil(resetMs / 1_000)}`);
}

/** A page is framed by no site, unless its own policy says so. */
function guardPage(headers: Headers): void {
  const policy = headers.get("content-security-policy") ?? contentSecurityPolicy;
  headers.set("content-security-policy", policy);
  if (policy.includes("frame-ancestors *") || headers.has("x-frame-options")) return;
  headers.set("x-frame-options", "DENY");
}

/** The answer to OPTIONS: what is allowed here, also to scripts of other sites. */
export const optionsAnswer = (allow: readonly string[]): Response =>
  new Response(null, {
    status: 204,
    headers: {
      allow: allow.join(", "),
      "access-control-allow-methods": allow.join(", "),
      "access-control-allow-headers": "*, Authorization", // The star does not stand for this one.
      "access-control-max-age": "86400",
      "cache-control": "public, max-age=86400",
    },
  });

/** In which language a page is asked for, and what the reader takes: markdown in the place of a page is English. */
export type PageForm = { language: string; accept: string | null; acceptEncoding: string | null };
export const formOf = (request: Request): PageForm => ({
  language: languageOf(request),
  accept: request.headers.get("accept"),
  acceptEncoding: request.headers.get("accept-encoding"),
});

/** The language in front of an address, /es of /es/browse; where forms are sent, the one that their page put behind the address. */
function languageOf(request: Request): string {
  const { path, query } = addressOf(request);
  const isOfForm = request.method === "POST" || path.startsWith("/api/");
  const code = (isOfForm ? new URLSearchParams(query).get("language") : path.split("/")[1]) ?? "";
  return languageCodes.includes(code) ? code : "en";
}
