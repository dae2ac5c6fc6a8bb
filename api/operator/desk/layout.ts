import { sha256Of } from "#content/runtime/digest.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Html, html, type Part } from "#content/language/html.ts";
import { table } from "./elements.ts";
import { tokenField } from "./forms.ts";

/** The stylesheet. Its address contains a hash of its content. */
export const style = ["../../../content/editorial/house.css", "desk.css"]
  .map((name) => readFileSync(join(import.meta.dirname, name), "utf8"))
  .join("\n");
const version = sha256Of(style, "base64url").slice(0, 12);

/** Pages of the desk with their access keys (used with Alt, or Ctrl+Alt). */
export const places = [
  { path: "/desk", name: "Overview", key: "0" },
  { path: "/desk/queues", name: "Queues", key: "1" },
  { path: "/desk/picks", name: "Picks", key: "2" },
  { path: "/desk/undo", name: "Undo", key: "3" },
  { path: "/desk/log", name: "Log", key: "4" },
  { path: "/desk/health", name: "Health", key: "5" },
  { path: "/desk/charts", name: "Charts", key: "6" },
  { path: "/desk/profiles", name: "Profiles", key: "8" },
  { path: "/desk/keys", name: "Keys", key: "?" },
] as const;

type Place = (typeof places)[number]["path"];

/** The contents of a page; `status` is 200 by default. */
export type Page = {
  title: string;
  place: Place | null;
  main: Part;
  status?: number | undefined;
  headers?: Record<string, string>;
};

/** The reader of a page; null before sign-in. `network`: a notice when the money is not real. */
export type Reader = { name: string; token: string; network: string | null };

const frame = ({ title, place, main }: Page, reader: Reader | null): Html =>
  html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex" />
      <title>${title} · Desk</title>
      <link rel="icon" href="/favicon.svg" />
      <link rel="stylesheet" href="/desk/desk.css?${version}" />
    </head>
    <body>
      <a class="skip" href="#main">Skip to content</a>
      <header>
        <p class="name"><a href="/desk">${mark} Almoner’s desk</a></p>
        ${reader === null ? null : [navigation(place), signOut(reader)]}
        ${reader === null || reader.network === null ? null : html`<p class="network" role="note"><strong>Test network.</strong> ${reader.network}</p>`}
      </header>
      <main id="main" tabindex="-1">${main}</main>
    </body>
  </html>`;

/** A coin over an open dish, as on the site. */
const mark = html`<svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
  <circle cx="16" cy="9.5" r="4.5" fill="var(--gold)"></circle>
  <path d="M4 15.5h24c0 7-5.4 12.5-12 12.5S4 22.5 4 15.5z" fill="var(--accent)"></path>
</svg>`;

const navigation = (current: Place | null): Html =>
  html`<nav aria-label="Desk">
    <ul>
      ${places.map(
        ({ path, name, key }) =>
          html`<li>
            <a
              href="${path}"
              accesskey="${key}"
              ${path === current ? html` aria-current="page"` : null}
              >${name} <kbd>${key}</kbd></a
            >
          </li>`,
      )}
    </ul>
  </nav>`;

const signOut = ({ name, token }: Reader): Html =>
  html`<form method="post" action="/desk/sign-out" class="sign-out">
    ${tokenField(token)}
    <span>Signed in as <bdi>${name}</bdi></span>
    <button>Sign out</button>
  </form>`;

/** Only pages, styles, fonts and pictures of this origin: no script and no frame. */
const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Never cached, never shown to another site. The referrer stays, as browsers without one hide a form's origin. */
const headers = {
  "cache-control": "no-store",
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "same-origin",
  "x-frame-options": "DENY",
  "x-robots-tag": "noindex, nofollow",
} as const;

export const pageAnswer = (page: Page, reader: Reader | null): Response =>
  new Response(`<!doctype html>\n${frame(page, reader).toString()}`, {
    status: page.status ?? 200,
    headers: { "content-type": "text/html; charset=utf-8", ...headers, ...page.headers },
  });

/** Sent after a form, so that reloading the page does not send the form again. */
export const redirect = (location: string, extra: Record<string, string> = {}): Response =>
  new Response(null, { status: 303, headers: { ...headers, location, ...extra } });

/** The stylesheet (its address contains a hash of its content) or a font. */
export const fileAnswer = (body: string | Uint8Array<ArrayBuffer>, type: string): Response =>
  new Response(body, {
    headers: {
      "content-type": type,
      ...headers,
      "cache-control": "public, max-age=31536000, immutable",
    },
  });

/** Access keys within pages, besides those of `places`. */
const onPages = [
  ["o", "In a queue: open the first review"],
  ["e", "In a review: edit the value. On Profiles: type which one"],
  ["a", "In a review: approve. On a profile: save"],
  ["r", "In a review: write why it is rejected"],
  ["n", "The next review, or the next page of a list"],
] as const;

/** /desk/keys: how to use the desk by keyboard, without a script. */
export const keysPage = async (): Promise<Page> => ({
  title: "Keys",
  place: "/desk/keys",
  main: html`<h1>Keys</h1>
    <p>
      Hold <strong>Alt</strong> and press the key. In Firefox hold <strong>Alt</strong> and
      <strong>Shift</strong>, on a Mac <strong>Ctrl</strong> and <strong>Option</strong>. The small
      letters beside links and buttons are these keys.
    </p>
    ${table({
      kind: "facts",
      columns: [],
      rows: [
        ...places.map(({ name, path, key }) => [
          html`<code>${key}</code>`,
          html`<a href="${path}">${name}</a>`,
        ]),
        ...onPages.map(([key, what]) => [html`<code>${key}</code>`, what]),
      ],
    })}
    <p>
      <strong>Tab</strong> goes from one link or field to the next, <strong>Space</strong> ticks a
      box, and the first press of <strong>Tab</strong> on each page offers to skip the navigation.
    </p>`,
});
