import categories from "#content/editorial/register-categories.json";
import registers from "#content/editorial/registers.json";
import { isDeepStrictEqual } from "node:util";
import type {
  FinancialPeriod,
  RegisterFact,
  RegisterFacts,
  RegisterState,
} from "#content/contract/nonprofit.ts";
import { registers_of_revoked as registersOfRevoked } from "#content/editorial/standing.json";
import type { NonprofitRecord, RegisterRecord } from "./record.ts";

/** How a fact is made from a register's codes (content/editorial/registers.json). */
type FactRule = {
  name: string;
  label: string;
  /** The key in a record's `facts`. */
  from: string;
  /** The words for the codes; a code without words gives no fact. Absent: the value is shown as it is. */
  words?: Readonly<Record<string, string>>;
  /** The table with the titles of the codes, and the name of its codes. */
  titles?: { of: "ntee" | "activity" | "icnptso"; code: string };
  /** ISO 4217; for amounts. */
  currency?: string;
  /** Which form an amount was reported on, by a code of the record. */
  form?: { from: string; words: Readonly<Record<string, string>> };
  /** The key of the end (YYYY-MM or YYYY-MM-DD) of the year that an amount covers. */
  period?: string;
  /** Which figure of a period an amount is, and its form if no code names one. */
  money?: { as: "revenue" | "expenses" | "assets"; form: string };
};

/** An entry of the table of registers. */
export type Register = {
  /** The import format, for example irs-bmf. */
  id: string;
  name: string;
  licence: { name: string; url: string };
  /** The text that must be shown with its facts. */
  attribution: string;
  /** By scheme of the org-id: the address of an organisation's page, with {number}. Other schemes have no page. */
  record_urls: Readonly<Record<string, string>>;
  /** Registers with a selection of this one's rows: if both have an organisation, this one counts. */
  replaces?: readonly string[];
  /** True for a source of forms that organisations filed for a year; it does not list organisations. */
  filings?: boolean;
  /** Absent for a form that only fills fields of profiles. */
  fields?: readonly FactRule[];
};

const registersById: ReadonlyMap<string, Register> = new Map(
  (registers as readonly Register[]).map((register) => [register.id, register]),
);

const ofSchemes: ReadonlyMap<string, readonly Register[]> = Map.groupBy(
  [...registersById.values()].flatMap((register) =>
    Object.keys(register.record_urls).map((scheme) => ({ ...register, scheme })),
  ),
  ({ scheme }) => scheme,
);

export const registerById = (id: string): Register | undefined => registersById.get(id);

/** Each selection with the whole register that counts in its place. */
export const replacements: readonly (readonly [selection: string, whole: string])[] = [
  ...registersById.values(),
].flatMap(({ id, replaces = [] }) => replaces.map((selection) => [selection, id] as const));

/** Whether `register` holds only a selection of the rows of `whole`. */
export const isReplacedBy = (register: string, whole: string): boolean =>
  registersById.get(whole)?.replaces?.includes(register) ?? false;

/** The records that count: a register's selection does not count beside the whole register. */
export const countingRecords = (records: readonly RegisterRecord[]): RegisterRecord[] =>
  records.filter(
    ({ org_id, register }) =>
      !records.some(
        (record) => record.org_id === org_id && isReplacedBy(register, record.register),
      ),
  );

/** The sources that are forms which organisations file, and not registers that list them. */
export const filings: readonly string[] = [...registersById.values()].flatMap((register) =>
  register.filings === true ? register.id : [],
);

export const isFiling = (source: string): boolean => filings.includes(source);

/** Who keeps the register that lists an organisation, if ours combines several; else the register's name. */
export function registerName({ id, name, fields = [] }: Register, orgId: string): string {
  const { words = {} } = fields.find((field) => field.name === "regulator") ?? {};
  const scheme = Object.keys(words).find((word) => orgId.startsWith(`${word}-`)) ?? id;
  return words[scheme] ?? name;
}

const regulators = new Set(
  [...registersById.values()].flatMap(({ fields = [] }) =>
    fields
      .filter(({ name }) => name === "regulator")
      .flatMap(({ words = {} }) => Object.values(words)),
  ),
);

/** Whether a register has the name of its keeper, and not one of its own. */
export const isRegulator = (name: string): boolean => regulators.has(name);

/** The registers that can list organisations with this org-id prefix, for example US-EIN, in table order. */
export const registersOfScheme = (scheme: string): readonly Register[] =>
  ofSchemes.get(scheme) ?? [];

/** What a register says, in words that donors know, in table order. Empty for an unknown register. */
export function factsOf({
  register,
  facts,
}: Pick<RegisterRecord, "register" | "facts">): RegisterFact[] {
  return (registersById.get(register)?.fields ?? []).flatMap((rule) => factOf(rule, facts) ?? []);
}

/** One of these facts by its name, without making the others; null if the register does not say it. */
export function factNamed(
  name: string,
  { register, facts }: Pick<RegisterRecord, "register" | "facts">,
): RegisterFact | null {
  const rule = registersById.get(register)?.fields?.find((field) => field.name === name);
  return rule === undefined ? null : factOf(rule, facts);
}

function factOf(rule: FactRule, facts: RegisterRecord["facts"]): RegisterFact | null {
  const { name, label, words, titles, currency, period, form } = rule;
  const wording = titles === undefined ? facts[rule.from] : titled(titles, facts[rule.from]);
  const value = words === undefined ? wording : wordOf(words, wording);
  if (value === undefined) return null;
  const fact: RegisterFact = { name, label, value };
  if (currency !== undefined) fact.currency = currency;
  const ends = period === undefined ? undefined : facts[period];
  if (ends !== undefined) fact.period = `year to ${dateInWords(String(ends))}`;
  const on = form === undefined ? undefined : wordOf(form.words, facts[form.from]);
  if (on !== undefined) fact.form = on;
  return fact;
}

/** A file may hold any text, so only codes of the table have words. Several codes may be separated by ";". */
function wordOf(words: Readonly<Record<string, string>>, value: unknown): string | undefined {
  const meant = String(value)
    .split(";")
    .flatMap((code) => (Object.hasOwn(words, code) ? (words[code] ?? []) : []));
  return meant.join("; ") || undefined;
}

const titlesOf = new Map(
  (["ntee", "activity", "icnptso"] as const).map((of) => [
    of,
    new Map(Object.entries(categories[of])),
  ]),
);

/**
 * A register's code with its meaning: "Theater (NTEE A65)". A code without a title gets that of its group, which its first
 * letter names; activity codes are three in nine digits. Undefined for a code without a meaning.
 */
function titled({ of, code }: NonNullable<FactRule["titles"]>, value: string | number = "") {
  const raw = String(value);
  const titles = titlesOf.get(of) ?? new Map<string, string>();
  const codesIn = raw.length > 4 ? (raw.match(/.{3}/g) ?? []) : [raw.slice(0, 3)];
  const parts = titles.has(raw) ? [raw] : codesIn;
  const facts = parts.flatMap((part) => {
    const title = titles.get(part) ?? titles.get(part.slice(0, 1));
    return title === undefined ? [] : { part, title };
  });
  if (facts.length === 0) return undefined;
  const codes = raw.length > 4 ? facts.map(({ part }) => part).join(", ") : raw;
  return `${facts.map(({ title }) => title).join("; ")} (${code} ${codes})`;
}

/**
 * The register's page about an organisation, or null when it has none. A charity registered under another's number, such as
 * 210183-1, is part of that charity's page.
 */
export function recordUrl(register: string, orgId: string): string | null {
  const urls = registersById.get(register)?.record_urls;
  for (const scheme in urls) {
    const address = urls[scheme];
    if (address === undefined || !orgId.startsWith(`${scheme}-`)) continue;
    const [number = "", part = "0"] = orgId.slice(scheme.length + 1).split("-");
    return address
      .replace("{number}", encodeURIComponent(number))
      .replace("{part}", encodeURIComponent(part));
  }
  return null;
}

/** The page about an organisation in the first register that has one for its number; null if none has. */
export const registerPage = (orgId: string): string | null =>
  [...registersById.keys()]
    .map((register) => recordUrl(register, orgId))
    .find((url) => url !== null) ?? null;

/** The date of the file with the revocation; older files do not contain one. */
const revokedAt = ({ facts, as_of }: RegisterRecord): string =>
  String(facts["posted"] ?? facts["revoked"] ?? as_of);

/** A row that lists the organisation in a file newer than the revocation, else null. `dateOf`: date of a row's file. */
export const listedAfter = (
  revocation: RegisterRecord,
  records: readonly RegisterRecord[],
  dateOf = ({ as_of }: RegisterRecord): string => as_of,
): RegisterRecord | null =>
  records.find(
    (record) =>
      record.org_id === revocation.org_id &&
      record.state === "registered" &&
      dateOf(record) > revokedAt(revocation),
  ) ?? null;

const gravestFirst = ["revoked", "reinstated", "registered", "removed", "gone"] as const;

/** The standing of a nonprofit over all registers. A list of revocations that no longer contains it says nothing. */
export function standingIn(records: readonly RegisterRecord[]): RegisterState | null {
  const states = countingRecords(records)
    .filter(({ state, register }) => state !== "gone" || !registersOfRevoked.includes(register))
    .map((record) =>
      record.state === "revoked" && listedAfter(record, records) ? "reinstated" : record.state,
    );
  return gravestFirst.find((state) => states.includes(state)) ?? null;
}

/** The category in which a register files an organisation, without its code: "Theater"; null if none does. */
export function categoryIn(records: readonly RegisterRecord[]): string | null {
  const [fact] = records.flatMap(
    (record) =>
      outranking(record) ?? factNamed("category", record) ?? factNamed("class", record) ?? [],
  );
  return fact === undefined ? null : String(fact.value).replace(/ \([^()]*\)$/, "");
}

/** The first letters of NTEE codes that match the IRS's kinds of charity: church, school, hospital. */
const lettersOf: ReadonlyMap<unknown, string> = new Map([
  ["10", "X"],
  ["11", "B"],
  ["12", "EFGH"],
]);

/** The kind of charity of a church, school or hospital. It outranks a missing or different NTEE code. */
function outranking(record: RegisterRecord): RegisterFact | null {
  const { foundation, ntee = "" } = record.facts;
  const letters = lettersOf.get(foundation);
  const isSame = ntee !== "" && letters?.includes(String(ntee).charAt(0));
  return letters === undefined || isSame ? null : factNamed("foundation_type", record);
}

/** The facts that a revocation cancels, whatever an older file says. */
const revocable: ReadonlySet<string> = new Set(["tax_status", "deductibility"]);

/**
 * What registers say about a nonprofit, in public form; unknown registers are left out. A revocation comes first, and while
 * it is in force no register says that gifts are deductible.
 */
export const publicFacts = (records: readonly RegisterRecord[]): RegisterFacts[] => {
  const isRevocation = ({ state }: RegisterRecord) => state === "revoked";
  const holding = records.filter(
    (revocation) => isRevocation(revocation) && listedAfter(revocation, records) === null,
  );
  const revoked = new Set(holding.map(({ org_id }) => org_id));
  const holds = (record: RegisterRecord, fact: RegisterFact) =>
    isRevocation(record) || !revoked.has(record.org_id) || !revocable.has(fact.name);
  const ordered = countingRecords(records).toSorted(
    (a, b) => Number(isRevocation(b)) - Number(isRevocation(a)),
  );
  return ordered.flatMap((record) => {
    const register = registersById.get(record.register);
    if (register === undefined) return [];
    const { org_id, name, state, as_of } = record;
    return {
      register: register.id,
      register_name: registerName(register, org_id),
      org_id,
      name,
      state,
      as_of,
      licence: register.licence,
      attribution: register.attribution,
      fields: factsOf(record).filter((fact) => holds(record, fact)),
      record_url: recordUrl(register.id, org_id),
    };
  });
};

/** The records with one added, which replaces the earlier record of the same register and organisation; sorted. */
export const withRegisterRecord = (
  records: readonly RegisterRecord[],
  record: RegisterRecord,
): RegisterRecord[] =>
  [...records.filter((other) => rowKey(other) !== rowKey(record)), record].toSorted((a, b) =>
    rowKey(a) < rowKey(b) ? -1 : 1,
  );

const rowKey = ({ org_id, register }: RegisterRecord): string => `${org_id} ${register}`;

/** Whether register records are equal in public, where the part of the register is not shown. */
export const samePublicFacts = (a: NonprofitRecord, b: NonprofitRecord): boolean =>
  isDeepStrictEqual(a.register_records.map(withoutScope), b.register_records.map(withoutScope));

const withoutScope = (record: RegisterRecord) => ({ ...record, scope: "" });

/** A fact's value in words, rounded unless `exact`: "US$ 3.3 million, year to December 2024, Form 990", "July 1994". */
export function factInWords(fact: RegisterFact, exact = false): string {
  const { value, currency, period, form } = fact;
  if (currency === undefined && period === undefined) return dateInWords(String(value));
  // Counts (of employees, for example) have no currency and are never rounded.
  const isExact = exact || currency === undefined;
  const parts = [amountInWords(Number(value), currency ?? "", isExact), period, form];
  return parts.filter((part) => part !== undefined).join(", ");
}

/** A fact with its label and exact amount on one line: "Income: US$ 3,312,400", "Registered since: July 1994". */
export const factLine = (fact: RegisterFact): string => `${fact.label}: ${factInWords(fact, true)}`;

const states: Readonly<Record<RegisterState, string>> = {
  registered: "In the register",
  revoked: "Tax exemption revoked",
  reinstated: "Tax exemption revoked, and given back since",
  removed: "Removed from the register",
  gone: "No longer in the register",
  filed: "Filed",
};

/** An organisation's state in a register: "In the register as of 14 April 2026". */
export const stateInWords = ({ state, as_of }: Pick<RegisterFacts, "state" | "as_of">): string =>
  `${states[state]} as of ${dateInWords(as_of)}`;

const monthName = new Intl.DateTimeFormat("en", { month: "long", timeZone: "UTC" });
const monthNames = Array.from({ length: 12 }, (_, at) => monthName.format(Date.UTC(2000, at)));

/** "July 1994" of 1994-07, "2 August 1990" of 1990-08-02; any other text as it is. */
export function dateInWords(text: string): string {
  const dateParts = /^(\d{4})-(\d\d)(?:-(\d\d))?$/.exec(text);
  if (dateParts === null) return text;
  const [, year, month, day] = dateParts;
  return `${day === undefined ? "" : `${Number(day)} `}${monthNames[Number(month) - 1]} ${year}`;
}

const signs: Readonly<Record<string, string>> = { USD: "US$", GBP: "£", AUD: "A$" };
const scales = [
  { from: 999_500_000, size: 1_000_000_000, word: "billion" },
  { from: 1_000_000, size: 1_000_000, word: "million" },
];

/** An amount in words: "US$ 35,220", "£3.3 million" or, if `exact`, "£3,312,400"; with a minus sign below zero. */
export function amountInWords(amount: number, currency: string, exact = false): string {
  const sign = signs[currency] ?? currency;
  const gap = /[A-Z$]$/.test(sign) ? " " : "";
  const size = Math.abs(amount);
  const scale = exact ? undefined : scales.find(({ from }) => size >= from);
  const figures =
    scale === undefined
      ? String(Math.round(size)).replaceAll(/\B(?=(?:\d{3})+$)/g, ",")
      : `${Number((size / scale.size).toPrecision(size / scale.size >= 100 ? 3 : 2))} ${scale.word}`;
  return `${amount < 0 ? "−" : ""}${sign}${gap}${figures}`;
}

/** The most periods on a profile; the newest are kept. */
const periodsMax = 20;

type Money = Pick<RegisterRecord, "register" | "facts" | "finances">;

/**
 * The finances of a nonprofit by period, newest first, at most 20. For one period, a return counts before the prior-year
 * column of the next return, and that before a register's own figure, which may know only the month.
 */
export function financesOf(records: readonly Money[]): FinancialPeriod[] {
  const filed = records
    .flatMap(({ register, finances }) =>
      finances.map(({ filed_at: _at, ...period }) => ({ ...period, source: register })),
    )
    .toSorted((a, b) => Number(a.prior_year ?? false) - Number(b.prior_year ?? false));
  const months = new Set(filed.map(monthOf));
  const stated = records.flatMap(statedIn).filter((period) => !months.has(monthOf(period)));
  const byPeriod = new Map<string, FinancialPeriod>();
  for (const period of [...filed, ...stated]) {
    byPeriod.getOrInsert(`${period.period_end} ${period.currency}`, period);
  }
  return [...byPeriod.values()]
    .toSorted((a, b) => b.period_end.localeCompare(a.period_end))
    .slice(0, periodsMax);
}

const monthOf = ({ period_end, currency }: FinancialPeriod): string =>
  `${period_end.slice(0, 7)} ${currency}`;

/** A register's own figures for the latest period, by the rules of its table. */
function statedIn(record: Money): FinancialPeriod[] {
  const { register, facts } = record;
  const statements = (registerById(register)?.fields ?? []).flatMap(
    ({ name, money, period = "" }) => {
      const fact = money === undefined ? null : factNamed(name, record);
      const end = facts[period];
      if (fact === null || money === undefined || end === undefined) return [];
      const form = fact.form?.replace("Form ", "") ?? money.form;
      const period_end = lastDayOf(String(end));
      return { [money.as]: fact.value, period_end, form, currency: fact.currency ?? "" };
    },
  );
  return statements.length === 0
    ? []
    : [Object.assign({ ...unsaid }, ...statements, { source: register })];
}

const unsaid = {
  period_start: null,
  revenue: null,
  expenses: null,
  assets: null,
  liabilities: null,
  net_assets: null,
  amended: false,
  filing_url: null,
};

/** "2024-12-31" for "2024-12"; a full date stays as it is. */
function lastDayOf(end: string): string {
  const [year = 0, month = 0, day] = end.split("-").map(Number);
  return day === undefined ? new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10) : end;
}
