import type { NonprofitDetail, RegisterFact, RegisterFacts } from "#content/contract/nonprofit.ts";
import { factInWords, stateInWords } from "#content/nonprofit/register-facts.ts";
import { linkHost, safeLink } from "#content/nonprofit/website.ts";

/**
 * What one register says of a nonprofit, as a section of its page; all texts are escaped. Texts that the profile shows
 * already are left out. Each profile has ten rows of it: as components they took half as long as the whole page.
 */
export function registerHtml(
  register: RegisterFacts,
  { mission, description }: Pick<NonprofitDetail, "mission" | "description">,
): string {
  const { register_name, licence, attribution, fields } = register;
  const isShown = ({ name, value }: RegisterFact): boolean =>
    name === "objects" &&
    [mission, description].some((text) => text?.startsWith(String(value).replace(/…$/, "")));
  const rows = fields
    .filter((fact) => !isShown(fact))
    .map((fact) => {
      const value = escaped(factInWords(fact));
      return `<div><dt>${escaped(fact.label)}</dt><dd>${value}</dd></div>`;
    });
  const link = safeLink(register.record_url);
  const record =
    link === null
      ? ""
      : ` <a href="${escaped(link)}" rel="nofollow noopener">The public record</a> on ${escaped(linkHost(link))}.`;
  return `<section class="register" data-pagefind-ignore>
<h2>Public register: ${escaped(register_name)}</h2>
<p class="note">${escaped(stateInWords(register))}.${record}</p>
<dl class="facts">${rows.join("")}</dl>
<p class="note">${escaped(attribution)}. Licence: <a href="${escaped(licence.url)}">${escaped(licence.name)}</a>.</p>
</section>`;
}

const escaped = (text: string): string => Bun.escapeHTML(text);
