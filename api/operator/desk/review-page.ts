import { z } from "zod";
import type { Context } from "#api/context.ts";
import { queryOf } from "#api/http/query.ts";
import { lastDecision } from "#content/operation/audit-store.ts";
import { findReview } from "#api/operator/review.ts";
import type { AuditEntry } from "#content/contract/operator.ts";
import { Duplicate } from "#content/contract/onboarding.ts";
import type { ReviewItem } from "#content/contract/review.ts";
import {
  checkList,
  details,
  flagList,
  type Html,
  html,
  instant,
  notice,
  type Part,
  profileLink,
  queueNames,
  sent,
  sentLink,
  table,
} from "./layout.ts";
import { type Entered, reviewForms } from "./review-form.ts";
import { notHere, type Page, type Visit } from "./visit.ts";

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
      ${flagList(review.flags)} ${comparisonTable(review)} ${voteTable(review.detail["values"])}
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
        <p class="quiet">No one has opened these links: they are shown as they were sent.</p>`;

/** Nothing waits under this id: most likely another operator was faster. */
async function decidedPage({ context }: Visit, id: string): Promise<Page> {
  const decision = await lastDecision(context, id);
  if (decision === null)
    return notHere("Nothing waits under this id, and no decision about it is on record.");
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

/** What has just been decided, as the log has it: an address cannot make the desk say anything else. */
export async function decisionNotice(
  context: Pick<Context, "store">,
  review: string | null,
): Promise<Part> {
  if (review === null) return null;
  const decision = await lastDecision(context, review);
  return decision === null ? null : notice("good", decisionSentence(decision));
}

/** "prose-12 was approved by ada, 2026-…: …" */
export const decisionSentence = ({
  subject,
  action,
  operator,
  happened_at,
  detail,
}: AuditEntry): Html => {
  const reason =
    typeof detail["reason"] === "string" && detail["reason"] !== "" ? detail["reason"] : null;
  const done = action.replace(/^(?:review|pick)\./, "").replaceAll(".", " ");
  return html`<bdi>${subject}</bdi> was ${done} by <bdi>${operator}</bdi>,
    ${instant(happened_at)}${reason === null ? "." : html`: <bdi dir="auto">${reason}</bdi>`}`;
};

/** What agents say of a field, as contested and contradicted values bring it along. */
const Votes = z.array(
  z.object({
    value: z.string(),
    agent_id: z.string(),
    agent_name: z.string(),
    source_url: z.string().nullable(),
    sent_at: z.string(),
    flags: z.array(z.string()),
  }),
);

/** Each value beside who sent it, where it was found and when; nothing for reviews of other kinds. */
export function voteTable(values: unknown): Part {
  const read = Votes.safeParse(values);
  if (!read.success) return null;
  return html`<h2>What agents say</h2>
    ${table({
      columns: ["Value", "Agent", "Found at", "Sent"],
      rows: read.data.map(({ value, agent_id, agent_name, source_url, sent_at, flags }) => [
        html`<strong>${sent(value)}</strong>`,
        html`${sent(agent_name)}${agent_name === agent_id ? null : html` <span class="quiet">(<bdi>${agent_id}</bdi>)</span>`}${flagList(flags)}`,
        source_url === null ? sent(null) : sentLink(source_url),
        instant(sent_at),
      ]),
    })}`;
}

const Duplicates = z.array(Duplicate).min(1);

const reasonWords: Readonly<Record<Duplicate["reasons"][number], string>> = {
  same_registration: "the same number in the same register",
  same_site: "the same site",
  near_name: "a near-same name in the same place",
};

/** Profiles that may be the same organisation, the likeliest first; nothing for reviews of other kinds. */
export function duplicateTable(duplicates: unknown): Part {
  const read = Duplicates.safeParse(duplicates);
  if (!read.success) return null;
  return html`<h2>Perhaps the same organisation</h2>
    ${table({
      columns: ["Profile", "City", "Why", "Names alike (0 to 1)"],
      rows: read.data.map(({ slug, name, city, status, reasons, name_similarity }) => [
        html`${profileLink(slug, name)}${status === "listed" ? null : html` <span class="quiet">(${status})</span>`}`,
        sent(city),
        reasons.map((reason) => reasonWords[reason]).join(", "),
        name_similarity.toFixed(2),
      ]),
    })}`;
}
