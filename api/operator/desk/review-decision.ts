import { ApproveBody, RejectBody, type ReviewItem, reviewKinds } from "#content/contract/review.ts";
import { lastDecision } from "#content/operation/audit-store.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { decideReview, findReview, listReviews, type ReviewCall } from "#api/operator/review.ts";
import { refusalOf } from "#api/http/problem.ts";
import { queryOf } from "#api/http/query.ts";
import { reviewRefusals } from "#api/operator/routes.ts";
import { type Form, html, notice } from "./layout.ts";
import { type Entered, editedIn } from "./review-form.ts";
import { decisionSentence, itemPage, onward } from "./review-page.ts";
import { goTo, notHere, type Page, type Visit } from "./visit.ts";

/** POST /desk/reviews/:id: takes a decision and goes on to the next, or says why it could not be taken. */
export async function decidePage(
  visit: Visit & { form: Form },
  id: string,
): Promise<Page | Response> {
  const { context, session, form } = visit;
  const review = await findReview(context, id);
  const entered = enteredIn(form, review);
  const decided = decisionIn(entered, review);
  if (!decided.ok) {
    return review === null
      ? notTaken(visit, id, "Nothing waits under this id any more.")
      : itemPage(visit, review, { trouble: decided.failure, entered, status: 400 });
  }
  const call = { id, operator: session.operator, ...decided.value };
  const outcome = await decideReview(context, call);
  if (outcome.ok) return goTo(await nextPlace(visit, id, form.text("after")));
  const { status, detail } = refusalOf(reviewRefusals, outcome.failure);
  // It may still be decided otherwise, unless somebody did meanwhile.
  const waiting = await findReview(context, id);
  return waiting === null
    ? notTaken(visit, id, detail)
    : itemPage(visit, waiting, { trouble: detail, entered, status });
}

/** GET /desk/reviews/:id/next: what comes after it in its queue. */
export async function nextPage(visit: Visit, id: string): Promise<Response> {
  const after = queryOf(visit.request.url).text("after", 400) ?? "";
  return goTo(await nextPlace(visit, id, after, false));
}

/** The next of the queue after this place, else its first, else the list of all queues. */
async function nextPlace(
  { context }: Visit,
  id: string,
  after: string,
  decided = true,
): Promise<string> {
  const kind = queueKind(id);
  const done = decided ? `?${new URLSearchParams({ done: id }).toString()}` : "";
  if (kind === null) return `/desk/queues${done}`;
  for (const start of [after === "" ? null : after, null]) {
    const { reviews } = await listReviews(context, { kind, limit: 1, after: start });
    const [next] = reviews;
    if (next !== undefined && next.id !== id) {
      return `/desk/reviews/${encodeURIComponent(next.id)}${done}`;
    }
  }
  return `/desk/queues/${kind}${done}`;
}

const queueKind = (id: string) => reviewKinds.find((kind) => id.startsWith(`${kind}-`)) ?? null;

const enteredIn = (form: Form, review: ReviewItem | null): Entered => ({
  value: editedIn(form, review),
  choice: form.text("choice"),
  reason: form.text("reason"),
  decision: form.text("decision"),
});

/** What the form decides, or why it cannot be used. */
function decisionIn(
  entered: Entered,
  review: ReviewItem | null,
): Result<Pick<ReviewCall, "decision" | "value" | "reason">, string> {
  if (entered.decision !== "approve") {
    const read = RejectBody.safeParse({ reason: entered.reason });
    return read.success
      ? ok({ decision: "rejected", value: null, reason: read.data.reason })
      : fail("Say why, in at most 500 characters: the sender reads it.");
  }
  const read = ApproveBody.safeParse({
    value: valueOf(entered, review),
    reason: entered.reason || null,
  });
  if (!read.success) return fail(read.error.issues[0]?.message ?? "That cannot be used.");
  const { value = null, reason = null } = read.data;
  return ok({ decision: "approved", value, reason });
}

/** What approve is called with: an edited text, the value typed beside the choices, or the choice. */
function valueOf({ value, choice }: Entered, review: ReviewItem | null): string | null {
  const given = value !== "" ? value : choice;
  const unchanged = given === (review?.editing?.current ?? "").replaceAll(/\r\n?/g, "\n").trim();
  return given === "" || unchanged ? null : given;
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
