import { z } from "zod";
import { placeWith, queryIn } from "#api/http/query.ts";
import { findReview, listReviews } from "#api/operator/requests.ts";
import { operatorOperations } from "#content/contract/operations/operator.ts";
import { Duplicate } from "#content/contract/onboarding.ts";
import { objectIn } from "#content/contract/base/json.ts";
import { ImpactMetric, Program } from "#content/contract/nonprofit.ts";
import {
  aboutReview,
  queueWords,
  type ReviewDecision,
  type ReviewItem,
  reviewKinds,
} from "#content/contract/review.ts";
import { lastDecision } from "#content/operation/audit-store.ts";
import { type Html, html, type Part } from "#content/language/html.ts";
import { decisionNotice, decisionSentence } from "./queues.ts";
import { type FormNotice, type Forms, notHere, type FormVisit, type Visit } from "./visit.ts";
import {
  editedFields,
  editedIn,
  type EditedMember,
  field,
  type Form,
  form,
  linesOf,
  typedInto,
} from "./forms.ts";
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

/** GET /desk/reviews/:id: a waiting review (again after a refused form), or who decided it. */
export async function reviewPage(
  visit: Visit,
  { failure, message, status }: FormNotice = {},
): Promise<Page> {
  const { context, params, form: typed } = visit;
  const { id = "" } = params;
  const review = await findReview(context, id);
  if (review !== null) {
    return itemPage(visit, review, { message: message ?? (await decisionNotice(visit)), status });
  }
  // Most likely another operator was faster.
  const decision = await lastDecision(context, id);
  const isUnsaid = failure === undefined || failure.code === "invalid_review";
  const why = isUnsaid ? "Nothing waits under this id any more." : failure.detail;
  if (decision === null) {
    const unknown = "Nothing waits under this id, and no decision about it is on record.";
    return notHere(typed === null ? unknown : `${why} Nothing was done.`);
  }
  const sentence = decisionSentence(decision);
  const [title, heading, words] =
    typed === null
      ? ["Decided", "Decided already", notice("good", sentence)]
      : [
          "Decided meanwhile",
          "Decided meanwhile",
          notice("bad", html`${why} Your decision changed nothing. ${sentence}`),
        ];
  return {
    title,
    place: "/desk/queues",
    status: typed === null ? 200 : 409,
    main: html`<h1>${heading}</h1>
      ${words}${onward(id)}`,
  };
}

function itemPage(visit: Visit, review: ReviewItem, { message, status }: FormNotice): Page {
  const { id, kind, slug, name, summary, created_at, detail } = review;
  return {
    title: aboutReview(review),
    place: "/desk/queues",
    status,
    main: html`<p><a href="/desk/queues/${kind}">${queueWords[kind].name}</a></p>
      <h1>${profileLink(slug, name)}</h1>
      ${message}
      <p>${summary}</p>
      <p class="quiet">Since ${instant(created_at)}, as ${id}</p>
      ${saidWrong(detail["what_is_wrong"])} ${flagList(review.flags)} ${comparisonTable(review)}
      ${voteTable(detail["values"])} ${duplicateTable(detail["duplicates"])} ${sourceList(review)}
      ${checkList(review.checks)}
      ${queueWords[kind].checks_host ? form("checkHostControl", visit) : null}
      ${decisionForms(review, visit)}
      <details>
        <summary>All that was sent</summary>
        ${details(detail)}
      </details>`,
  };
}

const comparisonTable = ({ comparison, editing }: ReviewItem): Part => {
  // When one of several values is to be chosen, approval has no single result to compare.
  if (comparison.length === 0 || editing?.required === true) return null;
  return html`<h2>Now, and after approval</h2>
    ${table({
      kind: "compare",
      columns: ["Field", "Live now", "After approval"],
      rows: comparison.map(({ field: name, before, after }) => [
        name.replaceAll("_", " "),
        sent(before),
        sent(after),
      ]),
    })}`;
};

/** What the sender says is wrong, which the decision depends on. */
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

/** The votes of agents on a field, which contested and contradicted values include. */
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

/** Each value with its sender, source and time; nothing for reviews of other kinds. */
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

/** The two forms of a review: approve, with editable values, and reject, with a reason. */
function decisionForms(review: ReviewItem, visit: Visit): Html {
  const { id, kind, cursor: after } = review;
  const { approve, reject } = queueWords[kind];
  const hidden = { after };
  const next = placeWith(`/desk/reviews/${encodeURIComponent(id)}/next`, { after });
  return html`<h2>Decide</h2>
    <div class="decide">
      ${approve === null ? null : form("approveReview", visit, { hidden, legend: approve, fields: editingFields(review, typedInto("approveReview", visit)) })}
      ${form("rejectReview", visit, { hidden, legend: reject })}
    </div>
    <p>
      <a href="${next}" accesskey="n">Leave it, go to the next <kbd>n</kbd></a>
    </p>`;
}

const lengthMax = 10_000;

function editingFields(review: ReviewItem, typed: Form | null): Part {
  const { editing } = review;
  if (editing === null) return null;
  const members = membersOf(review);
  if (members !== null) return editedFields(members, typed);
  const { choices, current, required } = editing;
  const name = editing.field.replaceAll("_", " ");
  const value = typed?.text("value") ?? current ?? "";
  if (choices.length === 0) {
    const label = `The ${name}, which you may edit`;
    // An emptied field would be approved with the value that was sent.
    const needed = required || current !== null;
    return field({ name: "value", label, value, rows: 8, required: needed, lengthMax, key: "e" });
  }
  return html`<p id="choices">The right ${name}:</p>
    <div role="radiogroup" aria-labelledby="choices">
      ${choices.map(
        (choice, at) =>
          html`<label class="choice"
            ><input
              type="radio"
              name="choice"
              value="${choice}"
              ${typed?.text("choice") === choice ? html` checked` : null}${at === 0 ? html` accesskey="e"` : null}
            />
            <bdi dir="auto">${choice}</bdi></label
          >`,
      )}
    </div>
    ${field({ name: "value", label: "Or another value", value, lengthMax })}`;
}

const proseMembers: ReadonlySet<string> = new Set(["mission", "why_recommended", "description"]);

/** Members of fields that approval takes as JSON objects, so that no one has to write JSON at the desk. */
const rowMembers: Readonly<Partial<Record<string, readonly string[]>>> = {
  programme: Object.keys(Program.shape),
  impact_metric: Object.keys(ImpactMetric.shape),
};

/** The editable members of a review whose value is an object; null if the value is a single text. */
function membersOf({ kind, editing }: ReviewItem): EditedMember[] | null {
  if (editing?.current == null) return null;
  const object = objectIn(editing.current);
  if (queueWords[kind].edits_members) {
    return object === null ? null : Object.entries(object).map(memberOf);
  }
  const names = rowMembers[editing.field];
  // A metric sent as plain text waits for someone to separate its name from its value.
  const row: Record<string, unknown> | null =
    object ?? (editing.field === "impact_metric" ? { value: editing.current } : null);
  if (names === undefined || row === null) return null;
  return names.map((name, at) => memberOf([name, row[name]], at));
}

/** A list has one entry per line. */
function memberOf([name, value]: [string, unknown], at: number): EditedMember {
  const isList = Array.isArray(value);
  const isText = typeof value === "string" || typeof value === "number";
  return {
    name,
    label: `${name.replaceAll("_", " ")}${isList ? ", one per line" : ""}`,
    rows: isList || proseMembers.has(name) ? 4 : undefined,
    key: at === 0 ? "e" : undefined,
    text: isList ? value.join("\n") : isText ? String(value) : "",
    read: (typed) => (isList ? linesOf(typed) : typed || null),
  };
}

/** The value for approval: the edited text, a value typed beside the choices, or the choice; null for unchanged. */
function valueIn(typed: Form, review: ReviewItem | null): string | null {
  const members = review === null ? null : membersOf(review);
  if (members !== null) {
    const edits = editedIn(members, typed);
    return edits.some(({ isChanged }) => isChanged)
      ? JSON.stringify(Object.fromEntries(edits.map(({ name, value }) => [name, value])))
      : null;
  }
  const value = typed.text("value") || typed.text("choice");
  const isSame = value === (review?.editing?.current ?? "").replaceAll(/\r\n?/g, "\n").trim();
  return value === "" || isSame ? null : value;
}

const decision = {
  page: reviewPage,
  done: async (visit: FormVisit, { id }: ReviewDecision) =>
    redirect(await nextPlace(visit, id, visit.form.text("after"), id)),
};
export const reviewForms = {
  approveReview: {
    ...decision,
    body: async ({ context, params, form: typed }) => ({
      value: valueIn(typed, await findReview(context, params["id"] ?? "")),
    }),
    unusable: ({ errors = [] }) => errors[0]?.message ?? "That cannot be used.",
  },
  rejectReview: decision,
  checkHostControl: {
    page: (visit, { message, status }) => reviewPage(visit, { message, status }),
    done: (visit, { state, message }) =>
      reviewPage(visit, { message: notice(state === "proven" ? "good" : "bad", message) }),
  },
} satisfies Partial<Forms>;

/** GET /desk/reviews/:id/next: redirects to the next review of the queue. */
export async function nextPage(visit: Visit): Promise<Response> {
  const { id = "" } = visit.params;
  const { after } = queryIn(visit.request, operatorOperations.listReviews);
  return redirect(await nextPlace(visit, id, after, null));
}

/** The next review of the queue, else its first, else the list of queues. `done` is the review just decided. */
async function nextPlace(
  { context }: Visit,
  id: string,
  after: string | undefined,
  done: string | null,
): Promise<string> {
  const kind = reviewKinds.find((name) => id.startsWith(`${name}-`));
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
