import { addressOf } from "#content/contract/base/request.ts";
import descriptionLinks from "#content/editorial/description-links.json";
import { languageCodes } from "#content/language/languages.ts";
import type { Allowance } from "#content/operation/limit-store.ts";

/** Links to the descriptions of the service, for programs. Source: RFC 8288, RFC 9727. */
const links = descriptionLinks.join(", ");

const nosniff = ["x-content-type-options", "nosniff"] as const;

/**
 * Sent with every answer except the desk's, because the directory is public to any origin. Not done with @elysiajs/cors,
 * which sends `Vary: *` and so defeats caches.
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

/** The default policy for pages of the service itself: nothing from other origins, no inline script. */
const contentSecurityPolicy =
  "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** Caches may store reads for a short time, like files of the bundle. */
export const readCacheControl = "public, max-age=60, stale-while-revalidate=600";
export const freshCacheControl = "public, max-age=5, stale-while-revalidate=60";
/** For answers whose requests are logged: a cache may store them, but has to revalidate each time. */
export const loggedCacheControl = "private, no-cache";

/** Adds the headers that every answer carries. Headers set by the route stay. */
export function addHeaders(response: Response, method: string, allowance: Allowance | null): void {
  const { headers } = response;
  // The desk keeps its answers to its own origin; they are not part of the public directory.
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

/** Forbids framing of a page, unless its own policy allows it. */
function guardPage(headers: Headers): void {
  const policy = headers.get("content-security-policy") ?? contentSecurityPolicy;
  headers.set("content-security-policy", policy);
  if (policy.includes("frame-ancestors *") || headers.has("x-frame-options")) return;
  headers.set("x-frame-options", "DENY");
}

/** The answer to OPTIONS: the allowed methods, also for scripts of other sites. */
export const optionsAnswer = (allow: readonly string[]): Response =>
  new Response(null, {
    status: 204,
    headers: {
      allow: allow.join(", "),
      "access-control-allow-methods": allow.join(", "),
      "access-control-allow-headers": "*, Authorization", // The star does not cover Authorization.
      "access-control-max-age": "86400",
      "cache-control": "public, max-age=86400",
    },
  });

/** The requested language of a page and what the client accepts. Markdown, where it replaces a page, is always English. */
export type PageForm = { language: string; accept: string | null; acceptEncoding: string | null };
export const formOf = (request: Request): PageForm => ({
  language: languageOf(request),
  accept: request.headers.get("accept"),
  acceptEncoding: request.headers.get("accept-encoding"),
});

/** The language that starts a path (/es/browse); for a form, the `language` parameter that its page put into the address. */
function languageOf(request: Request): string {
  const { path, query } = addressOf(request);
  const isOfForm = request.method === "POST" || path.startsWith("/api/");
  const code = (isOfForm ? new URLSearchParams(query).get("language") : path.split("/")[1]) ?? "";
  return languageCodes.includes(code) ? code : "en";
}
