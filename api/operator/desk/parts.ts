import { safeLink } from "#content/nonprofit/safe-link.ts";
import type { AuditEntry } from "#content/contract/audit.ts";
import type { ReviewCheck, ReviewKind } from "#content/contract/review.ts";
import { html, type Html, type Part } from "./html.ts";

/** Names of the queues, as a person reads them. */
export const queueNames: Readonly<Record<ReviewKind, string>> = {
  onboarding: "Claims, registrations and changes",
  hold: "Wallet changes on hold",
  prose: "Prose",
  draft: "Drafts of recommendations",
  contested: "Contested values",
  revert: "Contradicted values",
};

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

/**
 * A table: on a narrow screen each row is a block, and each cell names its column. The roles are spelled out, because
 * browsers forget them with the layout.
 */
export const table = ({ caption = null, columns, rows, kind = "list" }: Table): Html =>
  html`<div class="scroll">
    <table class="rows ${kind}" role="table">
      ${
        caption === null
          ? null
          : html`<caption>
              ${caption}
            </caption>`
      }
      <thead role="rowgroup">
        <tr role="row">
          ${columns.map((column) => html`<th scope="col" role="columnheader">${column}</th>`)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows.map(
          (cells) =>
            html`<tr role="row">
              ${cells.map((cell, at) => (at === 0 && kind === "compare" ? html`<th scope="row" role="rowheader">${cell}</th>` : html`<td role="cell" data-column="${columns[at] ?? ""}">${cell}</td>`))}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;

type Table = {
  caption?: string | null;
  columns: readonly string[];
  rows: readonly (readonly Part[])[];
  /** "compare": what each row is about, and two wide columns beside each other. */
  kind?: "list" | "compare";
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
    rows: entries.map(({ happened_at, operator, action, subject, detail }) => [
      instant(happened_at),
      html`<bdi>${operator}</bdi>`,
      action,
      html`<a href="/desk/log?${new URLSearchParams({ subject }).toString()}"
        ><bdi>${subject}</bdi></a
      >`,
      Object.entries(detail)
        .filter(([, value]) => value !== null && value !== "")
        .map(
          ([name, value]) => html`<div>${name.replaceAll("_", " ")}: ${sent(brief(value))}</div>`,
        ),
    ]),
  });

const briefMax = 300;

function brief(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > briefMax ? `${text.slice(0, briefMax).toWellFormed()}…` : text;
}
