import { placeWith, queryIn, textIn } from "#api/http/query.ts";
import { dailyNumbers, operatorHealth } from "#api/operator/health.ts";
import { findReview, listReviews, reviewQueues } from "#api/operator/requests.ts";
import { waitingMax } from "#content/requests/requests.ts";
import { operatorOperations } from "#content/contract/operations/operator.ts";
import { isRowField } from "#content/contract/enrichment.ts";
import type { AuditEntry } from "#content/contract/operator.ts";
import {
  aboutReview,
  bulkMax,
  queueWords,
  type ReviewItem,
  reviewKinds,
  type ReviewsDecided,
} from "#content/contract/review.ts";
import { lastDecision, readAudit } from "#content/operation/audit-store.ts";
import { type Html, html, type Part } from "#content/language/html.ts";
import { chartsOfDays, warningsNotice } from "./health-page.ts";
import { type FormNotice, type Forms, notHere, type FormVisit, type Visit } from "./visit.ts";
import { type Form, form, typedInto } from "./forms.ts";
import type { Page } from "./layout.ts";
import { auditTable, brief, flagList, instant, nextLink, notice, table } from "./elements.ts";

const rowsPerPage = 50;
const recentEntries = 100;
const recentDecisions = 10;

/** /desk: warnings, queues, charts and recent decisions. */
export async function overviewPage({ context }: Visit): Promise<Page> {
  const [log, { warnings }, numbers] = await Promise.all([
    readAudit(context, { limit: recentEntries }),
    operatorHealth(context),
    dailyNumbers(context, { days: 30 }),
  ]);
  const decisions = log.entries
    .filter(({ subject }) => subject !== "desk")
    .slice(0, recentDecisions);
  return {
    title: "Overview",
    place: "/desk",
    main: html`<h1>Overview</h1>
      ${warnings.length === 0 ? null : [warningsNotice(warnings), html`<p><a href="/desk/health">What to do about it</a></p>`]}
      ${await queueTable({ context })}
      <h2>The last 30 days</h2>
      ${await chartsOfDays(numbers, ["enrichment", "queries"])}
      <p><a href="/desk/charts">All charts</a></p>
      <h2>Done recently</h2>
      ${decisions.length === 0 ? html`<p class="quiet">Nothing yet.</p>` : auditTable(decisions, "The newest first, without signing in")}
      <p><a href="/desk/log">The whole log</a></p>`,
  };
}

export async function queuesPage(visit: Visit): Promise<Page> {
  return {
    title: "Queues",
    place: "/desk/queues",
    main: html`<h1>Queues</h1>
      ${await decisionNotice(visit)}${await queueTable(visit)}`,
  };
}

const queueTable = async ({ context }: Pick<Visit, "context">): Promise<Html> =>
  table({
    kind: "numbers",
    caption: "What waits for a decision",
    columns: ["Queue", "Waiting"],
    rows: (await reviewQueues(context)).map(({ kind, waiting }) => [
      html`<a href="/desk/queues/${kind}">${queueWords[kind].name}</a>`,
      amount(waiting),
    ]),
  });

const amount = (waiting: number): string =>
  waiting >= waitingMax
    ? `${waitingMax.toLocaleString("en")} or more`
    : waiting.toLocaleString("en");

/** "7 waiting, those with a proven host first. 995 gave up their place …" */
function waitingSentence({ kind, waiting, left_out }: QueueCount): string {
  const leftOut = ` ${amount(left_out)} gave up their place unseen in the last 30 days: 5 of one network, and 50 in all, wait for a profile.`;
  return `${amount(waiting)} waiting, ${queueWords[kind].order}.${left_out === 0 ? "" : leftOut}`;
}

type QueueCount = Awaited<ReturnType<typeof reviewQueues>>[number];

/** /desk/queues/:kind: a page of one queue, the oldest first. */
export async function queuePage(visit: Visit, { message, status }: FormNotice = {}): Promise<Page> {
  const { context, request, params } = visit;
  const kind = reviewKinds.find((name) => name === params["name"]);
  if (kind === undefined) return notHere("There is no such queue.");
  const { after } = queryIn(request, operatorOperations.listReviews);
  const { reviews, next } = await listReviews(context, { kind, limit: rowsPerPage, after });
  const [queue] = await reviewQueues(context, kind);
  const place = `/desk/queues/${kind}`;
  return {
    title: queueWords[kind].name,
    place: "/desk/queues",
    status,
    main: html`<h1>${queueWords[kind].name}</h1>
      ${message}${await decisionNotice(visit)}
      ${queue === undefined ? null : html`<p class="quiet">${waitingSentence(queue)}</p>`}
      ${reviews.length === 0 ? html`<p>Nothing waits here${after === undefined ? null : " after this place"}.</p>` : form("decideReviews", visit, { query: { after }, before: reviewTable(reviews, typedInto("decideReviews", visit)), without: queueWords[kind].approve === null ? "approved" : null })}
      ${after === undefined ? null : html`<p><a href="${place}">First page</a></p>`}
      ${next === null ? null : html`<p>${nextLink(placeWith(place, { after: next }), "Next page")}</p>`}`,
  };
}

/** The ticked rows; each stands for one or several reviews. */
const rowsIn = ({ form: sent }: FormVisit): string[][] =>
  sent.ticked("review").map((row) => row.split(","));

/** Decides the ticked reviews, and reports those that could not be decided. */
export const queueForms = {
  decideReviews: {
    page: queuePage,
    body: (visit) => ({ ids: rowsIn(visit).flat(), decision: visit.form.text("decision") }),
    unusable: (_, visit) => {
      const count = rowsIn(visit).flat().length;
      if (count === 0) return "Tick what is to be decided.";
      return count > bulkMax
        ? `At most ${bulkMax} can be decided at once, and ${count} are ticked: tick fewer.`
        : undefined;
    },
    done: decidedPage,
  },
} satisfies Partial<Forms>;

async function decidedPage(visit: FormVisit, { results }: ReviewsDecided): Promise<Page> {
  const rows = rowsIn(visit);
  const done = new Set(results.flatMap((result) => (result.done ? result.id : [])));
  const left: Html[] = [];
  for (const { id, message } of results) {
    const waiting = done.has(id) ? null : await findReview(visit.context, id);
    // One decision settles all reviews that propose the same.
    const isSettled =
      waiting === null && rows.some((row) => row.includes(id) && done.has(row[0] ?? ""));
    if (done.has(id) || isSettled) continue;
    const about = waiting === null ? id : aboutReview(waiting);
    left.push(
      html`<br /><a href="/desk/reviews/${encodeURIComponent(id)}"><bdi dir="auto">${about}</bdi></a
        >: ${message}`,
    );
  }
  const count = rows.filter((row) => row.some((id) => done.has(id))).length;
  const sentence = html`${count} ${visit.form.text("decision")}. ${left}`;
  return queuePage(
    { ...visit, form: null },
    { message: notice(left.length === 0 ? "good" : "bad", sentence) },
  );
}

/** Equal for reviews that propose the same from different senders: they share a row and one decision. */
const proposalKey = ({ id, kind, slug, comparison }: ReviewItem): string =>
  queueWords[kind].groups_alike && comparison.length > 0 ? JSON.stringify([slug, comparison]) : id;

/** Equal for rival reviews: other values of a field, or other claims of a profile. New rows are never rivals. */
const rivalKey = (review: ReviewItem): string =>
  review.slug === null || isRowField(review.comparison[0]?.field ?? "")
    ? review.id
    : `${review.slug} ${aboutReview(review)}`;

const reviewTable = (reviews: readonly ReviewItem[], sent: Form | null): Html => {
  const groups = [...Map.groupBy(reviews, proposalKey).values()];
  const rivals = Map.groupBy(groups, ([first]) => first && rivalKey(first));
  return table({
    columns: ["Tick", "Review", "Asks for", "Since"],
    rows: groups.flatMap((same, at) => {
      const [review] = same;
      if (review === undefined) return [];
      const about = aboutReview(review);
      const box = `review.${same.map(({ id }) => id).join(",")}`;
      return [
        [
          (rivals.get(rivalKey(review)) ?? []).length > 1
            ? html`<span class="quiet">rival values</span>`
            : html`<input
                type="checkbox"
                name="${box}"
                value="1"
                ${sent?.has(box) === true ? html`checked` : null}
                aria-label="Tick ${about}"
              />`,
          html`<a
              href="/desk/reviews/${encodeURIComponent(review.id)}"
              ${at === 0 ? html` accesskey="o"` : null}
              ><bdi dir="auto">${about}</bdi></a
            >${at === 0 ? html` <kbd>o</kbd>` : null}`,
          [
            requestedChange(review),
            same.length === 1 ? null : html`<p class="quiet">Proposed ${same.length} times</p>`,
            flagList([...new Set(same.flatMap(({ flags }) => flags))]),
          ],
          instant(review.created_at),
        ],
      ];
    }),
  });
};

const newValueMax = 140;
const changesShownMax = 3;

/** The start of what would change, and the names of all other fields, so that nothing unnamed gets approved. */
function requestedChange({ comparison, summary }: ReviewItem): Part {
  if (comparison.length === 0) return summary;
  // For a single field, its name is shown elsewhere in the row.
  const others = comparison.slice(changesShownMax).map(({ field }) => field.replaceAll("_", " "));
  const changes = comparison.slice(0, changesShownMax).map(
    (change) =>
      html`<div>
        ${comparison.length === 1 ? null : html`<strong>${change.field.replaceAll("_", " ")}</strong>`}
        <bdi dir="auto">${brief(newIn(change), newValueMax)}</bdi>
      </div>`,
  );
  return others.length === 0
    ? changes
    : [...changes, html`<p class="quiet">Changes as well: ${others.join(", ")}</p>`];
}

/** The new value of a change; if it only appends, the appended part. */
const newIn = ({ before, after }: ReviewItem["comparison"][number]): string => {
  if (after === null) return "would be emptied";
  return before !== null && after.startsWith(`${before}\n`)
    ? after.slice(before.length + 1)
    : after;
};

/** The last decision, read from the log, so that a crafted address cannot make the desk say anything else. */
export async function decisionNotice({ context, request }: Visit): Promise<Part> {
  const review = textIn(request, "done");
  const decision = review === null ? null : await lastDecision(context, review);
  return decision === null ? null : notice("good", decisionSentence(decision));
}

/** "Hope Kitchen: mission was approved by ada, 2026-…: …" */
export const decisionSentence = (entry: AuditEntry): Html => {
  const { subject, action, operator, happened_at, detail } = entry;
  const about = typeof detail["about"] === "string" ? detail["about"] : subject;
  const reason =
    typeof detail["reason"] === "string" && detail["reason"] !== "" ? detail["reason"] : null;
  const done = action.replace(/^(?:review|pick|profile)\./, "").replaceAll(".", " ");
  return html`<bdi dir="auto">${about}</bdi> was ${done} by <bdi>${operator}</bdi>,
    ${instant(happened_at)}${reason === null ? "." : html`: <bdi dir="auto">${reason}</bdi>`}`;
};
