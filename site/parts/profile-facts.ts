import {
  type FieldProvenance,
  linkWords,
  type NonprofitDetail,
  type RegisterFact,
} from "#content/contract/nonprofit.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { dateInWords, registerById } from "#content/nonprofit/register-facts.ts";
import { linkHost, safeLink } from "#content/nonprofit/website.ts";
import { counted, grouped, joined, quoted } from "./words.ts";

/** One thing that is known of a nonprofit: what its page, markdown and JSON-LD draw, each in its own way. */
export type Fact = {
  /** Its name in the JSON. */
  field: string;
  label: string;
  /** The value as people read it. */
  text: string;
  /** A link that `safeLink` let through; null for a value that is none. */
  href: string | null;
};

type Field = Exclude<keyof NonprofitDetail, "provenance" | "register_facts">;
type Words = { text: string; href?: string };

const plain = (value: unknown): Words => ({ text: String(value) });
const link = (address: string): Words | null => {
  const href = safeLink(address);
  return href === null ? null : { text: linkHost(href), href };
};

/** What is published must at least look like an address: the letters of base58, 32 bytes. */
const wallet = (address: string): Words | null =>
  /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(address) ? { text: address } : null;

const shown = <Name extends Field>(
  field: Name,
  words: (value: NonNullable<NonprofitDetail[Name]>) => Words | null = plain,
) => ({
  field,
  words: (detail: NonprofitDetail): Words | null => {
    const value = detail[field];
    return value === null || value === undefined || value === "" ? null : words(value);
  },
});

const inOrder = [
  shown("city"),
  shown("region"),
  shown("country"),
  shown("website", link),
  shown("donation_url", link),
  shown("usdc_wallet", wallet),
  shown("founded_year"),
  shown("beneficiaries_per_year", (people) => ({ text: grouped(people) })),
  shown("annual_budget_usd", (amount) => ({ text: `US$ ${grouped(amount)}` })),
  shown("team_size", (people) => ({ text: counted(people, "person", "people") })),
];

/** Nobody is sent to a withdrawn nonprofit with money. */
const ofOpen: ReadonlySet<string> = new Set(["donation_url", "usdc_wallet"]);

/** The facts of a profile that are one value each, in the order in which they are shown; those without a value are left out. */
export function factsOf(detail: NonprofitDetail): Fact[] {
  const facts: Fact[] = [];
  for (const { field, words } of inOrder) {
    const found = detail.status === "withdrawn" && ofOpen.has(field) ? null : words(detail);
    if (found === null) continue;
    const { text, href = null } = found;
    facts.push({ field, label: labelOf(field), text, href });
  }
  return facts;
}

/** Programmes and impact, each with a note in a few words. */
export const programsOf = ({ programs }: NonprofitDetail) =>
  programs.map(({ name, description, location, beneficiaries_per_year: people }) => {
    const reach = people === null ? null : `${counted(people, "person", "people")} a year`;
    return { name, text: description, note: joined([location, reach], " · ") };
  });

export const metricsOf = ({ impact_metrics }: NonprofitDetail) =>
  impact_metrics.map(({ name, value, unit, period }) => ({
    name,
    value: joined([value, unit], " "),
    note: period ?? "",
  }));

/** The legal registrations, each with the org-id where there is one and with what linked it to the profile. */
export const registrationsOf = (record: NonprofitRecord, detail: NonprofitDetail) =>
  detail.registrations.map(({ country, type, registration_number, linked_by }, at) => ({
    type,
    number: registration_number,
    orgId: record.registrations[at]?.org_id ?? null,
    country,
    linked: linked_by === undefined ? null : `linked: ${linkWords[linked_by]}`,
  }));

/** Why a withdrawn profile is one, since when and by which register, as the beginning of a sentence. */
export function whyWithdrawn({ merged_into, provenance, register_facts }: NonprofitDetail): string {
  if (merged_into !== undefined) return "Another profile of this organisation stands in its place,";
  const decided = provenance["status"];
  if (decided?.source === "operator") {
    const day = dateInWords(decided.applied_at.slice(0, 10));
    return `An operator of this directory withdrew it on ${day},`;
  }
  const left = register_facts.find(({ state }) => state === "gone" || state === "removed");
  const [register] = left === undefined ? register_facts : [left];
  const removed = left?.fields.find(({ name }) => name === "removed")?.value;
  const when = dateInWords(String(removed ?? register?.as_of));
  const of = register === undefined ? "" : ` (${register.register_name}, ${when})`;
  return register_facts.some(({ state }) => state === "registered")
    ? `Its register${of} no longer has it among the organisations that this directory lists,`
    : `This organisation is no longer in the register that listed it${of},`;
}

/** Whether the profile shows this text of a register already, as its mission or description. */
export const isShownAlready = (
  { name, value }: RegisterFact,
  { mission, description }: Pick<NonprofitDetail, "mission" | "description">,
): boolean =>
  name === "objects" &&
  [mission, description].some((text) => text?.startsWith(String(value).replace(/…$/, "")));

const fieldNames: Record<string, string> = {
  annual_budget_usd: "annual budget",
  beneficiaries_per_year: "people reached in a year",
  contact_email: "contact e-mail address",
  country_code: "country",
  donation_url: "donation page",
  founded_year: "founding year",
  ghd_aligned: "global health alignment",
  impact_metrics: "impact",
  logo_url: "logo",
  programs: "programmes",
  team_size: "team size",
  usdc_wallet: "USDC wallet",
};

/** A field's name for people. */
export const fieldName = (field: string): string => fieldNames[field] ?? field;

const labelOf = (field: string): string => {
  const name = fieldName(field);
  return name.charAt(0).toUpperCase() + name.slice(1);
};

/** A source for people. */
export const sourceName = (source: string): string => sourceNames[source] ?? source;

const sourceNames: Record<string, string> = {
  consensus: "Agreement of agents",
  operator: "The operator of this directory",
  organisation: "The organisation itself",
  "register:irs-bmf": "US Internal Revenue Service, Business Master File",
  "register:irs-990": "US Internal Revenue Service, Form 990",
  "register:irs-1023ez": "US Internal Revenue Service, Form 1023-EZ",
  "register:ukcat": "Charity registers of the United Kingdom",
  "register:acnc": "Australian Charities and Not-for-profits Commission",
  "register:sample": "Invented sample data",
  "register:ndjson": "Another copy of this directory",
};

/** Where a value comes from, in words. */
export type Origin = {
  source: string;
  /** A link that `safeLink` let through. */
  link: { href: string; host: string } | null;
  /** YYYY-MM-DD. */
  day: string;
};

/** Puts in words where a value comes from. */
export function originOf(from: FieldProvenance): Origin {
  const { source, source_url, rule, agents, corroborations = 0, applied_at } = from;
  const name = rule === undefined ? sourceName(source) : derivedFrom(source, rule);
  const named = source === "consensus" ? ": " : "; also from agents: ";
  const names = agents.length === 0 ? "" : `${named}${agents.map(quoted).join(", ")}`;
  const others = corroborations === 0 ? "" : `; found by ${corroborations} more`;
  const href = safeLink(source_url);
  return {
    source: `${name}${names}${others}`,
    link: href === null ? null : { href, host: linkHost(href) },
    day: applied_at.slice(0, 10),
  };
}

/** An origin with the fields whose values it gave: their names in the JSON, and in words. */
export type FieldsOrigin = Origin & { mark: string; names: string[]; fields: string };

/** The provenance of a profile by origin, in the order of the fields; values of one origin share a line. */
export function originsOf(provenance: NonprofitDetail["provenance"]): FieldsOrigin[] {
  const origins = new Map<string, FieldsOrigin>();
  for (const field in provenance) {
    const from = provenance[field];
    if (from === undefined) continue;
    const { source, source_url, rule = "", agents, corroborations = 0, applied_at } = from;
    const key = `${source} ${source_url} ${rule} ${agents.length === 0 ? "" : agents.join(" ")} ${corroborations} ${applied_at}`;
    const same = origins.get(key);
    if (same === undefined) {
      const words = { names: [field], fields: fieldName(field), mark: markOf(from) };
      origins.set(key, { ...originOf(from), ...words });
      continue;
    }
    same.names.push(field);
    same.fields += `, ${fieldName(field)}`;
  }
  return [...origins.values()];
}

/** Where a value comes from, in a word or two that stand beside it. */
function markOf({ source, agents, corroborations = 0 }: FieldProvenance): string {
  if (source === "operator") return "Operator";
  if (source === "organisation") return "Organisation";
  if (source !== "consensus") return source.startsWith("derived:") ? "Derived" : "Register";
  const count = agents.length + corroborations;
  // Agents of one name stand there once.
  return count < 2 ? "Agents" : `${count} agents`;
}

/** "Derived by this directory: IRS NTEE code K31 → Food banks (IRS Business Master File)". */
function derivedFrom(source: string, derivedBy: string): string {
  const register = source.slice(source.indexOf(":") + 1);
  return `Derived by this directory: ${derivedBy} (${registerById(register)?.name ?? register})`;
}
