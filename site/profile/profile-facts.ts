import { linkHost, safeLink } from "#content/nonprofit/safe-link.ts";
import {
  type FieldProvenance,
  linkWords,
  type NonprofitDetail,
  type RegisterFact,
  type RegisterFacts,
  type GiverAnswer,
} from "#content/contract/nonprofit.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { isoDay } from "#content/contract/base/time.ts";
import { fromPostcode } from "#content/nonprofit/provenance.ts";
import { registerById, registerPage } from "#content/nonprofit/register-facts.ts";
import { lettersOf } from "#content/nonprofit/text.ts";
import { isWallet } from "#content/nonprofit/ways-to-give.ts";
import type { Texts } from "#content/language/texts.ts";
import { isolated, joined, quoted } from "#site/parts/words.ts";

/** One fact about a nonprofit; page, markdown and JSON-LD each draw it in their own way. */
export type Fact = {
  /** The field's name in the JSON. */
  field: string;
  label: string;
  text: string;
  /** A link that passed `safeLink`; null for a value that is no link. */
  href: string | null;
};
type Words = { text: string; href?: string };

const plain = (value: unknown): Words => ({ text: String(value) });
const link = (address: string): Words | null => {
  const href = safeLink(address);
  return href === null ? null : { text: linkHost(href), href };
};

/** The value if it has the form of a wallet address, else null. */
const wallet = (address: string): Words | null => (isWallet(address) ? { text: address } : null);

const factIn = <Name extends Exclude<keyof NonprofitDetail, "provenance" | "register_facts">>(
  field: Name,
  words: (value: NonNullable<NonprofitDetail[Name]>, t: Texts) => Words | null = plain,
) => ({
  field,
  words: (detail: NonprofitDetail, t: Texts): Words | null => {
    const value = detail[field];
    return value === null || value === undefined || value === "" ? null : words(value, t);
  },
});

const inOrder = [
  factIn("city"),
  factIn("region"),
  factIn("country", (country, t) => plain(t.country(country))),
  factIn("website", link),
  factIn("donation_url", link),
  factIn("usdc_wallet", wallet),
  factIn("founded_year"),
  factIn("beneficiaries_per_year", (people, t) => ({ text: t.number(people) })),
  factIn("annual_budget_usd", (amount, t) => ({ text: t.exactly(amount, "USD") })),
  factIn("team_size", (count, t) => ({ text: t.text("count.people", { count }) })),
];

/** Hidden for withdrawn nonprofits, so that no one sends them money. */
const ofOpen: ReadonlySet<string> = new Set(["donation_url", "usdc_wallet"]);

/** The facts of a profile that are single values, in the order of the page; facts without a value are left out. */
export function factsOf(detail: NonprofitDetail, t: Texts): Fact[] {
  const facts: Fact[] = [];
  for (const { field, words } of inOrder) {
    const sentence = detail.status === "withdrawn" && ofOpen.has(field) ? null : words(detail, t);
    if (sentence === null) continue;
    const { text, href = null } = sentence;
    facts.push({ field, label: labelOf(field, t), text, href });
  }
  return facts;
}

/**
 * Programmes, each with a short note: its location and how many people it reaches. A name that is only the first words of
 * the text is null, since the text says it.
 */
export const programsOf = ({ programs }: NonprofitDetail, t: Texts) =>
  programs.map(({ name, description, location, beneficiaries_per_year: count }) => {
    const reach = count === null ? null : t.text("row.reach", { count });
    const where = location === null ? null : isolated(location);
    const ownName = beginsWith(description, name) ? null : name;
    return { name: ownName, text: description, note: joined([where, reach], " · ") };
  });

export const metricsOf = ({ impact_metrics }: NonprofitDetail, t: Texts) =>
  impact_metrics.map(({ name, value, unit, period }) => ({
    name,
    value: joined([isCount(value) ? t.number(Number(value)) : value, unit], " "),
    note: period === null ? "" : t.named("period", period),
  }));

/** Whether a value, which may be any text, is a plain count, which is then formatted for the language. */
const isCount = (value: string): boolean => /^[1-9]\d{0,14}$/.test(value);

/** The legal registrations, each with its org-id, if known, and with what linked it to the profile. */
export const registrationsOf = (record: NonprofitRecord, detail: NonprofitDetail, t: Texts) =>
  detail.registrations.map(({ country, type, registration_number, linked_by }, at) => ({
    type: t.word(type),
    number: registration_number,
    orgId: record.registrations[at]?.org_id ?? null,
    href: safeLink(registerPage(record.registrations[at]?.org_id ?? "")),
    country: t.country(country),
    linked:
      linked_by === undefined
        ? null
        : t.text("profile.linked", { how: t.word(linkWords[linked_by]) }),
  }));

/** Why a profile is withdrawn, since when and by which register, as the beginning of a sentence. */
export function whyWithdrawn(
  { merged_into, provenance, register_facts }: NonprofitDetail,
  t: Texts,
): string {
  if (merged_into !== undefined) return t.text("withdrawn.merged");
  const decided = provenance["status"];
  if (decided?.source === "operator") {
    return t.text("withdrawn.operator", { date: t.date(decided.applied_at.slice(0, 10)) });
  }
  const left = register_facts.find(({ state }) => state === "gone" || state === "removed");
  const [register] = left === undefined ? register_facts : [left];
  const removed = left?.fields.find(({ name }) => name === "removed")?.value;
  if (register === undefined) return t.text("withdrawn.gone");
  const isKept = register_facts.some(({ state }) => state === "registered");
  return t.text(isKept ? "withdrawn.unlisted" : "withdrawn.gone_from", {
    register: t.word(register.register_name),
    date: t.date(String(removed ?? register.as_of)),
  });
}

/**
 * A register's facts that the profile does not show already: no objects with which the mission, the description or an
 * earlier register's objects begin, and no gross income that equals the revenue.
 */
export function factsBeside(register: RegisterFacts, detail: NonprofitDetail): RegisterFact[] {
  const { mission, description, register_facts } = detail;
  const before = register_facts.slice(0, register_facts.indexOf(register));
  const objectsOf = ({ fields }: RegisterFacts) =>
    fields.filter(({ name }) => name === "objects").map(({ value }) => String(value));
  const texts = [mission ?? "", description ?? "", ...before.flatMap(objectsOf)].map(lettersOf);
  const revenue = register.fields.find(({ name }) => name === "revenue")?.value;
  return register.fields.filter(({ name, value }) => {
    if (name === "objects") return !texts.some((text) => text.startsWith(lettersOf(String(value))));
    return name !== "income" || value !== revenue;
  });
}

/** Answers to questions of donors, except "not revoked" and those that a register's fact gives in the same words. */
export function answersBeside({ giver_answers, register_facts }: NonprofitDetail): GiverAnswer[] {
  const stated = new Set(register_facts.flatMap(({ fields }) => fields.map(({ value }) => value)));
  return giver_answers.filter(
    ({ question, value, reason }) =>
      !stated.has(reason) && !(question === "revoked" && value === "no"),
  );
}

/** Whether the description begins with the whole mission: a register gave one text for both. */
export const beginsWithMission = ({ mission, description }: NonprofitDetail): boolean =>
  beginsWith(description, mission);

/** Whether a text begins with the letters of another one that has any: those of "Meals for…" begin "Meals for all." */
function beginsWith(text: string | null, opening: string | null): boolean {
  const letters = lettersOf(opening ?? "");
  return letters !== "" && lettersOf(text ?? "").startsWith(letters);
}

/** "Income £3.3 million, spending £3 million, year to March 2025", else a register's word for the size, else the budget. */
export function sizeOf(
  { register_facts, annual_budget_usd: budget }: NonprofitDetail,
  t: Texts,
): string | null {
  const facts = register_facts.flatMap(({ fields }) => fields.filter(({ period }) => period));
  const yearOf = ({ period = "" }: RegisterFact) => period.slice(-4);
  const [income] = facts
    .filter(({ name }) => name === "income" || name === "revenue")
    .toSorted((a, b) => yearOf(b).localeCompare(yearOf(a)));
  if (income === undefined) {
    const [size] = register_facts.flatMap(({ fields }) =>
      fields.filter(({ name }) => name === "size"),
    );
    if (size !== undefined) return `${t.fact(size)} (${t.word(size.label).toLowerCase()})`;
    return budget === null
      ? null
      : `${fieldName("annual_budget_usd", t)} ${t.exactly(budget, "USD")}`;
  }
  const { period, ...amount } = income;
  const spending = facts.find((fact) => fact.name === "spending" && fact.period === period);
  // The register's own section explains the label in parentheses.
  const label = t.word(income.label).split(" (")[0];
  if (spending === undefined) return `${label} ${t.fact(income)}`;
  const spent = `${t.word(spending.label).toLowerCase()} ${t.fact(spending)}`;
  return `${label} ${t.fact(amount)}, ${spent}`;
}

/** A field's name for people. */
export const fieldName = (field: string, t: Texts): string => t.named("field", field);

/** The same with a capital letter. */
export const labelOf = (field: string, t: Texts): string => {
  const name = fieldName(field, t);
  return name.charAt(0).toUpperCase() + name.slice(1);
};

export const sourceName = (source: string, t: Texts): string => t.named("source", source);

/** Where a value comes from, in words. */
export type Origin = ReturnType<typeof originOf>;

export function originOf(from: FieldProvenance, t: Texts) {
  const { source, source_url, rule, agents, corroborations: count = 0, applied_at } = from;
  const isDerived = rule !== undefined && source.startsWith("derived:");
  const name = isDerived ? derivedFrom(source, rule, t) : statedBy(source, rule, t);
  const named = source === "consensus" ? "origin.agreed" : "origin.also";
  const origin =
    agents.length === 0
      ? name
      : t.text(named, { source: name, agents: agents.map(quoted).join(", ") });
  const href = safeLink(source_url);
  return {
    source: count === 0 ? origin : t.text("origin.others", { origin, count }),
    /** A link that passed `safeLink`. */
    link: href === null ? null : { href, host: linkHost(href) },
    /** YYYY-MM-DD. */
    day: applied_at.slice(0, 10),
  };
}

function statedBy(source: string, rule: string | undefined, t: Texts): string {
  const name = sourceName(source, t);
  return rule === undefined ? name : t.text("list.named", { name, value: filedOn(rule, t) });
}

/** The form that a filing's rule names, in the language of the page. */
function filedOn(rule: string, t: Texts): string {
  const [, form = "", day = "", number = ""] =
    /^Form (\S+) for the year to (.+), object (\d+)$/.exec(rule) ?? [];
  const at = Date.parse(`${day} UTC`);
  if (Number.isNaN(at)) return rule;
  return t.text("origin.filed", { form: t.named("form", form), date: t.date(isoDay(at)), number });
}

/** An origin with the fields that have it: `names` as in the JSON, `fields` in words. */
export type FieldsOrigin = Origin & {
  mark: string;
  names: string[];
  fields: string;
  /** Id of the register from which the values come or are derived; "" for none. */
  register: string;
};

/** The origins of a profile's values, in the order of the fields; fields with the same origin share an entry. */
export function originsOf(provenance: NonprofitDetail["provenance"], t: Texts): FieldsOrigin[] {
  const origins = new Map<string, FieldsOrigin>();
  for (const field in provenance) {
    const from = provenance[field];
    if (from === undefined) continue;
    const { source, source_url, rule = "", agents, corroborations = 0, applied_at } = from;
    const key = `${source} ${source_url} ${rule} ${agents.length === 0 ? "" : agents.join(" ")} ${corroborations} ${applied_at}`;
    const same = origins.get(key);
    if (same === undefined) {
      const words = { names: [field], fields: fieldName(field, t), mark: markOf(from, t) };
      const [, register = ""] = /^(?:register|derived):(.*)$/.exec(source) ?? [];
      origins.set(key, { ...originOf(from, t), ...words, register });
      continue;
    }
    same.names.push(field);
    same.fields += `, ${fieldName(field, t)}`;
  }
  return [...origins.values()];
}

/** Where a value comes from, in a word or two to show beside it. */
function markOf({ source, rule, agents, corroborations = 0 }: FieldProvenance, t: Texts): string {
  if (source === "operator") return t.text("mark.operator");
  if (source === "organisation") return t.text("mark.organisation");
  if (source === "register:sample") return t.text("mark.sample");
  if (source !== "consensus") {
    if (rule?.startsWith(fromPostcode)) return t.text("mark.postcode");
    if (source.startsWith("derived:")) return t.text("mark.derived");
    return t.text(rule === undefined ? "mark.register" : "mark.filed");
  }
  const count = agents.length + corroborations;
  // Agents with the same name count once.
  return count < 2 ? t.text("mark.one") : t.text("mark.agents", { count });
}

/** "Our reading of NTEE K31 → Food Security (high) (IRS Business Master File)". */
function derivedFrom(source: string, rule: string, t: Texts): string {
  const register = source.slice(source.indexOf(":") + 1);
  if (rule.startsWith(fromPostcode))
    return t.text("origin.postcode", { code: rule.slice(fromPostcode.length) });
  return t.text("origin.derived", {
    rule,
    register: t.word(registerById(register)?.name ?? register),
  });
}
