import type { Html, Part } from "#api/http/html.ts";
import type { Place } from "./layout.ts";

/** What a page is made of; `status` is 200 unless given. */
export type Page = {
  title: string;
  place: Place | null;
  main: Part;
  status?: number | undefined;
  headers?: Record<string, string>;
};

/** Nothing but pages and a stylesheet of this origin: no script, no picture from elsewhere, no frame. */
const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Kept by no one and shown to no other site. The referrer stays, because without it browsers hide a form's origin. */
const headers = {
  "cache-control": "no-store",
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "same-origin",
  "x-frame-options": "DENY",
  "x-robots-tag": "noindex, nofollow",
} as const;

/** A page of the desk. */
export const pageAnswer = (
  page: Html,
  status = 200,
  extra: Record<string, string> = {},
): Response =>
  new Response(`<!doctype html>\n${page.toString()}`, {
    status,
    headers: { "content-type": "text/html; charset=utf-8", ...headers, ...extra },
  });

/** After a form: the browser asks for this page, so that loading it again sends nothing twice. */
export const redirect = (location: string, extra: Record<string, string> = {}): Response =>
  new Response(null, { status: 303, headers: { ...headers, location, ...extra } });

/** The stylesheet, whose address changes with its content, or a font. */
export const fileAnswer = (body: string | Uint8Array<ArrayBuffer>, type: string): Response =>
  new Response(body, {
    headers: {
      "content-type": type,
      ...headers,
      "cache-control": "public, max-age=31536000, immutable",
    },
  });
