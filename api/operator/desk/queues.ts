import { reviewKinds, type ReviewItem, type ReviewKind } from "#content/contract/review.ts";
import { readAudit } from "#content/operation/audit-store.ts";
import { listReviews, reviewQueues, waitingMax } from "#api/operator/review.ts";
import { queryOf } from "#api/http/query.ts";
import {
  type Html,
  type Part,
  auditTable,
  flagList,
  html,
  instant,
  profileLink,
  queueNames,
  table,
} from "./layout.ts";
import { decisionNotice } from "./review-page.ts";
import { notHere, type Page, type Visit } from "./visit.ts";

const rowsPerPage = 50;
const recentDecisions = 10;

/** /desk: what waits, and what was done recently. */
export async function overviewPage({ context }: Visit): Promise<Page> {
  const log = await readAudit(context, {
    operator: null,
    action: null,
    subject: null,
    before: null,
    limit: recentDecisions,
  });
  return {
    title: "Overview",
    place: "/desk",
    main: html`<h1>Overview</h1>
      ${await queueTable({ context })}
      <h2>Done recently</h2>
      ${log.count === 0 ? html`<p class="quiet">Nothing yet.</p>` : auditTable(log.entries, "The newest first")}
      <p><a href="/desk/log">The whole log</a></p>`,
  };
}

/** /desk/queues. */
export async function queuesPage({ context, request }: Visit): Promise<Page> {
  const done = queryOf(request.url).text("done");
  return {
    title: "Queues",
    place: "/desk/queues",
    main: html`<h1>Queues</h1>
      ${await decisionNotice(context, done)}${await queueTable({ context })}`,
  };
}

async function queueTable({ context }: Pick<Visit, "context">): Promise<Html> {
  const queues = await reviewQueues(context);
  return html`<table class="queues">
    <caption>
      What waits for a decision
    </caption>
    <thead>
      <tr>
        <th scope="col">Queue</th>
        <th scope="col" class="number">Waiting</th>
      </tr>
    </thead>
    <tbody>
      ${queues.map(
        ({ kind, waiting }) =>
          html`<tr>
            <td><a href="/desk/queues/${kind}">${queueNames[kind]}</a></td>
            <td class="number">${amount(waiting)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

const amount = (waiting: number): string =>
  waiting >= waitingMax
    ? `${waitingMax.toLocaleString("en")} or more`
    : waiting.toLocaleString("en");

/** /desk/queues/:kind: a page of one queue, the oldest first. */
export async function queuePage({ context, request }: Visit, name: string): Promise<Page> {
  const kind = reviewKinds.find((one) => one === name);
  if (kind === undefined) return notHere("There is no such queue.");
  const query = queryOf(request.url);
  const after = query.text("after", 400);
  const [{ reviews, next }, queues] = await Promise.all([
    listReviews(context, { kind, limit: rowsPerPage, after }),
    reviewQueues(context, kind),
  ]);
  return {
    title: queueNames[kind],
    place: "/desk/queues",
    main: html`<h1>${queueNames[kind]}</h1>
      ${await decisionNotice(context, query.text("done"))}
      <p class="quiet">${amount(queues[0]?.waiting ?? 0)} waiting, the oldest first.</p>
      ${reviews.length === 0 ? html`<p>Nothing waits here${after === null ? null : " after this place"}.</p>` : reviewTable(reviews)}
      ${pager(kind, after, next)}`,
  };
}

const reviewTable = (reviews: readonly ReviewItem[]): Html =>
  table({
    columns: ["Review", "Nonprofit", "Asks for", "Since"],
    rows: reviews.map((review, at) => [
      html`<a
          class="id"
          href="/desk/reviews/${encodeURIComponent(review.id)}"
          ${at === 0 ? html` accesskey="o"` : null}
          >${review.id}</a
        >${at === 0 ? html` <kbd>o</kbd>` : null}`,
      profileLink(review.slug, review.name),
      [asked(review), flagList(review.flags)],
      instant(review.created_at),
    ]),
  });

const briefMax = 140;

/** The beginning of what would change. */
function asked({ comparison, summary }: ReviewItem): Part {
  if (comparison.length === 0) return summary;
  return comparison.slice(0, 3).map(
    (change) =>
      html`<div>
        <strong>${change.field.replaceAll("_", " ")}</strong>
        <bdi dir="auto">${brief(newIn(change))}</bdi>
      </div>`,
  );
}

/** What a change brings; of what is only added to, what is added. */
const newIn = ({ before, after }: ReviewItem["comparison"][number]): string => {
  if (after === null) return "would be emptied";
  return before !== null && after.startsWith(`${before}\n`)
    ? after.slice(before.length + 1)
    : after;
};

const brief = (text: string): string =>
  text.length > briefMax ? `${text.slice(0, briefMax).toWellFormed()}…` : text;

const pager = (kind: ReviewKind, after: string | null, next: string | null): Part =>
  after === null && next === null
    ? null
    : html`<nav aria-label="Pages">
        <ul>
          ${after === null ? null : html`<li><a href="/desk/queues/${kind}">First page</a></li>`}
          ${
            next === null
              ? null
              : html`<li>
                  <a
                    href="/desk/queues/${kind}?${new URLSearchParams({ after: next }).toString()}"
                    rel="next"
                    accesskey="n"
                    >Next page <kbd>n</kbd></a
                  >
                </li>`
          }
        </ul>
      </nav>`;
