import type { ReviewItem } from "#content/contract/review.ts";
import { lastDecision } from "#api/operator/audit.ts";
import { findReview } from "#api/operator/review.ts";
import { queryOf } from "#api/http/query.ts";
import { duplicateTable } from "./duplicates.ts";
import { notice } from "./frame.ts";
import { html, type Html, type Part } from "./html.ts";
import {
  checkList,
  details,
  flagList,
  instant,
  profileLink,
  queueNames,
  sent,
  sentLink,
  table,
} from "./parts.ts";
import { type Entered, reviewForms } from "./review-forms.ts";
import { decisionNotice, decisionSentence } from "./review-notice.ts";
import { notHere, type Page, type Visit } from "./visit.ts";
import { voiceTable } from "./voices.ts";

/** GET /desk/reviews/:id: one thing that waits, or who decided it. */
export async function reviewPage(visit: Visit, id: string): Promise<Page> {
  const review = await findReview(visit.context, id);
  if (review === null) return decidedPage(visit, id);
  return itemPage(visit, review, { done: queryOf(visit.request.url).text("done") });
}

/** A review with its forms; `trouble` says why a decision was not taken, `entered` what was typed. */
export async function itemPage(
  { context, token }: Visit,
  review: ReviewItem,
  {
    trouble = null,
    entered = null,
    done = null,
    status = 200,
  }: { trouble?: string | null; entered?: Entered | null; done?: string | null; status?: number },
): Promise<Page> {
  const { id, kind, slug, name, summary, created_at } = review;
  return {
    title: id,
    place: "/desk/queues",
    status,
    main: html`<p><a href="/desk/queues/${kind}">${queueNames[kind]}</a></p>
      <h1>${profileLink(slug, name)}</h1>
      ${trouble === null ? await decisionNotice(context, done) : notice("bad", trouble)}
      <p>${summary}</p>
      <p class="quiet">${id}, since ${instant(created_at)}</p>
      ${flagList(review.flags)} ${comparisonTable(review)} ${voiceTable(review.detail["values"])}
      ${duplicateTable(review.detail["duplicates"])} ${sourceList(review)}
      ${checkList(review.checks)} ${reviewForms(review, token, entered)}
      <details>
        <summary>All that was sent</summary>
        ${details(review.detail)}
      </details>`,
  };
}

const comparisonTable = ({ comparison, editing }: ReviewItem): Part => {
  // Where one of several values is to be chosen, none of them stands for what approval would bring.
  if (comparison.length === 0 || editing?.required === true) return null;
  return html`<h2>Now, and after approval</h2>
    ${table({
      kind: "compare",
      columns: ["Field", "Live now", "After approval"],
      rows: comparison.map(({ field, before, after }) => [
        field.replaceAll("_", " "),
        sent(before),
        sent(after),
      ]),
    })}`;
};

const sourceList = ({ sources }: ReviewItem): Part =>
  sources.length === 0
    ? html`<p class="quiet">No source was given.</p>`
    : html`<h2>Sources</h2>
        <ul>
          ${sources.map((source) => html`<li>${sentLink(source)}</li>`)}
        </ul>
        <p class="quiet">Nobody has opened them: they are as they were sent.</p>`;

/** Nothing waits under this id: most likely another operator was faster. */
async function decidedPage({ context }: Visit, id: string): Promise<Page> {
  const decision = await lastDecision(context, id);
  if (decision === null) return notHere("Nothing waits under this id, and nobody decided it.");
  return {
    title: "Decided",
    place: "/desk/queues",
    main: html`<h1>Decided already</h1>
      ${notice("good", decisionSentence(decision))}${onward(id)}`,
  };
}

/** The way on from something that is decided. */
export const onward = (id: string): Html => {
  const [kind = ""] = id.split("-", 1);
  return html`<p>
      <a href="/desk/queues/${encodeURIComponent(kind)}" accesskey="n"
        >On to what waits <kbd>n</kbd></a
      >
    </p>
    <p>
      <a href="/desk/log?${new URLSearchParams({ subject: id }).toString()}"
        >All that was done to it</a
      >
    </p>`;
};
