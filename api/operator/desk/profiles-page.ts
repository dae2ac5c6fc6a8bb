import { placeWith, textIn } from "#api/http/query.ts";
import { suggested } from "#api/reconciliation/reconcile.ts";
import { isoTime } from "#content/contract/base/time.ts";
import type { ProfileChange } from "#content/contract/profile-change.ts";
import { fieldEntries, type FieldType } from "#content/contract/fields.ts";
import { ImpactMetric, linkWords, Program } from "#content/contract/nonprofit.ts";
import { countryName } from "#content/nonprofit/country.ts";
import { linksInto } from "#content/register/links-store.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { type Html, html, type Part } from "#content/language/html.ts";
import { decisionNotice } from "./queues.ts";
import { type FormNotice, type Forms, notHere, type Visit } from "./visit.ts";
import {
  editedFields,
  editedIn,
  type EditedMember,
  field,
  form,
  linesOf,
  conflictsIn,
  storedTexts,
  typedInto,
} from "./forms.ts";
import { type Page, redirect } from "./layout.ts";
import { instant, notice, profileLink } from "./elements.ts";

const placeOf = (slug: string): string => `/desk/profiles/${encodeURIComponent(slug)}`;

const foundMax = 20;

/** /desk/profiles: finds a profile to correct. Redirects to the profile with this slug, else lists matching ones. */
export async function profilesPage({ context, request }: Visit): Promise<Page | Response> {
  const slug = textIn(request, "slug", 200)?.trim();
  if (slug !== undefined && (await recordBySlug(context.store, slug)) !== null) {
    return redirect(placeOf(slug));
  }
  const matches =
    slug === undefined ? [] : await suggested(context, { prefix: slug, limit: foundMax, from: 0 });
  return {
    title: "Profiles",
    place: "/desk/profiles",
    status: slug === undefined || matches.length > 0 ? undefined : 404,
    main: html`<h1>Profiles</h1>
      ${slug === undefined || matches.length > 0 ? null : notice("bad", html`No nonprofit has this name or address: <bdi>${slug}</bdi>.`)}
      <form method="get" action="/desk/profiles" class="filter">
        ${field({ name: "slug", label: "Its name, or how its address ends", value: slug, required: true, lengthMax: 200, key: "e" })}
        <button>Find</button>
      </form>
      ${
        matches.length === 0
          ? null
          : html`<ul>
              ${matches.map(
                (match) =>
                  html`<li>
                    <a href="${placeOf(match.id)}"><bdi dir="auto">${match.name}</bdi></a>
                    <span class="quiet">${match.description}</span>
                  </li>`,
              )}
            </ul>`
      }
      <p class="quiet">
        Edit, withdraw, restore or merge any profile. <a href="/desk/undo">Undo</a> takes back what
        an agent or a claim brought.
      </p>`,
  };
}

/** /desk/profiles/:slug: a profile, to edit, withdraw, restore or merge. */
export async function profilePage(
  visit: Visit,
  { message, status }: FormNotice = {},
): Promise<Page> {
  const { context, params } = visit;
  const { slug = "" } = params;
  const record = await recordBySlug(context.store, slug);
  if (record === null) return notHere("No nonprofit has this slug.");
  return {
    title: record.name,
    place: "/desk/profiles",
    status,
    main: html`<p><a href="/desk/profiles">Profiles</a></p>
      <h1>${profileLink(slug, record.name)}</h1>
      ${message}${await decisionNotice(visit)}
      <p class="quiet">
        ${stateOf(record)}, changed ${instant(isoTime(record.updated_at))}.
        <a href="${placeWith("/desk/log", { subject: slug })}">All that was done to it</a>
      </p>
      ${await linked(context, slug)}
      ${record.status === "withdrawn" ? form("restoreProfile", visit) : changeForms(record, visit)}`,
  };
}

function changeForms(record: NonprofitRecord, visit: Visit): Html {
  const members = membersOf(record);
  const fields = editedFields(members, typedInto("editProfile", visit));
  return html`${form("editProfile", visit, { shownTexts: storedTexts(members), fields })}
    <div class="decide">${form("withdrawProfile", visit)} ${form("mergeProfile", visit)}</div>`;
}

/** The profiles that were withdrawn in favour of this one, with the reasons. Restoring one undoes that. */
async function linked({ store }: Visit["context"], slug: string): Promise<Part> {
  const links = (await linksInto(store, slug)).map(
    ({ gone, org_id, other_org_id, source, set_at }) =>
      html`<li>
        <a href="${placeOf(gone ?? "")}">${gone}</a> (${org_id}, ${other_org_id}):
        ${linkWords[source]}, ${instant(isoTime(set_at))}
      </li>`,
  );
  if (links.length === 0) return null;
  return html`<p>Linked to it, each undone by restoring it:</p>
    <ul>
      ${links}
    </ul>`;
}

const stateOf = ({ status, verified, merged_into }: NonprofitRecord): Part =>
  merged_into === null
    ? html`${status}${verified === 1 ? ", verified" : null}`
    : html`merged into <a href="${placeOf(merged_into)}">${merged_into}</a>`;

const steps = {
  page: profilePage,
  done: (_: Visit, { slug }: ProfileChange) => redirect(placeWith(placeOf(slug), { done: slug })),
};
export const profileForms = {
  editProfile: {
    ...steps,
    conflicts: async (visit) => conflictsIn(storedTexts(await presentMembers(visit)), visit.form),
    body: async (visit) => {
      const edits = editedIn(await presentMembers(visit), visit.form);
      const changes = edits.filter(({ isChanged }) => isChanged);
      return { values: Object.fromEntries(changes.map(({ name, value }) => [name, value])) };
    },
  },
  withdrawProfile: steps,
  restoreProfile: steps,
  mergeProfile: steps,
} satisfies Partial<Forms>;

async function presentMembers({ context, params }: Visit): Promise<EditedMember[]> {
  const record = await recordBySlug(context.store, params["slug"] ?? "");
  return record === null ? [] : membersOf(record);
}

/** Fields with a list, typed as one entry per line; `row`: the members of an entry, separated by bars. */
const lists: Readonly<
  Partial<Record<FieldType, { rows: number; hint: string; row?: readonly string[] }>>
> = {
  causes: { rows: 3, hint: "ids, one per line, the primary one first" },
  programmes: {
    rows: 4,
    hint: "one per line: name | description | people a year | place",
    row: Object.keys(Program.shape),
  },
  metrics: {
    rows: 4,
    hint: "one per line: name | value | unit | period",
    row: Object.keys(ImpactMetric.shape),
  },
};

const lineOf = (
  row: readonly string[],
  entry: string | Readonly<Record<string, unknown>>,
): string =>
  typeof entry === "string"
    ? entry
    : row
        .map((member) => String(entry[member] ?? "").replaceAll(/\s+/g, " "))
        .join(" | ")
        .replace(/(?: \| )+$/, "");

const inThousands = /^-?\d{1,3}([ ,_])\d{3}(?:\1\d{3})*(?:\.\d+)?$/;

/** A text that is no number, as one with a decimal comma, becomes NaN, which the body's shape refuses. */
function number(text: string): number | null {
  if (text === "") return null;
  return Number(inThousands.test(text) ? text.replaceAll(/[ ,_]/g, "") : text);
}
const numeric: ReadonlySet<string> = new Set<FieldType | keyof Program>([
  "year",
  "count",
  "money",
  "flag",
  "beneficiaries_per_year",
]);
const single = (of: string, text: string) => (numeric.has(of) ? number(text) : text || null);

function fieldValue(type: FieldType, text: string): unknown {
  const list = lists[type];
  if (list === undefined) return single(type, text);
  const { row } = list;
  const lines = linesOf(text);
  if (row === undefined) return lines;
  return lines.map((line) => {
    const parts = line.split("|").map((part) => part.trim());
    return Object.fromEntries(row.map((name, at) => [name, single(name, parts[at] ?? "")]));
  });
}

const membersOf = (record: NonprofitRecord): EditedMember[] =>
  fieldEntries.map(([name, { type, label = name.replaceAll("_", " "), lines }]) => {
    const { hint, rows = lines, row = [] } = lists[type] ?? {};
    const held: unknown =
      type === "country" ? countryName(record.country_code) : record[name as keyof NonprofitRecord];
    return {
      name,
      label: hint === undefined ? label : `${label} (${hint})`,
      rows,
      text: Array.isArray(held)
        ? held.map((entry) => lineOf(row, entry)).join("\n")
        : String(held ?? ""),
      read: (text) => fieldValue(type, text),
    };
  });
