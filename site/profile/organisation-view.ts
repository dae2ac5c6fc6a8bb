import { safeLink } from "#content/nonprofit/safe-link.ts";
import type { Organisation } from "#content/contract/standing.ts";
import words from "#content/editorial/standing.json";
import type { Html } from "#content/language/html.ts";
import type { Texts } from "#content/language/texts.ts";
import { giverHtml, linkHtml } from "./profile-html.ts";

/** The page of an organisation without a profile here: what registers say about it. */
export function organisationView(organisation: Organisation, t: Texts) {
  const { org_id, registration_number: number, standing } = organisation;
  const { register_name, as_of } = standing;
  const type = t.word(organisation.type);
  const title = organisation.name ?? `${type} ${number}`;
  const state = (value: string) => t.named("state", value);
  return {
    org_id,
    title,
    description: t.text("organisation.description", { name: title }),
    number: t.text("organisation.number", {
      type,
      number,
      country: t.country(organisation.country) ?? "",
    }),
    heading: t.text("organisation.standing", { value: state(standing.value) }),
    meaning: meaningIn(standing.meaning, t),
    /** The register, linked to its own page of the organisation. */
    source:
      register_name === null || as_of === null
        ? null
        : t.html("organisation.says", {
            register: linked(t.word(register_name), safeLink(standing.record_url)),
            date: t.date(as_of),
          }),
    /** Answers to questions of donors. */
    answers: giverHtml(organisation.giver_answers, t),
    registers: organisation.registers.map((register) => ({
      name: t.word(register.register_name),
      state: state(register.state),
      asOf: register.as_of && t.text("organisation.as_of", { date: t.date(register.as_of) }),
    })),
  };
}

/** Translates a meaning, which joins what was seen and what a missing row means: each has a translation of its own. */
function meaningIn(meaning: string, t: Texts): string {
  const missing = Object.values(words.missing).find((text) => meaning.endsWith(` ${text}`));
  if (missing === undefined) return t.word(meaning);
  return `${t.word(meaning.slice(0, -missing.length - 1))} ${t.word(missing)}`;
}

const linked = (name: string, href: string | null): string | Html =>
  href === null ? name : linkHtml(href, name);
