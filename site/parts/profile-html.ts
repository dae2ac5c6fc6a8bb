import type { NonprofitDetail, RegisterFact, RegisterFacts } from "#content/contract/nonprofit.ts";
import { factInWords, stateInWords } from "#content/nonprofit/register-facts.ts";
import { linkHost, safeLink } from "#content/nonprofit/website.ts";
import { type Fact, isShownAlready, type originsOf } from "./profile-facts.ts";

/** City, region and country with commas between them. */
export const placeHtml = (facts: readonly Fact[]): string =>
  facts
    .filter(({ field }) => placeFields.has(field))
    .map(({ field, text }) => `<span data-field="${field}">${escaped(text)}</span>`)
    .join(", ");
const placeFields: ReadonlySet<string> = new Set(["city", "region", "country"]);

/** The facts that the header and the ways to give do not show. */
export function factsHtml(facts: readonly Fact[]): string {
  const rows = facts
    .filter(({ field }) => !shownElsewhere.has(field))
    .map(({ field, label, text, href }) => {
      const value = href === null ? escaped(text) : linkHtml(href, text);
      return `<div data-field="${field}"><dt>${label}</dt><dd>${value}</dd></div>`;
    });
  return rows.length === 0 ? "" : `<dl class="facts">${rows.join("")}</dl>`;
}
const shownElsewhere = placeFields.union(new Set(["donation_url", "usdc_wallet"]));

/** Where the values of a profile come from. */
export const originsHtml = (origins: ReturnType<typeof originsOf>): string => {
  const rows = origins.map(({ fields, source, link, day }) => {
    const host = link === null ? "" : ` (${linkHtml(link.href, link.host)})`;
    return `<li>${escaped(source)}${host}, ${day}: <span class="note">${escaped(fields)}</span></li>`;
  });
  return `<ul class="plain">${rows.join("")}</ul>`;
};

const linkHtml = (href: string, text: string): string =>
  `<a href="${escaped(href)}" rel="nofollow noopener">${escaped(text)}</a>`;

/**
 * What one register says of a nonprofit, as a section of its page; all texts are escaped. Texts that the profile shows
 * already are left out. Each profile has ten rows of it: as components they took half as long as the whole page.
 */
export function registerHtml(register: RegisterFacts, detail: NonprofitDetail): string {
  const { register_name, licence, attribution, fields } = register;
  const rows = fields
    .filter((fact) => !isShownAlready(fact, detail))
    .map((fact) => `<div><dt>${escaped(fact.label)}</dt><dd>${valueHtml(fact)}</dd></div>`);
  const link = safeLink(register.record_url);
  const record =
    link === null ? "" : ` ${linkHtml(link, "The public record")} on ${escaped(linkHost(link))}.`;
  return `<section class="register" data-register="${escaped(register.register)}" data-pagefind-ignore>
<h2>Public register: ${escaped(register_name)}</h2>
<p class="note"><span class="state">${escaped(stateInWords(register))}</span>.${record}</p>
<dl class="facts">${rows.join("")}</dl>
<p class="note">${escaped(attribution)}. Licence: <a href="${escaped(licence.url)}">${escaped(licence.name)}</a>.</p>
</section>`;
}

/** An amount is rounded for people; programs find it whole. */
const valueHtml = (fact: RegisterFact): string => {
  const words = escaped(factInWords(fact));
  return fact.currency === undefined ? words : `<data value="${fact.value}">${words}</data>`;
};

const escaped = (text: string): string => Bun.escapeHTML(text);
