import { safeLink } from "#content/nonprofit/safe-link.ts";
import { type Html, html, type Part } from "#content/language/html.ts";
import { placeWith } from "#api/http/query.ts";
import type { AuditEntry } from "#content/contract/operator.ts";
import type { ReviewCheck } from "#content/contract/review.ts";

/** A message at the top of a page, which screen readers announce at once. */
export const notice = (kind: "good" | "bad", text: Part): Html =>
  html`<p class="notice ${kind}" role="${kind === "bad" ? "alert" : "status"}">${text}</p>`;

export const nextLink = (place: string, words: string): Html =>
  html`<a href="${place}" rel="next" accesskey="n">${words} <kbd>n</kbd></a>`;

/** A text from outside, unchanged and in its own direction. */
export const sent = (text: string | null): Html =>
  text === null || text === ""
    ? html`<span class="none">nothing</span>`
    : html`<bdi class="text" dir="auto">${text}</bdi>`;

/** A link from outside: opened without a referrer if it is http(s); otherwise shown as text. */
export function sentLink(link: string): Html {
  const safe = safeLink(link);
  if (safe === null || !/^https?:/i.test(safe)) return sent(link);
  return html`<a href="${safe}" rel="noopener noreferrer nofollow" target="_blank"
    ><bdi>${safe}</bdi></a
  >`;
}

export const profileLink = (slug: string | null, name: string | null): Html =>
  slug === null
    ? html`<bdi dir="auto">${name ?? "not listed yet"}</bdi>`
    : html`<a href="/nonprofits/${encodeURIComponent(slug)}"
        ><bdi dir="auto">${name ?? slug}</bdi></a
      >`;

/** A time, for people and for programs. */
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
   * "compare": the subject of a row and two wide columns side by side; "numbers": a name and numbers; "facts": a name and
   * a sentence, without headings.
   */
  kind?: "list" | "compare" | "numbers" | "facts";
};

/**
 * A table. On a narrow screen each row of a list is a block, and each cell names its column. Roles are explicit, because
 * browsers drop them with the table layout.
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
  // Lists become blocks on a narrow screen; tables of numbers scroll sideways, also by keyboard.
  const moves =
    kind === "numbers" ? html` tabindex="0" role="region" aria-label="${columns[0]}"` : null;
  return html`<div class="scroll" ${moves}>
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

/** Any JSON as nested lists. Keys and values come from outside. */
export function details(value: unknown, depth = 0): Html {
  if (value === null || value === undefined || value === "") return sent(null);
  if (typeof value !== "object") return asText(String(value));
  if (depth >= depthMax) return html`<pre>${JSON.stringify(value, null, 2)}</pre>`;
  if (Array.isArray(value)) {
    if (value.length === 0) return sent(null);
    return html`<ol>
      ${value.map((entry) => html`<li>${details(entry, depth + 1)}</li>`)}
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

export const brief = (text: string, lengthMax = briefMax): string =>
  text.length > lengthMax ? `${text.slice(0, lengthMax).toWellFormed()}…` : text;
