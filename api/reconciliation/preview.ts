import { sha256Of } from "#content/runtime/digest.ts";
import { readCacheControl } from "#api/http/headers.ts";
import { html, Html } from "#content/language/html.ts";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";

const style = `body{margin:.75rem;font:14px/1.4 system-ui,sans-serif;color:#222;background:#fff}h1{margin:0 0 .25rem;font-size:17px}p{margin:.25rem 0;overflow-wrap:anywhere}a{color:#0b57a4}`;
/** Any site may show it in a frame; nothing is loaded, and nothing runs. */
const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${sha256Of(style, "base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors *`;
const textMax = 280;

/** A small page about a nonprofit, for the frame of a client. */
export function previewPage(profile: NonprofitDetail, baseUrl: string): Response {
  const { name, city, region, country, status, identifiers, causes } = profile;
  const places = [city, region, country].filter((place) => place !== null).join(", ");
  const text = profile.tagline ?? profile.mission ?? "";
  const whole = html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="robots" content="noindex" />
      <title>${name}</title>
      ${new Html(`<style>${style}</style>`)}
    </head>
    <body>
      <h1>
        <a href="${baseUrl}/nonprofits/${profile.slug}" target="_blank" rel="noopener">${name}</a>
      </h1>
      <p>${places}${status === "withdrawn" ? " · no longer listed" : ""}</p>
      <p>${identifiers.join(" · ")}</p>
      <p>${causes.map((cause) => cause.name).join(", ")}</p>
      <p>${text.length > textMax ? `${text.slice(0, textMax).toWellFormed()}…` : text}</p>
    </body>
  </html>`;
  return new Response(`<!doctype html>\n${whole.toString()}`, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": contentSecurityPolicy,
      "cache-control": readCacheControl,
    },
  });
}
