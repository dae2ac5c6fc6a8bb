import { placeWith, textIn } from "#api/http/query.ts";
import { suggested } from "#api/reconciliation/reconcile.ts";
import { isoTime } from "#content/contract/base/time.ts";
import { fieldEntries, type FieldName, type FieldType } from "#content/contract/fields.ts";
import { linkWords } from "#content/contract/nonprofit.ts";
import { countryName } from "#content/nonprofit/country.ts";
import { linksInto } from "#content/register/links-store.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { type Html, html, type Part } from "#content/language/html.ts";
import { decisionNotice } from "./queues.ts";
import { actionForm, notHere, type Sent, type FormNotice, type Visit } from "./visit.ts";
import { field, type Form, form, linesOf, slugField, typedText } from "./forms.ts";
import { type Page, redirect } from "./layout.ts";
import { instant, notice, profileLink } from "./elements.ts";

const placeOf = (slug: string): string => `/desk/profiles/${encodeURIComponent(slug)}`;

const foundMax = 20;

/** /desk/profiles: which profile is to be put right; with one named, its page, else those with such a name. */
export async function profilesPage({ context, request }: Visit): Promise<Page | Response> {
  const slug = textIn(request, "slug", 200)?.trim();
  if (slug !== undefined && (await recordBySlug(context.store, slug)) !== null) {
    return redirect(placeOf(slug));
  }
  const matches =
    slug === undefined
      ? []
      : await suggested(context, { prefix: slug, limit: foundMax, cursor: 0 });
  return {
    title: "Profiles",
    place: "/desk/profiles",
    status: slug === undefined || matches.length > 0 ? undefined : 404,
    main: html`<h1>Profiles</h1>
      ${slug === undefined || matches.length > 0 ? null : notice("bad", html`No nonprofit has this name or address: <bdi>${slug}</bdi>.`)}
      <form method="get" action="/desk/profiles" class="filter">
        ${slugField({ label: "Its name, or how its address ends", value: slug, key: "e" })}
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

/** /desk/profiles/:slug: what it holds, to be edited, withdrawn, restored or merged. */
export async function profilePage(visit: Visit, { said, status }: FormNotice = {}): Promise<Page> {
  const { context, request, params, token, form: sent } = visit;
  const { slug = "" } = params;
  const record = await recordBySlug(context.store, slug);
  if (record === null) return notHere("No nonprofit has this slug.");
  return {
    title: record.name,
    place: "/desk/profiles",
    status,
    main: html`<p><a href="/desk/profiles">Profiles</a></p>
      <h1>${profileLink(slug, record.name)}</h1>
      ${said}${await decisionNotice(context, textIn(request, "done", 200))}
      <p class="quiet">
        ${stateOf(record)}, changed ${instant(isoTime(record.updated_at))}.
        <a href="${placeWith("/desk/log", { subject: slug })}">All that was done to it</a>
      </p>
      ${await linked(context, slug)}
      ${record.status === "withdrawn" ? restoring(slug, token) : [editing(record, visit), ending(slug, token, sent?.text("into"))]}`,
  };
}

/** The profiles that were withdrawn in favour of this one, each with why: restoring one undoes it. */
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

const editing = (record: NonprofitRecord, { token, form: sent }: Visit): Html =>
  form({
    name: "edit_profile",
    action: placeOf(record.slug),
    token,
    hidden: { change: "edit" },
    fields: profileFields(record, sent),
    reason: sent?.text("reason"),
  });

const ending = (slug: string, token: string, into = ""): Html => {
  const to = { action: placeOf(slug), token };
  return html`<div class="decide">
    ${form({ name: "withdraw", ...to, hidden: { change: "withdraw" } })}
    ${form({ name: "merge", ...to, hidden: { change: "merge" }, textOf: () => into })}
  </div>`;
};

const restoring = (slug: string, token: string): Html =>
  form({ name: "restore", action: placeOf(slug), token, hidden: { change: "restore" } });

const steps = {
  page: profilePage,
  done: ({ params: { slug = "" } }: Sent) => redirect(placeWith(placeOf(slug), { done: slug })),
};
const changes = {
  withdraw: actionForm("withdraw", steps),
  restore: actionForm("restore", steps),
  merge: actionForm("merge", steps),
};

/** POST /desk/profiles/:slug: one of the four, by the hidden field of its form. */
export async function changeProfilePage(visit: Sent): Promise<Page | Response> {
  const { context, params, form: sent } = visit;
  const record = await recordBySlug(context.store, params["slug"] ?? "");
  if (record === null) return notHere("No nonprofit has this slug.");
  const body = () => ({ values: changedValues(record, sent) });
  const edit = actionForm("edit_profile", { ...steps, body });
  const change = { ...changes, edit }[sent.text("change")];
  return change === undefined ? notHere("There is no such change.") : change(visit);
}

/** How a field is typed: empty for none; of a list each line is an entry. */
type Typed = {
  lines?: number;
  hint?: string;
  text: (record: NonprofitRecord, name: FieldName) => string;
  value: (text: string) => unknown;
};

const words = (text: string) => (text === "" ? null : text);
/** What is no number is refused by the shape of the body, which says so. */
const number = (text: string) => (text === "" ? null : Number(text.replaceAll(/[ ,_]/g, "")));

const column = (record: NonprofitRecord, name: FieldName) =>
  String(record[name as keyof NonprofitRecord] ?? "");
const asWords: Typed = { text: column, value: words };
const asNumber: Typed = { text: column, value: number };

/** Members of a row in one line, with bars between. */
const lineOf = (members: readonly unknown[]): string =>
  members
    .map((member) => String(member ?? "").replaceAll(/\s+/g, " "))
    .join(" | ")
    .replace(/(?: \| )+$/, "");
const rowsOf = (text: string, names: readonly string[], numeric = ""): object[] =>
  linesOf(text).map((line) => {
    const parts = line.split("|").map((part) => words(part.trim()));
    return Object.fromEntries(
      names.map((name, at) => [
        name,
        name === numeric ? number(parts[at] ?? "") : (parts[at] ?? null),
      ]),
    );
  });
const programNames = ["name", "description", "beneficiaries_per_year", "location"] as const;
const metricNames = ["name", "value", "unit", "period"] as const;

const typedBy: Readonly<Record<FieldType, Typed>> = {
  name: asWords,
  text: asWords,
  country: { text: (record) => countryName(record.country_code) ?? "", value: words },
  website: asWords,
  link: asWords,
  email: asWords,
  year: asNumber,
  count: asNumber,
  money: asNumber,
  flag: asNumber,
  causes: {
    lines: 3,
    hint: "ids, one per line, the primary one first",
    text: ({ causes }) => causes.join("\n"),
    value: linesOf,
  },
  programmes: {
    lines: 4,
    hint: "one per line: name | description | people a year | place",
    text: ({ programs }) =>
      programs.map((row) => lineOf(programNames.map((name) => row[name]))).join("\n"),
    value: (text) => rowsOf(text, programNames, "beneficiaries_per_year"),
  },
  metrics: {
    lines: 4,
    hint: "one per line: name | value | unit | period",
    text: ({ impact_metrics }) =>
      impact_metrics.map((row) => lineOf(metricNames.map((name) => row[name]))).join("\n"),
    value: (text) => rowsOf(text, metricNames),
  },
};

/** The fields of a profile that can be edited, as they are or as they were typed. */
const profileFields = (record: NonprofitRecord, sent: Form | null): Html[] =>
  fieldEntries.map(([name, { type, label = name.replaceAll("_", " "), lines: own }]) => {
    const { hint, text, lines = own } = typedBy[type];
    return field({
      name: `value.${name}`,
      label: hint === undefined ? label : `${label} (${hint})`,
      value: typedText(sent, `value.${name}`, text(record, name)),
      lengthMax: 10_000,
      ...(lines === undefined ? {} : { rows: lines }),
    });
  });

/** What of it was changed, as the verb takes it. */
const changedValues = (record: NonprofitRecord, sent: Form): Record<string, unknown> =>
  Object.fromEntries(
    fieldEntries.flatMap(([name, { type }]) => {
      const { text, value } = typedBy[type];
      const held = text(record, name);
      const given = typedText(sent, `value.${name}`, held);
      const isSame = given === held.replaceAll(/\r\n?/g, "\n").trim();
      return isSame ? [] : [[name, value(sent.text(`value.${name}`))]];
    }),
  );
