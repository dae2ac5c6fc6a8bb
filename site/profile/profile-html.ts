import { correctionFields } from "#content/contract/correction.ts";
import type { NonprofitDetail, RegisterFact, RegisterFacts } from "#content/contract/nonprofit.ts";
import type { GiverAnswer } from "#content/contract/giver-answer.ts";
import type { Texts } from "#content/language/texts.ts";
import { registerById, registerName } from "#content/nonprofit/register-facts.ts";
import { linkHost, safeLink } from "#content/nonprofit/safe-link.ts";
import { type Fact, factsBeside, fieldName, type FieldsOrigin } from "./profile-facts.ts";

/**
 * The marks of a profile: beside each value a button that opens where it comes from. No script is needed. A pointer finds
 * them; keys would stop at each, and find all of it behind one toggle: `originsHtml`.
 */
export type Marks = ReturnType<typeof marksHtml>;

/** Each origin is in the page once, however many values it gave. See docs/decisions/0172. */
export function marksHtml(origins: readonly FieldsOrigin[], t: Texts) {
  const byField = new Map(
    origins.flatMap(({ names, mark }, at) =>
      names.map((name) => [storedNames[name] ?? name, { at: at + 1, mark }] as const),
    ),
  );
  const of = (field: string): string => {
    const found = byField.get(field);
    if (found === undefined) return "";
    const { at, mark } = found;
    const label = t.html("mark.label", { mark, field: fieldName(field, t) });
    return ` <button class="from" tabindex="-1" popovertarget="from-${at}" aria-label="${label}">${mark}</button>`;
  };
  return {
    of,
    /** Of values that stand side by side: one mark for those of one origin. */
    ofRow: (fields: readonly string[]): string[] =>
      fields.map((field, at) => {
        const next = byField.get(fields[at + 1] ?? "")?.at;
        const own = of(field);
        return byField.get(field)?.at === next ? "" : own;
      }),
  };
}
const storedNames: Readonly<Record<string, string>> = { country_code: "country" };

/** City, region and country with commas between them. */
export function placeHtml(facts: readonly Fact[], marks: Marks): string {
  const shown = facts.filter(({ field }) => placeFields.has(field));
  const beside = marks.ofRow(shown.map(({ field }) => field));
  return shown
    .map(({ field, text }, at) => {
      const comma = at === shown.length - 1 ? "" : ",";
      return `<span data-field="${field}" dir="auto">${escaped(text)}</span>${comma}${beside[at]}`;
    })
    .join(" ");
}
const placeFields: ReadonlySet<string> = new Set(["city", "region", "country"]);

/** The facts that the header and the ways to give do not show. */
export function factsHtml(facts: readonly Fact[], marks: Marks): string {
  const rows = facts
    .filter(({ field }) => !shownElsewhere.has(field))
    .map(({ field, label, text, href }) => {
      const value = href === null ? escaped(text) : linkHtml(href, text);
      return `<div data-field="${field}"><dt>${label}</dt><dd>${value}${marks.of(field)}</dd></div>`;
    });
  return rows.length === 0 ? "" : `<dl class="facts">${rows.join("")}</dl>`;
}
const shownElsewhere = placeFields.union(new Set(["donation_url", "usdc_wallet"]));

/**
 * What the marks open, and a toggle that shows all of it; a browser that knows no popovers shows it anyway. Each value is a
 * link to where one says that it is wrong.
 */
export const originsHtml = (origins: readonly FieldsOrigin[], slug: string, t: Texts): string => {
  const wrong = t.text("profile.wrong");
  const rows = origins.map(({ names, source, link, day }, at) => {
    const fields = names.map(
      (name) =>
        `<a href="${escaped(correctionPath(slug, name))}" rel="nofollow">${escaped(fieldName(name, t))}</a>`,
    );
    const host = link === null ? "" : ` (${linkHtml(link.href, link.host)})`;
    return `<li popover id="from-${at + 1}">${escaped(source)}${host}, <time datetime="${day}">${t.date(day)}</time><span class="note">${wrong} ${fields.join(", ")}</span></li>`;
  });
  if (rows.length === 0) return "";
  return `<details class="sources"><summary>${t.text("origin.all")}</summary></details><ul class="origins plain">${rows.join("")}</ul>`;
};

export const linkHtml = (href: string, text: string): string =>
  `<a href="${escaped(href)}" rel="nofollow noopener">${escaped(text)}</a>`;

/**
 * What one register says of a nonprofit, as a section of its page; all texts are escaped. Texts that the profile shows
 * already are left out. Each profile has ten rows of it: as components they took half as long as the whole page.
 */
export function registerHtml(register: RegisterFacts, detail: NonprofitDetail, t: Texts): string {
  const { register_name, licence, attribution, state } = register;
  const rows = factsBeside(register, detail).map(
    (fact) => `<div><dt>${escaped(t.word(fact.label))}</dt><dd>${valueHtml(fact, t)}</dd></div>`,
  );
  const link = safeLink(register.record_url);
  const record =
    link === null
      ? ""
      : ` ${t.text("register.on_host", { record: linkHtml(link, t.text("register.record")), host: escaped(linkHost(link)) })}`;
  const standing = t.html(`register.${state}`, { date: t.date(register.as_of) });
  const licenced = t.text("register.licence", {
    attribution: escaped(attribution),
    licence: `<a href="${escaped(licence.url)}">${escaped(t.word(licence.name))}</a>`,
  });
  return `<section class="register" data-register="${escaped(register.register)}">
<h2>${t.html("register.heading", { name: t.word(register_name) })}</h2>
<p class="note"><span class="state">${standing}</span>.${record}</p>
<dl class="facts">${rows.join("")}</dl>
<p class="note">${licenced}</p>
</section>`;
}

/** What givers ask, as a section; escaped. Without questions of US law of organisations elsewhere; "" where nothing is known. */
export function giverHtml(answers: readonly GiverAnswer[], t: Texts): string {
  const rows = answers.flatMap(({ org_id, question, value, reason, register, as_of, ...more }) => {
    const by = registerById(register ?? "");
    if (by === undefined && !org_id.startsWith("US-EIN-")) return [];
    const name = by === undefined ? "" : t.word(registerName(by, org_id));
    const source = as_of === null ? "" : ` (${escaped(name)}, ${t.date(as_of)})`;
    const said = escaped(more.name ?? t.date(t.named("answer", value)));
    const link = `<a href="/organisations/${escaped(value)}">${said}</a>`;
    const age =
      more.age_months === undefined ? "" : t.text("giver.age", { count: more.age_months });
    return `<div data-answer="${question}"><dt>${t.text(`giver.${question}`)}</dt><dd>${question === "merged_into" ? link : said} <span class="note">${age} ${escaped(t.word(reason))}${source}</span></dd></div>`;
  });
  if (rows.length === 0) return "";
  return `<section class="answers"><h2>${t.text("giver.title")}</h2><dl class="facts">${rows.join("")}</dl></section>`;
}

/** An amount is rounded for people; programs find it whole. */
const valueHtml = (fact: RegisterFact, t: Texts): string => {
  const words = escaped(t.fact(fact));
  return fact.currency === undefined ? words : `<data value="${fact.value}">${words}</data>`;
};

const escaped = (text: string): string => Bun.escapeHTML(text);

const correctable: ReadonlySet<string> = new Set(correctionFields);

/** The form for a value; the sample's provenance names the field of a country by its code. */
const correctionPath = (slug: string, field: string): string => {
  const named = field === "country_code" ? "country" : field;
  return `/corrections?profile=${slug}&field=${correctable.has(named) ? named : "other"}`;
};
