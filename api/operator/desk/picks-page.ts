import { placeWith, queryIn } from "#api/http/query.ts";
import { findPick, listPicks } from "#content/operator/picks.ts";
import { pickOperations } from "#content/contract/operations/recommendation.ts";
import type { GovernancePhase, PickChange, PickItem } from "#content/contract/recommendation.ts";
import { type Html, html } from "#content/language/html.ts";
import { decisionNotice } from "./queues.ts";
import { type Forms, notHere, type FormNotice, type Visit } from "./visit.ts";
import { form, isTyped, conflictsIn, type StoredText } from "./forms.ts";
import { type Page, redirect } from "./layout.ts";
import { instant, nextLink, profileLink, sent, table } from "./elements.ts";

const rowsPerPage = 50;

/** /desk/picks: the recommended profiles, and a form to add one. */
export async function picksPage(visit: Visit, { message, status }: FormNotice = {}): Promise<Page> {
  const { context, request } = visit;
  const { after } = queryIn(request, pickOperations.listPicks);
  const { picks, next, in_file } = await listPicks(context, { after, limit: rowsPerPage });
  return {
    title: "Picks",
    place: "/desk/picks",
    status,
    main: html`<h1>Recommended profiles</h1>
      ${message}${await decisionNotice(visit)}
      ${picks.length === 0 ? html`<p>Nothing is recommended${after === undefined ? null : " after this one"}.</p>` : pickTable(picks, context.config.recommendationPhase)}
      ${next === null ? null : html`<p>${nextLink(placeWith("/desk/picks", { after: next }), "Next page")}</p>`}
      ${in_file.length === 0 ? null : html`<p class="quiet">content/editorial/starter-set.json holds ${in_file.length} more, which win over these: ${in_file.slice(0, 20).join(", ")}${in_file.length > 20 ? " …" : null}</p>`}
      <h2>Recommend another</h2>
      ${form("addPick", visit)}`,
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
 * Who wrote a pick (with a note if the phase does not show agreed ones), and who decided it: no one for agents' agreement,
 * unknown for a pick of the sample.
 */
const origin = ({ origin: from, added_by }: PickItem, phase: GovernancePhase): Html => {
  const agreement =
    phase === 3 ? "agents’ agreement" : `agents’ agreement, not shown in phase ${phase}`;
  const names = { operator: "by hand", draft: "an agent’s draft", consensus: agreement };
  const isDecided = from !== "consensus" && added_by !== "";
  return html`${names[from]}${isDecided ? html`, by <bdi>${added_by}</bdi>` : null}`;
};

const placeOf = (slug: string): string => `/desk/picks/${encodeURIComponent(slug)}`;

/** /desk/picks/:slug: a pick, to edit or remove. */
export async function pickPage(visit: Visit, { message, status }: FormNotice = {}): Promise<Page> {
  const { context, params } = visit;
  const pick = await findPick(context, params["slug"] ?? "");
  if (pick === null) return notHere("This nonprofit is not recommended (any more).");
  const shownTexts = textsOf(pick);
  const stored = Object.fromEntries(shownTexts.map(({ name, text }) => [name, text]));
  return {
    title: `Pick: ${pick.name}`,
    place: "/desk/picks",
    status,
    main: html`<p><a href="/desk/picks">Recommended profiles</a></p>
      <h1>${profileLink(pick.slug, pick.name)}</h1>
      ${message}
      <p class="quiet">
        ${origin(pick, context.config.recommendationPhase)}${pick.draft_id === null ? null : `, draft ${pick.draft_id}`}
      </p>
      <div class="decide">
        ${form("editPick", visit, { stored, shownTexts })} ${form("removePick", visit)}
      </div>`,
  };
}

const textsOf = ({ recommended_for, why_recommended, causes }: PickItem): StoredText[] => [
  { name: "recommended_for", text: recommended_for.join("\n") },
  { name: "why_recommended", text: why_recommended },
  { name: "causes", text: causes?.join(", ") ?? "" },
];

async function presentTexts({ context, params }: Visit): Promise<StoredText[]> {
  const pick = await findPick(context, params["slug"] ?? "");
  return pick === null ? [] : textsOf(pick);
}

const done = (_: Visit, { slug }: PickChange): Response =>
  redirect(placeWith("/desk/picks", { done: slug }));

export const pickForms = {
  addPick: { page: picksPage, done },
  editPick: {
    page: pickPage,
    done,
    conflicts: async (visit) => conflictsIn(await presentTexts(visit), visit.form),
    /** What was left as it was shown stays as it is stored. */
    body: async (visit) => {
      const otherTexts = (await presentTexts(visit)).filter(
        (stored) => !isTyped(visit.form, stored),
      );
      return Object.fromEntries(otherTexts.map(({ name }) => [name, undefined]));
    },
  },
  removePick: { page: pickPage, done },
} satisfies Partial<Forms>;
