import { z } from "zod";
import { placeWith, queryIn, textIn } from "#api/http/query.ts";
import { actions } from "#api/operator/actions.ts";
import { findReview, listReviews } from "#api/operator/requests.ts";
import { operatorOperations } from "#content/contract/operations/operator.ts";
import { Duplicate } from "#content/contract/onboarding.ts";
import { aboutReview, queueWords, type ReviewItem, reviewKinds } from "#content/contract/review.ts";
import { lastDecision } from "#content/operation/audit-store.ts";
import { type Html, html, type Part } from "#content/language/html.ts";
import { decisionNotice, decisionSentence } from "./queues.ts";
import { reviewForms, valueIn } from "./review-form.ts";
import { notHere, perform, refused, type Sent, type FormNotice, type Visit } from "./visit.ts";
import { form } from "./forms.ts";
import { type Page, redirect } from "./layout.ts";
import {
  checkList,
  details,
  flagList,
  instant,
  notice,
  profileLink,
  sent,
  sentLink,
  table,
} from "./elements.ts";

/** GET /desk/reviews/:id: one thing that waits, or who decided it. */
export async function reviewPage(visit: Visit): Promise<Page> {
  const { context, request, params } = visit;
  const { id = "" } = params;
  const review = await findReview(context, id);
  if (review !== null) {
    const said = await decisionNotice(context, textIn(request, "done"));
    return itemPage(visit, review, { said });
  }
  // Most likely another operator was faster.
  const decision = await lastDecision(context, id);
  if (decision === null) {
    return notHere("Nothing waits under this id, and no decision about it is on record.");
  }
  return {
    title: "Decided",
    place: "/desk/queues",
    main: html`<h1>Decided already</h1>
      ${notice("good", decisionSentence(decision))}${onward(id)}`,
  };
}

function itemPage(
  { token, form: typed }: Visit,
  review: ReviewItem,
  { said, status }: FormNotice,
): Page {
  const { id, kind, slug, name, summary, created_at, detail } = review;
  return {
    title: aboutReview(review),
    place: "/desk/queues",
    status,
    main: html`<p><a href="/desk/queues/${kind}">${queueWords[kind].name}</a></p>
      <h1>${profileLink(slug, name)}</h1>
      ${said}
      <p>${summary}</p>
      <p class="quiet">Since ${instant(created_at)}, as <span class="id">${id}</span></p>
      ${saidWrong(detail["what_is_wrong"])} ${flagList(review.flags)} ${comparisonTable(review)}
      ${voteTable(detail["values"])} ${duplicateTable(detail["duplicates"])} ${sourceList(review)}
      ${checkList(review.checks)}
      ${
        queueWords[kind].checks_host
          ? form({
              name: "check_host",
              action: `/desk/reviews/${encodeURIComponent(id)}/check`,
              token,
            })
          : null
      }
      ${reviewForms(review, token, typed)}
      <details>
        <summary>All that was sent</summary>
        ${details(detail)}
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

/** What the sender says is wrong: without it no one can decide. */
const saidWrong = (words: unknown): Part =>
  typeof words === "string"
    ? html`<h2>What is said to be wrong</h2>
        ${sent(words)}`
    : null;

const sourceList = ({ sources }: ReviewItem): Part =>
  sources.length === 0
    ? html`<p class="quiet">No source was given.</p>`
    : html`<h2>Sources</h2>
        <ul>
          ${sources.map((source) => html`<li>${sentLink(source)}</li>`)}
        </ul>
        <p class="quiet">No one has opened these links: they are shown as they were sent.</p>`;

const onward = (id: string): Html => {
  const [kind = ""] = id.split("-", 1);
  return html`<p>
      <a href="/desk/queues/${encodeURIComponent(kind)}" accesskey="n"
        >On to what waits <kbd>n</kbd></a
      >
    </p>
    <p><a href="${placeWith("/desk/log", { subject: id })}">All that was done to it</a></p>`;
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
function voteTable(values: unknown): Part {
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
function duplicateTable(duplicates: unknown): Part {
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

/** POST /desk/reviews/:id: takes a decision and goes on to the next, or says why it could not be taken. */
export async function decidePage(visit: Sent): Promise<Page | Response> {
  const { context, params, form: typed } = visit;
  const { id = "" } = params;
  const approves = typed.text("decision") === "approve";
  const reason = typed.text("reason") || null;
  const outcome = await perform(visit, approves ? actions.approveReview : actions.rejectReview, {
    params: { id },
    body: approves ? { value: valueIn(typed, await findReview(context, id)), reason } : { reason },
  });
  if (outcome.ok) return redirect(await nextPlace(visit, id, typed.text("after"), id));
  const { failure } = outcome;
  const unusable = approves
    ? (failure.errors?.[0]?.message ?? "That cannot be used.")
    : "Say why, in at most 500 characters: the sender reads it.";
  // It may still be decided otherwise, unless somebody did meanwhile.
  const waiting = await findReview(context, id);
  if (waiting !== null) return itemPage(visit, waiting, refused(failure, unusable));
  const gone = "Nothing waits under this id any more.";
  return notTaken(visit, id, failure.code === "invalid_review" ? gone : failure.detail);
}

/** POST /desk/reviews/:id/check: looks at the host of an organisation that asks, and shows the review again. */
export async function checkPage(visit: Sent): Promise<Page> {
  const { id = "" } = visit.params;
  const outcome = await perform(visit, actions.checkHostControl, { params: { id } });
  const review = await findReview(visit.context, id);
  if (review === null) return notTaken(visit, id, "Nothing waits under this id any more.");
  const shown = { ...visit, form: null };
  if (!outcome.ok) return itemPage(shown, review, refused(outcome.failure));
  const kind = outcome.value.state === "proven" ? "good" : "bad";
  return itemPage(shown, review, { said: notice(kind, outcome.value.message) });
}

/** Another operator was faster, or the thing went away. Nothing was done. */
async function notTaken({ context }: Visit, id: string, why: string): Promise<Page> {
  const decision = await lastDecision(context, id);
  if (decision === null) return notHere(`${why} Nothing was done.`);
  return {
    title: "Decided meanwhile",
    place: "/desk/queues",
    status: 409,
    main: html`<h1>Decided meanwhile</h1>
      ${notice("bad", html`${why} Your decision changed nothing. ${decisionSentence(decision)}`)}
      ${onward(id)}`,
  };
}

/** GET /desk/reviews/:id/next: what comes after it in its queue. */
export async function nextPage(visit: Visit): Promise<Response> {
  const { id = "" } = visit.params;
  const { after } = queryIn(visit.request, operatorOperations.listReviews);
  return redirect(await nextPlace(visit, id, after, null));
}

/** The next of the queue after this place, else its first, else the list of all queues. `done` is what was decided. */
async function nextPlace(
  { context }: Visit,
  id: string,
  after: string | undefined,
  done: string | null,
): Promise<string> {
  const kind = reviewKinds.find((one) => id.startsWith(`${one}-`));
  if (kind === undefined) return placeWith("/desk/queues", { done });
  for (const start of [after, undefined]) {
    const { reviews } = await listReviews(context, { kind, limit: 1, after: start });
    const [next] = reviews;
    if (next !== undefined && next.id !== id) {
      return placeWith(`/desk/reviews/${encodeURIComponent(next.id)}`, { done });
    }
  }
  return placeWith(`/desk/queues/${kind}`, { done });
}
