import type { Refusal } from "#api/http/problem.ts";
import { placeWith, queryOf } from "#api/http/query.ts";
import { actions } from "#api/operator/actions.ts";
import { findPick, listPicks } from "#api/operator/picks.ts";
import type { GovernancePhase, PickChange, PickItem } from "#content/contract/recommendation.ts";
import type { Result } from "#content/contract/result.ts";
import { field, form, instant, nextLink, profileLink, sent, table } from "./layout.ts";
import { type Form } from "./read-form.ts";
import { type Html, html, type Part } from "./html.ts";
import { redirect } from "./answer.ts";
import { decisionNotice } from "./queues.ts";
import { notHere, type Page, refused, type Sent, type Shown, type Visit } from "./visit.ts";

/** The fields of a pick as they are typed: phrases one a line, causes with commas. */
type Typed = { slug: string; recommended_for: string; why_recommended: string; causes: string };

const nothing: Typed = { slug: "", recommended_for: "", why_recommended: "", causes: "" };

const rowsPerPage = 50;

/** /desk/picks: the recommended profiles, and a form to add one. */
export async function picksPage(
  { context, request, token }: Visit,
  { said, status, typed = nothing }: Shown & { typed?: Typed } = {},
): Promise<Page> {
  const query = queryOf(request.url);
  const after = request.method === "GET" ? query.text("after", 200) : null;
  const { picks, next, in_file } = await listPicks(context, { after, limit: rowsPerPage });
  return {
    title: "Picks",
    place: "/desk/picks",
    status,
    main: html`<h1>Recommended profiles</h1>
      ${said}${await decisionNotice(context, query.text("done", 200))}
      ${picks.length === 0 ? html`<p>Nothing is recommended${after === null ? null : " after this one"}.</p>` : pickTable(picks, context.config.recommendationPhase)}
      ${next === null ? null : html`<p>${nextLink(placeWith("/desk/picks", { after: next }), "Next page")}</p>`}
      ${in_file.length === 0 ? null : html`<p class="quiet">content/editorial/starter-set.json holds ${in_file.length} more, which win over these: ${in_file.slice(0, 20).join(", ")}${in_file.length > 20 ? " …" : null}</p>`}
      <h2>Recommend another</h2>
      ${form({
        action: "/desk/picks",
        token,
        legend: "A new pick",
        fields: [
          field({
            name: "slug",
            label: "Slug of the nonprofit",
            value: typed.slug,
            required: true,
            lengthMax: 200,
          }),
          pickFields(typed),
        ],
        button: "Recommend it",
        key: "a",
      })}`,
  };
}

const pickTable = (picks: readonly PickItem[], phase: GovernancePhase): Html =>
  table({
    columns: ["Nonprofit", "Recommended for", "Why", "By", "Edit"],
    rows: picks.map((pick) => [
      profileLink(pick.slug, pick.name),
      html`<ul>
        ${pick.recommended_for.map((phrase) => html`<li>${sent(phrase)}</li>`)}
      </ul>`,
      sent(pick.why_recommended),
      html`${origin(pick, phase)}${pick.updated_at === null ? null : html`<div>${instant(pick.updated_at)}</div>`}`,
      html`<a href="${placeOf(pick.slug)}" aria-label="Edit ${pick.slug}">Edit</a>`,
    ]),
  });

/**
 * Whose words a pick is in, that a lower phase does not show what agents agreed on, and who decided: no one for what
 * agents agreed on, and unknown for a pick of the sample.
 */
const origin = ({ origin: from, added_by }: PickItem, phase: GovernancePhase): Html => {
  const shown =
    phase === 3 ? "agents’ agreement" : `agents’ agreement, not shown in phase ${phase}`;
  const names = { operator: "by hand", draft: "an agent’s draft", consensus: shown };
  const isDecided = from !== "consensus" && added_by !== "";
  return html`${names[from]}${isDecided ? html`, by <bdi>${added_by}</bdi>` : null}`;
};

/** Where a pick is edited. */
const placeOf = (slug: string): string => `/desk/picks/${encodeURIComponent(slug)}`;

/** /desk/picks/:slug: what is said of one, to be edited or taken away. */
export async function pickPage(
  { context, token }: Visit,
  slug: string,
  { said, status, typed }: Shown & { typed?: Typed } = {},
): Promise<Page> {
  const pick = await findPick(context, slug);
  if (pick === null) return notHere("This nonprofit is not recommended (any more).");
  return {
    title: `Pick: ${pick.name}`,
    place: "/desk/picks",
    status,
    main: html`<p><a href="/desk/picks">Recommended profiles</a></p>
      <h1>${profileLink(pick.slug, pick.name)}</h1>
      ${said}
      <p class="quiet">
        ${origin(pick, context.config.recommendationPhase)}${pick.draft_id === null ? null : `, draft ${pick.draft_id}`}
      </p>
      <div class="decide">
        ${form({
          action: placeOf(slug),
          token,
          legend: "Edit",
          fields: pickFields(typed ?? typedOf(pick)),
          button: "Save",
          key: "a",
        })}
        ${form({
          action: `${placeOf(slug)}/remove`,
          token,
          legend: "Remove",
          fields: field({
            name: "reason",
            label: "Why, for the log. Agents cannot restore it by agreement",
            rows: 2,
            required: true,
            lengthMax: 500,
            key: "r",
          }),
          button: "Recommend it no longer",
          danger: true,
        })}
      </div>`,
  };
}

const typedOf = ({ slug, recommended_for, why_recommended, causes }: PickItem): Typed => ({
  slug,
  recommended_for: recommended_for.join("\n"),
  why_recommended,
  causes: causes?.join(", ") ?? "",
});

const pickFields = ({ recommended_for, why_recommended, causes }: Typed): Part => [
  field({
    name: "recommended_for",
    id: "recommended-for",
    label: "For which donors: one phrase per line, up to ten",
    value: recommended_for,
    rows: 4,
    required: true,
  }),
  field({
    name: "why_recommended",
    id: "why",
    label: "Why, in one to three restrained sentences",
    value: why_recommended,
    rows: 4,
    required: true,
  }),
  field({
    name: "causes",
    label: "Cause ids, with commas; leave empty for all of its causes",
    value: causes,
  }),
];

/** POST /desk/picks: recommends a nonprofit. */
export async function addPickPage(visit: Sent): Promise<Page | Response> {
  const { context, session } = visit;
  const typed = typedIn(visit.form);
  const body = { slug: typed.slug, ...bodyOf(typed) };
  const added = { operator: session.operator, params: {}, body };
  return answered(await actions.addPick.perform(context, added), (shown) =>
    picksPage(visit, { ...shown, typed }),
  );
}

/** POST /desk/picks/:slug: changes what is said of it. */
export async function editPickPage(visit: Sent, slug: string): Promise<Page | Response> {
  const { context, session } = visit;
  const typed = typedIn(visit.form);
  const edited = { operator: session.operator, params: { slug }, body: bodyOf(typed) };
  return answered(await actions.editPick.perform(context, edited), (shown) =>
    pickPage(visit, slug, { ...shown, typed }),
  );
}

/** POST /desk/picks/:slug/remove. */
export async function removePickPage(visit: Sent, slug: string): Promise<Page | Response> {
  const { context, session } = visit;
  const body = { reason: visit.form.text("reason") };
  const removed = { operator: session.operator, params: { slug }, body };
  return answered(
    await actions.removePick.perform(context, removed),
    (shown) => pickPage(visit, slug, shown),
    "Say why, in at most 500 characters.",
  );
}

/** Goes to the list after a change; a refused one stays with what was typed. */
async function answered(
  outcome: Result<PickChange, Refusal>,
  again: (shown: Shown) => Promise<Page>,
  unusable?: string,
): Promise<Page | Response> {
  if (outcome.ok) return redirect(placeWith("/desk/picks", { done: outcome.value.slug }));
  return again(refused(outcome.failure, unusable ?? faultsOf(outcome.failure)));
}

const typedIn = (given: Form): Typed => ({
  slug: given.text("slug"),
  recommended_for: given.text("recommended_for"),
  why_recommended: given.text("why_recommended"),
  causes: given.text("causes"),
});

const bodyOf = ({ recommended_for, why_recommended, causes }: Typed) => ({
  recommended_for: recommended_for.split("\n").flatMap((phrase) => phrase.trim() || []),
  why_recommended,
  causes: causes === "" ? null : causes.split(",").flatMap((cause) => cause.trim() || []),
});

const faultsOf = ({ errors = [] }: Refusal): string =>
  errors
    .slice(0, 3)
    .map(({ path, message }) => `${path.replaceAll(/[[._\]]+/g, " ").trim()}: ${message}.`)
    .join(" ");
