import { PickBody, type PickChange, PickEdit, PickRemoval } from "#content/contract/pick.ts";
import type { Result } from "#content/contract/result.ts";
import { addToPicks, editPick, type PickFailure, removePick } from "#api/operator/picks.ts";
import { pickRefusals } from "#api/operator/pick-refusals.ts";
import { refusalOf } from "#api/http/problem.ts";
import type { Form } from "./form.ts";
import { noPick, pickPage, picksPage, type TypedPick } from "./picks-page.ts";
import { goTo, type Page, type Visit } from "./visit.ts";

type Sent = Visit & { form: Form };

/** POST /desk/picks: recommends a nonprofit. */
export async function addPickPage(visit: Sent): Promise<Page | Response> {
  const typed = typedIn(visit.form);
  const again = (trouble: string, status: number) => picksPage(visit, { trouble, typed, status });
  const read = PickBody.safeParse({ slug: typed.slug, ...bodyOf(typed) });
  if (!read.success) return again(faultOf(read.error.issues), 400);
  const operator = visit.session.operator;
  return done(visit, await addToPicks(visit.context, { ...read.data, operator }), again);
}

/** POST /desk/picks/:slug: changes what is said of it. */
export async function editPickPage(visit: Sent, slug: string): Promise<Page | Response> {
  const typed = typedIn(visit.form);
  const again = (trouble: string, status: number) =>
    pickPage(visit, slug, { trouble, typed, status });
  const read = PickEdit.safeParse(bodyOf(typed));
  if (!read.success) return again(faultOf(read.error.issues), 400);
  const operator = visit.session.operator;
  return done(visit, await editPick(visit.context, { ...read.data, slug, operator }), again);
}

/** POST /desk/picks/:slug/remove. */
export async function removePickPage(visit: Sent, slug: string): Promise<Page | Response> {
  const again = (trouble: string, status: number) => pickPage(visit, slug, { trouble, status });
  const read = PickRemoval.safeParse({ reason: visit.form.text("reason") });
  if (!read.success) return again("Say why, in at most 500 characters.", 400);
  const { reason } = read.data;
  const operator = visit.session.operator;
  return done(visit, await removePick(visit.context, { slug, reason, operator }), again);
}

async function done(
  { context }: Visit,
  outcome: Result<PickChange, PickFailure>,
  again: (trouble: string, status: number) => Promise<Page>,
): Promise<Page | Response> {
  if (!outcome.ok) {
    const { status, detail } = refusalOf(pickRefusals, outcome.failure);
    return again(detail, status);
  }
  context.curated.lookAgain();
  return goTo(`/desk/picks?${new URLSearchParams({ done: outcome.value.slug }).toString()}`);
}

const typedIn = (form: Form): TypedPick => ({
  ...noPick,
  slug: form.text("slug"),
  recommended_for: form.text("recommended_for"),
  why_recommended: form.text("why_recommended"),
  causes: form.text("causes"),
});

const bodyOf = ({ recommended_for, why_recommended, causes }: TypedPick) => ({
  recommended_for: recommended_for.split("\n").flatMap((phrase) => phrase.trim() || []),
  why_recommended,
  causes: causes === "" ? null : causes.split(",").flatMap((cause) => cause.trim() || []),
});

const faultOf = (issues: readonly { path: PropertyKey[]; message: string }[]): string =>
  issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.map(String).join(" ").replaceAll("_", " ")}: ${message}.`)
    .join(" ");
