import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { html, type Html, type Part } from "./html.ts";

/** The stylesheet, and its address, which changes with its content. */
export const style = readFileSync(join(import.meta.dirname, "desk.css"), "utf8");
const version = createHash("sha256").update(style).digest("base64url").slice(0, 12);

/** Places of the desk, with the key that leads there together with the browser's own (Alt, or Ctrl+Alt). */
export const places = [
  { path: "/desk", name: "Overview", key: "0" },
  { path: "/desk/queues", name: "Queues", key: "1" },
  { path: "/desk/picks", name: "Picks", key: "2" },
  { path: "/desk/undo", name: "Undo", key: "3" },
  { path: "/desk/log", name: "Log", key: "4" },
  { path: "/desk/health", name: "Health", key: "5" },
  { path: "/desk/charts", name: "Charts", key: "6" },
  { path: "/desk/webhooks", name: "Webhooks", key: "7" },
] as const;

export type Place = (typeof places)[number]["path"];

type Frame = {
  title: string;
  /** Null before anyone signed in. */
  operator: { name: string; token: string } | null;
  place: Place | null;
  /** What is to be known of the network, where money is not real. */
  network?: string | null;
  main: Part;
};

/** A whole page: skip link, navigation, one main part. */
export const frame = ({ title, operator, place, network = null, main }: Frame): Html =>
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
        <p class="name"><a href="/desk">Almoner’s desk</a></p>
        ${operator === null ? null : [navigation(place), signOut(operator)]}
      </header>
      ${network === null ? null : html`<p class="network" role="note"><strong>Test network.</strong> ${network}</p>`}
      <main id="main" tabindex="-1">${main}</main>
    </body>
  </html>`;

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

const signOut = ({ name, token }: { name: string; token: string }): Html =>
  html`<form method="post" action="/desk/sign-out" class="sign-out">
    ${tokenField(token)}
    <span>Signed in as <bdi>${name}</bdi></span>
    <button>Sign out</button>
  </form>`;

/** What proves that a form came from this session's page. */
export const tokenField = (token: string): Html =>
  html`<input type="hidden" name="token" value="${token}" />`;

/** What a page says before all else, read out by screen readers at once. */
export const notice = (kind: "good" | "bad", text: Part): Html =>
  html`<p class="notice ${kind}" role="${kind === "bad" ? "alert" : "status"}">${text}</p>`;
