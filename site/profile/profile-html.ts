import { safeLink } from "#content/nonprofit/safe-link.ts";
import type {
  NonprofitDetail,
  RegisterFact,
  RegisterFacts,
  GiverAnswer,
} from "#content/contract/nonprofit.ts";
import { type Html, markup } from "#content/language/html.ts";
import type { Texts } from "#content/language/texts.ts";
import { registerById, registerName } from "#content/nonprofit/register-facts.ts";
import { answersBeside, type Fact, factsBeside, type FieldsOrigin } from "./profile-facts.ts";

/**
 * The marks of a profile: buttons beside values that open their origin, without a script. A pointer can use each; the
 * keyboard skips them, and finds all origins behind one toggle: `originsHtml`.
 */
export type Marks = ReturnType<typeof marksHtml>;

/** Each origin appears in the page once, however many values have it. See docs/decisions/37. */
export function marksHtml(origins: readonly FieldsOrigin[]) {
  const byField = new Map(
    origins.flatMap(({ names, mark }, at) =>
      names.map((name) => [storedNames[name] ?? name, { at: at + 1, mark }] as const),
    ),
  );
  const of = (field: string): Html | null => {
    const fact = byField.get(field);
    if (fact === undefined) return null;
    return markup` <button class="from" tabindex="-1" popovertarget="from-${fact.at}">${fact.mark}</button>`;
  };
  return {
    of,
    /** Marks of adjacent values: those with the same origin share one mark. */
    ofRow: (fields: readonly string[]): (Html | null)[] =>
      fields.map((field, at) => {
        const next = byField.get(fields[at + 1] ?? "")?.at;
        return byField.get(field)?.at === next ? null : of(field);
      }),
  };
}
const storedNames: Readonly<Record<string, string>> = { country_code: "country" };

/** City, region and country with commas. If the name, shown below, has the same origin as the last, its mark serves both. */
export function placeHtml(facts: readonly Fact[], marks: Marks): Html {
  const placeFacts = facts.filter(({ field }) => placeFields.has(field));
  const beside = marks.ofRow([...placeFacts.map(({ field }) => field), "name"]);
  const last = placeFacts.length - 1;
  return markup`${placeFacts.map(
    ({ field, text }, at) =>
      markup`<bdi data-field="${field}">${text}</bdi>${at < last && ","}${beside[at]}${at < last && " "}`,
  )}`;
}
const placeFields: ReadonlySet<string> = new Set(["city", "region", "country"]);

/** The facts that neither the header nor the ways to give show. */
export function factsHtml(facts: readonly Fact[], marks: Marks): Html | null {
  const rows = facts
    .filter(({ field }) => !fieldsElsewhere.has(field))
    .map(({ field, label, text, href }) => {
      const value = href === null ? text : linkHtml(href, text);
      return markup`<div data-field="${field}"><dt>${label}</dt><dd>${value}${marks.of(field)}</dd></div>`;
    });
  return rows.length === 0 ? null : markup`<dl class="facts">${rows}</dl>`;
}
const fieldsElsewhere = placeFields.union(new Set(["donation_url", "usdc_wallet"]));

/**
 * The origins that the marks open, and a toggle that shows them all; a browser without popovers always shows them. A
 * register that has a section on the page has its link there.
 */
export const originsHtml = (
  origins: readonly FieldsOrigin[],
  { register_facts }: NonprofitDetail,
  t: Texts,
): Html | null => {
  const linkedRegisters = new Set(register_facts.map(({ register }) => register));
  const rows = origins.map(({ fields, source, register, link, day }, at) => {
    const host =
      link === null || linkedRegisters.has(register)
        ? null
        : markup` (${linkHtml(link.href, link.host)})`;
    return markup`<li popover id="from-${at + 1}">${source}${host}, ${t.date(day)}<span class="note">${fields}</span></li>`;
  });
  if (rows.length === 0) return null;
  return markup`<details class="sources"><summary>${t.text("origin.all")}</summary></details><ul class="origins plain">${rows}</ul>`;
};

export const linkHtml = (href: string, text: string): Html =>
  markup`<a href="${href}" rel="nofollow">${text}</a>`;

/**
 * What one register says about a nonprofit, as a section of its page, with its answers to donors. Leaves out texts that the
 * profile shows already. Written as text: as components, ten such rows took half as long as the whole page.
 */
export function registerHtml(register: RegisterFacts, detail: NonprofitDetail, t: Texts): Html {
  const { register_name, licence, attribution, state } = register;
  const answers = answersBeside(detail).filter((answer) => isOf(register, answer));
  const rows = factsBeside(register, detail)
    .filter(({ name }) => !answers.some(({ question }) => question === name))
    .map((fact) => rowHtml(t.word(fact.label), valueHtml(fact, t)));
  const answerRows = answers.map((answer) => answerHtml(answer, null, t));
  const link = safeLink(register.record_url);
  const record =
    link === null ? null : markup`<a href="${link}">${t.text("register.record")}</a>. `;
  const standing = t.html(`register.${state}`, { date: t.date(register.as_of) });
  const name = t.html("register.heading", { name: t.word(register_name) });
  const licenceHtml = t.html("register.licence", {
    attribution,
    licence: markup`<a href="${licence.url}">${t.word(licence.name)}</a>`,
  });
  return markup`<section class="register"><h2>${name}</h2><p class="note"><span class="state">${standing}</span>. ${record}${licenceHtml}</p><dl class="facts">${rows}${answerRows}</dl></section>`;
}

const isOf = ({ register, org_id, as_of }: RegisterFacts, answer: GiverAnswer): boolean =>
  answer.register === register && answer.org_id === org_id && answer.as_of === as_of;

const rowHtml = (label: string, value: Html): Html =>
  markup`<div><dt>${label}</dt><dd>${value}</dd></div>`;

/** The questions of donors that no register's section answers, as a section; null for none. */
export function otherAnswersHtml(detail: NonprofitDetail, t: Texts): Html | null {
  const isOfNone = (answer: GiverAnswer) =>
    !detail.register_facts.some((register) => isOf(register, answer));
  return giverHtml(answersBeside(detail).filter(isOfNone), t);
}

/** The questions of donors, as a section, those of US law only for US numbers; null when nothing is known. */
export function giverHtml(answers: readonly GiverAnswer[], t: Texts): Html | null {
  const rows = answers.flatMap((answer) => {
    const { org_id, register, as_of } = answer;
    const by = registerById(register ?? "");
    if (by === undefined && !org_id.startsWith("US-EIN-")) return [];
    const name = by === undefined ? "" : t.word(registerName(by, org_id));
    return answerHtml(answer, as_of === null ? null : ` (${name}, ${t.date(as_of)})`, t);
  });
  if (rows.length === 0) return null;
  return markup`<section class="answers"><h2>${t.text("giver.title")}</h2><dl class="facts">${rows}</dl></section>`;
}

function answerHtml(answer: GiverAnswer, source: string | null, t: Texts): Html {
  const { question, value, reason, name, age_months: count } = answer;
  const answerText = name ?? t.date(t.named("answer", value));
  const valuePart =
    question === "merged_into"
      ? markup`<a href="/organisations/${value}">${answerText}</a>`
      : answerText;
  const age = count === undefined ? "" : `${t.text("giver.age", { count })} `;
  return markup`<div data-answer="${question}"><dt>${t.text(`giver.${question}`)}</dt><dd>${valuePart} <span class="note">${age}${t.word(reason)}${source}</span></dd></div>`;
}

/** People see an amount rounded; programs find it exact in an attribute. */
const valueHtml = (fact: RegisterFact, t: Texts): Html =>
  fact.currency === undefined
    ? markup`${t.fact(fact)}`
    : markup`<data value="${fact.value}">${t.fact(fact)}</data>`;
