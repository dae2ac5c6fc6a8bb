import { refusalOf } from "#api/http/problem.ts";
import { queryOf } from "#api/http/query.ts";
import {
  addToPicks,
  editPick,
  findPick,
  listPicks,
  type PickFailure,
  removePick,
} from "#api/operator/picks.ts";
import { pickRefusals } from "#api/operator/routes.ts";
import {
  type GovernancePhase,
  PickBody,
  type PickChange,
  PickEdit,
  type PickItem,
  PickRemoval,
} from "#content/contract/recommendation.ts";
import type { Result } from "#content/contract/result.ts";
import {
  type Form,
  type Html,
  html,
  instant,
  notice,
  type Part,
  profileLink,
  sent,
  table,
  tokenField,
} from "./layout.ts";
import { decisionNotice } from "./review-page.ts";
import { goTo, notHere, type Page, type Visit } from "./visit.ts";

/** The fields of a pick as they are typed: phrases one a line, causes with commas. */
export type TypedPick = {
  slug: string;
  recommended_for: string;
  why_recommended: string;
  causes: string;
};

export const noPick: TypedPick = { slug: "", recommended_for: "", why_recommended: "", causes: "" };

type Shown = { trouble?: string; typed?: TypedPick; status?: number };

const rowsPerPage = 50;

/** /desk/picks: the recommended profiles, and a form to add one. */
export async function picksPage(
  { context, request, token }: Visit,
  shown: Shown = {},
): Promise<Page> {
  const query = queryOf(request.url);
  const after = request.method === "GET" ? query.text("after", 200) : null;
  const { picks, next, in_file } = await listPicks(context, { after, limit: rowsPerPage });
  const done = query.text("done", 200);
  const { trouble, typed = noPick, status = 200 } = shown;
  return {
    title: "Picks",
    place: "/desk/picks",
    status,
    main: html`<h1>Recommended profiles</h1>
      ${trouble === undefined ? null : notice("bad", trouble)}
      ${await decisionNotice(context, done)}
      ${picks.length === 0 ? html`<p>Nothing is recommended${after === null ? null : " after this one"}.</p>` : pickTable(picks, context.config.recommendationPhase)}
      ${
        next === null
          ? null
          : html`<p>
              <a
                href="/desk/picks?${new URLSearchParams({ after: next }).toString()}"
                rel="next"
                accesskey="n"
                >Next page <kbd>n</kbd></a
              >
            </p>`
      }
      ${in_file.length === 0 ? null : html`<p class="quiet">content/editorial/starter-set.json holds ${in_file.length} more, which win over these: ${in_file.slice(0, 20).join(", ")}${in_file.length > 20 ? " …" : null}</p>`}
      <h2>Recommend another</h2>
      <form method="post" action="/desk/picks">
        <fieldset>
          <legend>A new pick</legend>
          ${tokenField(token)}
          <label for="slug">Slug of the nonprofit</label>
          <input type="text" id="slug" name="slug" required maxlength="200" value="${typed.slug}" />
          ${fields(typed)}
          <button accesskey="a">Recommend it <kbd>a</kbd></button>
        </fieldset>
      </form>`,
  };
}

const pickTable = (picks: readonly PickItem[], phase: GovernancePhase): Html =>
  table({
    columns: ["Nonprofit", "Recommended for", "Why", "By", "Edit"],
    rows: picks.map(
      ({ slug, name, recommended_for, why_recommended, origin, added_by, updated_at }) => [
        profileLink(slug, name),
        html`<ul>
          ${recommended_for.map((phrase) => html`<li>${sent(phrase)}</li>`)}
        </ul>`,
        sent(why_recommended),
        html`${originName(origin, phase)}${by(origin, added_by)}${updated_at === null ? null : html`<div>${instant(updated_at)}</div>`}`,
        html`<a href="${placeOf(slug)}" aria-label="Edit ${slug}">Edit</a>`,
      ],
    ),
  });

/** Whose words a pick is in, and that a lower phase does not show what agents agreed on. */
const originName = (origin: PickItem["origin"], phase: GovernancePhase): string =>
  ({
    operator: "by hand",
    draft: "an agent’s draft",
    consensus: phase === 3 ? "agents’ agreement" : `agents’ agreement, not shown in phase ${phase}`,
  })[origin];

/** Who decided: no one for what agents agreed on, and unknown for a pick of the sample. */
const by = (origin: PickItem["origin"], addedBy: string): Part =>
  origin === "consensus" || addedBy === "" ? null : html`, by <bdi>${addedBy}</bdi>`;

/** Where a pick is edited. */
export const placeOf = (slug: string): string => `/desk/picks/${encodeURIComponent(slug)}`;

/** /desk/picks/:slug: what is said of one, to be edited or taken away. */
export async function pickPage(
  { context, token }: Visit,
  slug: string,
  shown: Shown = {},
): Promise<Page> {
  const pick = await findPick(context, slug);
  if (pick === null) return notHere("This nonprofit is not recommended (any more).");
  const { trouble, typed = typedOf(pick), status = 200 } = shown;
  return {
    title: `Pick: ${pick.name}`,
    place: "/desk/picks",
    status,
    main: html`<p><a href="/desk/picks">Recommended profiles</a></p>
      <h1>${profileLink(pick.slug, pick.name)}</h1>
      ${trouble === undefined ? null : notice("bad", trouble)}
      <p class="quiet">
        ${originName(pick.origin, context.config.recommendationPhase)}${by(pick.origin, pick.added_by)}${pick.draft_id === null ? null : `, draft ${pick.draft_id}`}
      </p>
      <div class="decide">
        <form method="post" action="${placeOf(slug)}">
          <fieldset>
            <legend>Edit</legend>
            ${tokenField(token)} ${fields(typed)}
            <button accesskey="a">Save <kbd>a</kbd></button>
          </fieldset>
        </form>
        <form method="post" action="${placeOf(slug)}/remove">
          <fieldset>
            <legend>Remove</legend>
            ${tokenField(token)}
            <label for="reason"
              >Why, for the log. Agents cannot restore it by agreement <kbd>r</kbd></label
            >
            <textarea id="reason" name="reason" required maxlength="500" accesskey="r"></textarea>
            <button class="danger">Recommend it no longer</button>
          </fieldset>
        </form>
      </div>`,
  };
}

const typedOf = ({ slug, recommended_for, why_recommended, causes }: PickItem): TypedPick => ({
  slug,
  recommended_for: recommended_for.join("\n"),
  why_recommended,
  causes: causes?.join(", ") ?? "",
});

const fields = ({ recommended_for, why_recommended, causes }: TypedPick): Part =>
  html`<label for="recommended-for">For which donors: one phrase per line, up to ten</label>
    <textarea id="recommended-for" name="recommended_for" required rows="4">
${recommended_for}</textarea>
    <label for="why">Why, in one to three restrained sentences</label>
    <textarea id="why" name="why_recommended" required rows="4">${why_recommended}</textarea>
    <label for="causes">Cause ids, with commas; leave empty for all of its causes</label>
    <input type="text" id="causes" name="causes" value="${causes}" />`;

type Sent = Visit & { form: Form };

/** POST /desk/picks: recommends a nonprofit. */
export async function addPickPage(visit: Sent): Promise<Page | Response> {
  const typed = typedIn(visit.form);
  const again = (trouble: string, status: number) => picksPage(visit, { trouble, typed, status });
  const read = PickBody.safeParse({ slug: typed.slug, ...bodyOf(typed) });
  if (!read.success) return again(faultOf(read.error.issues), 400);
  const operator = visit.session.operator;
  return answered(visit, await addToPicks(visit.context, { ...read.data, operator }), again);
}

/** POST /desk/picks/:slug: changes what is said of it. */
export async function editPickPage(visit: Sent, slug: string): Promise<Page | Response> {
  const typed = typedIn(visit.form);
  const again = (trouble: string, status: number) =>
    pickPage(visit, slug, { trouble, typed, status });
  const read = PickEdit.safeParse(bodyOf(typed));
  if (!read.success) return again(faultOf(read.error.issues), 400);
  const operator = visit.session.operator;
  return answered(visit, await editPick(visit.context, { ...read.data, slug, operator }), again);
}

/** POST /desk/picks/:slug/remove. */
export async function removePickPage(visit: Sent, slug: string): Promise<Page | Response> {
  const again = (trouble: string, status: number) => pickPage(visit, slug, { trouble, status });
  const read = PickRemoval.safeParse({ reason: visit.form.text("reason") });
  if (!read.success) return again("Say why, in at most 500 characters.", 400);
  const { reason } = read.data;
  const operator = visit.session.operator;
  return answered(visit, await removePick(visit.context, { slug, reason, operator }), again);
}

async function answered(
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
