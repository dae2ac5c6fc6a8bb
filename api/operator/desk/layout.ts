import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { placeWith } from "#api/http/query.ts";
import type { AuditEntry } from "#content/contract/operator.ts";
import type { ReviewCheck } from "#content/contract/review.ts";
import { safeLink } from "#content/nonprofit/safe-link.ts";
import { type Html, html, type Part } from "#api/http/html.ts";

/** The stylesheet, and its address, which changes with its content. */
export const style = ["../../../content/editorial/house.css", "desk.css"]
  .map((name) => readFileSync(join(import.meta.dirname, name), "utf8"))
  .join("\n");
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
  { path: "/desk/profiles", name: "Profiles", key: "8" },
  { path: "/desk/keys", name: "Keys", key: "?" },
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
        <p class="name"><a href="/desk">${mark} Almoner’s desk</a></p>
        ${operator === null ? null : [navigation(place), signOut(operator)]}
        ${network === null ? null : html`<p class="network" role="note"><strong>Test network.</strong> ${network}</p>`}
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

/** A field of a form, with its label. */
type Field = {
  name: string;
  /** Its name unless given. */
  id?: string;
  label: Part;
  value?: string | undefined;
  /** Given for a text of several lines. */
  rows?: number;
  required?: boolean;
  lengthMax?: number;
  /** Leads there together with the browser's own key. */
  key?: string | undefined;
};

export function field(given: Field): Html {
  const { name, id = name, label, value = "", rows, required = false, lengthMax, key } = given;
  const attributes = [
    html` id="${id}" name="${name}" dir="auto"`,
    keyOf(key),
    lengthMax === undefined ? null : html` maxlength="${lengthMax}"`,
    required ? html` required` : null,
  ];
  // A line break after <textarea> is no part of its text; without one, a text that begins with one would lose it.
  const control =
    rows === undefined
      ? html`<input type="text" value="${value}" ${attributes} />`
      : html`<textarea rows="${rows}" ${attributes}>${`\n${value}`}</textarea>`;
  return html`<label for="${id}">${label}${keyHint(key)}</label>${control}`;
}

/** Why something is decided: what every decision is asked for, unless it is not required. */
export const reasonField = (given: Omit<Field, "name" | "lengthMax">): Html =>
  field({ name: "reason", required: true, lengthMax: 500, ...given });

const keyOf = (key: string | undefined): Part =>
  key === undefined ? null : html` accesskey="${key}"`;

const keyHint = (key: string | undefined): Part =>
  key === undefined ? null : html` <kbd>${key}</kbd>`;

type FormShown = {
  action: string;
  token: string;
  legend: string;
  hidden?: Readonly<Record<string, string>>;
  fields?: Part;
  button: string;
  /** Presses the button together with the browser's own key. */
  key?: string;
  danger?: boolean;
};

/** A form of a session's page. */
export const form = (given: FormShown): Html => {
  const { action, token, legend, hidden = {}, fields, button, key, danger = false } = given;
  const look = danger ? html` class="danger"` : null;
  return html`<form method="post" action="${action}">
    <fieldset>
      <legend>${legend}</legend>
      ${tokenField(token)}
      ${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
      ${fields}
      <button ${[look, keyOf(key)]}>${button}${keyHint(key)}</button>
    </fieldset>
  </form>`;
};

/** The link to what comes after this page of a list. */
export const nextLink = (place: string, words: string): Html =>
  html`<a href="${place}" rel="next" accesskey="n">${words} <kbd>n</kbd></a>`;

/** Ways to see a page otherwise; the one that is shown is marked. */
export const linkList = (
  label: string,
  links: readonly { place: string; text: string; current: boolean }[],
): Html =>
  html`<nav aria-label="${label}">
    <ul>
      ${links.map(({ place, text, current }) => html`<li><a href="${place}" ${current ? html` aria-current="page"` : null}>${text}</a></li>`)}
    </ul>
  </nav>`;

/** A text that somebody sent: as it is, in a direction of its own. */
export const sent = (text: string | null): Html =>
  text === null || text === ""
    ? html`<span class="none">nothing</span>`
    : html`<bdi class="text" dir="auto">${text}</bdi>`;

/** A link that somebody sent: opened without telling where from, and only when it is http(s); else its text. */
export function sentLink(link: string): Html {
  const safe = safeLink(link);
  if (safe === null || !/^https?:/i.test(safe)) return sent(link);
  return html`<a href="${safe}" rel="noopener noreferrer nofollow" target="_blank"
    ><bdi>${safe}</bdi></a
  >`;
}

/** The public profile of a nonprofit. */
export const profileLink = (slug: string | null, name: string | null): Html =>
  slug === null
    ? html`<bdi dir="auto">${name ?? "not listed yet"}</bdi>`
    : html`<a href="/nonprofits/${encodeURIComponent(slug)}"
        ><bdi dir="auto">${name ?? slug}</bdi></a
      >`;

/** An instant, for people and for programs. */
export const instant = (iso: string): Html =>
  html`<time datetime="${iso}">${iso.replace("T", " ").replace("Z", " UTC")}</time>`;

export const flagList = (flags: readonly string[]): Part =>
  flags.length === 0
    ? null
    : html`<ul class="tags" aria-label="Flags">
        ${flags.map((flag) => html`<li class="flag">${flag.replaceAll("_", " ")}</li>`)}
      </ul>`;

type Table = {
  caption?: string;
  columns: readonly string[];
  rows: readonly (readonly Part[])[];
  /**
   * "compare": what each row is about, and two wide columns beside each other; "numbers": a name and numbers; "facts": a
   * name and a sentence, without headings.
   */
  kind?: "list" | "compare" | "numbers" | "facts";
};

/**
 * A table: on a narrow screen each row of a list is a block, and each cell names its column. The roles are spelled out,
 * because browsers forget them with the layout.
 */
export const table = ({ caption, columns, rows, kind = "list" }: Table): Html => {
  const look = kind === "list" || kind === "compare" ? `rows ${kind}` : kind;
  const number = kind === "numbers" ? html` class="number"` : null;
  const cellOf = (cell: Part, at: number): Html =>
    at === 0 && kind !== "list"
      ? html`<th scope="row" role="rowheader">${cell}</th>`
      : html`<td role="cell" data-column="${columns[at] ?? ""}" ${number}>${cell}</td>`;
  const captioned =
    caption === undefined
      ? null
      : html`<caption>
          ${caption}
        </caption>`;
  return html`<div class="scroll">
    <table class="${look}" role="table">
      ${captioned}
      ${
        columns.length === 0
          ? null
          : html`<thead role="rowgroup">
              <tr role="row">
                ${columns.map((column) => html`<th scope="col" role="columnheader">${column}</th>`)}
              </tr>
            </thead>`
      }
      <tbody role="rowgroup">
        ${rows.map(
          (cells) =>
            html`<tr role="row">
              ${cells.map(cellOf)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
};

export const checkList = (checks: readonly ReviewCheck[]): Part =>
  checks.length === 0
    ? null
    : html`<h2>Checks</h2>
        ${table({
          columns: ["Check", "Outcome", "What it says"],
          rows: checks.map(({ name, outcome, message }) => [
            sent(name),
            html`<span class="outcome-${outcome}">${outcome}</span>`,
            sent(message),
          ]),
        })}`;

/** Whatever JSON holds, as nested lists. Keys and values come from others. */
export function details(value: unknown, depth = 0): Html {
  if (value === null || value === undefined || value === "") return sent(null);
  if (typeof value !== "object") return asText(String(value));
  if (depth >= depthMax) return html`<pre>${JSON.stringify(value, null, 2)}</pre>`;
  if (Array.isArray(value)) {
    if (value.length === 0) return sent(null);
    return html`<ol>
      ${value.map((one) => html`<li>${details(one, depth + 1)}</li>`)}
    </ol>`;
  }
  return html`<dl>
    ${Object.entries(value).map(
      ([name, one]) =>
        html`<dt>${name.replaceAll("_", " ")}</dt>
          <dd>${details(one, depth + 1)}</dd>`,
    )}
  </dl>`;
}

const depthMax = 4;

const asText = (text: string): Html => (/^https?:\/\//i.test(text) ? sentLink(text) : sent(text));

/** Lines of the audit log. */
export const auditTable = (entries: readonly AuditEntry[], caption: string): Html =>
  table({
    caption,
    columns: ["When", "Operator", "Action", "Subject", "Detail"],
    rows: entries.map(
      ({ happened_at, operator, action, subject, detail: { about, ...detail } }) => [
        instant(happened_at),
        html`<bdi>${operator}</bdi>`,
        action,
        html`<a href="${placeWith("/desk/log", { subject })}"
          ><bdi dir="auto">${typeof about === "string" ? about : subject}</bdi></a
        >`,
        Object.entries(detail)
          .filter(([, value]) => value !== null && value !== "")
          .map(
            ([name, value]) =>
              html`<div>
                ${name.replaceAll("_", " ")}:
                ${sent(brief(typeof value === "string" ? value : JSON.stringify(value)))}
              </div>`,
          ),
      ],
    ),
  });

const briefMax = 300;

/** The beginning of a text. */
export const brief = (text: string, lengthMax = briefMax): string =>
  text.length > lengthMax ? `${text.slice(0, lengthMax).toWellFormed()}…` : text;
