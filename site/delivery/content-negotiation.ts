import { acceptsEncoding, qualitiesIn } from "#content/contract/base/accept.ts";
import { weighedCache } from "#content/runtime/cache.ts";
import type { compressors } from "#site/bundle/precompress.ts";

export type Encoding = keyof typeof compressors;

/** Clients send the same few headers again and again. */
const encodings = weighedCache<Encoding | "identity">(100_000, undefined, {
  memoMethod: (accepted) =>
    (["br", "gzip"] as const).find((one) => acceptsEncoding(accepted, one)) ?? "identity",
});

/** The smaller form that a client understands; null for none. */
export function encodingFor(accepted: string | null): Encoding | null {
  const encoding = accepted === null ? "identity" : encodings.memo(accepted);
  return encoding === "identity" ? null : encoding;
}

const markdownPreferences = weighedCache<boolean>(100_000, undefined, {
  memoMethod: (accept) => namesMarkdown(accept),
});

/**
 * Whether a client wants markdown where a page is to be had in both forms: it names text/markdown, and ranks it no lower
 * than text/html. What browsers send never does. Source: RFC 9110, "Accept"; site/delivery/edge/nginx/http.conf says the same.
 */
export const prefersMarkdown = (accept: string | null): boolean =>
  accept !== null && markdownPreferences.memo(accept);

function namesMarkdown(accept: string): boolean {
  const qualities = qualitiesIn(accept);
  const markdown = qualities.get("text/markdown") ?? 0;
  const page = ["text/html", "text/*", "*/*"].find((type) => qualities.has(type));
  return markdown > 0 && markdown >= (qualities.get(page ?? "") ?? 0);
}
