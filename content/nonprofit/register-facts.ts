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

/** How a fact is made of a register's codes. Source: content/editorial/registers.json. */
type FactRule = {
  name: string;
  label: string;
  /** The key of a record's `facts`. */
  from: string;
  /** What the codes mean; a code without words gives no fact. Absent: the value stands for itself. */
  words?: Readonly<Record<string, string>>;
  /** The table whose titles the codes have, and what its codes are called. */
  titles?: { of: "ntee" | "activity" | "icnptso"; code: string };
  /** ISO 4217; for amounts. */
  currency?: string;
  /** What an amount was reported on, by a code of the record. */
  form?: { from: string; words: Readonly<Record<string, string>> };
  /** The key under which the record has the end of the year (YYYY-MM or YYYY-MM-DD) that an amount covers. */
  period?: string;
  /** Which figure of a period an amount is, and the form it was reported on where its code names none. */
  money?: { as: "revenue" | "expenses" | "assets"; form: string };
};

/** A register, as the table has it. */
export type Register = {
  /** The import format, for example irs-bmf. */
  id: string;
  name: string;
  licence: { name: string; url: string };
  /** What has to stand beside its facts. */
  attribution: string;
  /** By scheme of the org-id: the address of one organisation's page, with {number}. Without a scheme there is none. */
  record_urls: Readonly<Record<string, string>>;
  /** Registers that hold a selection of this one's rows: where both speak of one organisation, this one counts. */
  replaces?: readonly string[];
  /** What it has are forms that organisations filed for a year; it lists none. */
  filings?: boolean;
  /** None for a form that only fills fields of profiles. */
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

/** A register by its id, or undefined. */
export const registerById = (id: string): Register | undefined => registersById.get(id);

/** Whether a register holds a selection of what another one has whole. */
export const isReplacedBy = (register: string, whole: string): boolean =>
  registersById.get(whole)?.replaces?.includes(register) ?? false;

/** The records that count: none of a selection beside that of the whole register. */
export const countingRecords = (records: readonly RegisterRecord[]): RegisterRecord[] =>
  records.filter(
    ({ org_id, register }) =>
      !records.some(
        (record) => record.org_id === org_id && isReplacedBy(register, record.register),
      ),
  );

/** Whether this is the name of a form that organisations file, and no register that lists them. */
export const isFiling = (source: string): boolean => registersById.get(source)?.filings === true;

/** Who keeps the register in which an organisation stands, where a register of ours holds those of several; else its name. */
export function registerName({ id, name, fields = [] }: Register, orgId: string): string {
  const { words = {} } = fields.find((field) => field.name === "regulator") ?? {};
  const scheme = Object.keys(words).find((word) => orgId.startsWith(`${word}-`)) ?? id;
  return words[scheme] ?? name;
}

/** The registers that can list organisations whose org-ids begin so, for example US-EIN, in the order of the table. */
export const registersOfScheme = (scheme: string): readonly Register[] =>
  ofSchemes.get(scheme) ?? [];

/** What a register says, in words a donor knows, in the order of the table. Empty for a register that is not in it. */
export function factsOf({
  register,
  facts,
}: Pick<RegisterRecord, "register" | "facts">): RegisterFact[] {
  return (registersById.get(register)?.fields ?? []).flatMap((rule) => factOf(rule, facts) ?? []);
}

/** One of these by its name, without making the others; null where the register says no such thing. */
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

/** A file may hold any text: only the table's own codes have words. A register may mark several, with ";" between. */
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
 * "Theater (NTEE A65)": what a register's code means, beside it. One without a title of its own has that of its group, which
 * its first letter names; activity codes are three in nine digits. Undefined for a code that says nothing.
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
 * The register's own page about an organisation, or null when it has no address for it. A charity that is registered under
 * the number of another, such as 210183-1, is a part of that one's record.
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

/** The page about an organisation in the first register that has one for its number; null for none. */
export const registerPage = (orgId: string): string | null =>
  [...registersById.keys()]
    .map((register) => recordUrl(register, orgId))
    .find((url) => url !== null) ?? null;

/** When the file that said so came out; an older one does not say since when. */
const revokedAt = ({ facts, as_of }: RegisterRecord): string =>
  String(facts["posted"] ?? facts["revoked"] ?? as_of);

/** The row of a file from after the revocation that lists the organisation; null for none. `dateOf`: the date of a row's file. */
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

/** What registers say of a nonprofit as a whole, in one word. A list of revocations that drops it says nothing. */
export function standingIn(records: readonly RegisterRecord[]): RegisterState | null {
  const states = countingRecords(records)
    .filter(({ state, register }) => state !== "gone" || !registersOfRevoked.includes(register))
    .map((record) =>
      record.state === "revoked" && listedAfter(record, records) ? "reinstated" : record.state,
    );
  return gravestFirst.find((state) => states.includes(state)) ?? null;
}

/** What a register files an organisation under, in words without their code: "Theater"; null where none does. */
export function categoryIn(records: readonly RegisterRecord[]): string | null {
  const [fact] = records.flatMap(
    (record) =>
      outranking(record) ?? factNamed("category", record) ?? factNamed("class", record) ?? [],
  );
  return fact === undefined ? null : String(fact.value).replace(/ \([^()]*\)$/, "");
}

/** The first letters of NTEE codes that say the same as the IRS's kinds of charity: church, school, hospital. */
const lettersOf: ReadonlyMap<unknown, string> = new Map([
  ["10", "X"],
  ["11", "B"],
  ["12", "EFGH"],
]);

/** The kind of charity of a church, school or hospital: it outranks an NTEE code that says something else, or nothing. */
function outranking(record: RegisterRecord): RegisterFact | null {
  const { foundation, ntee = "" } = record.facts;
  const letters = lettersOf.get(foundation);
  const isSame = ntee !== "" && letters?.includes(String(ntee).charAt(0));
  return letters === undefined || isSame ? null : factNamed("foundation_type", record);
}

/** What a revocation takes back, whatever a file from before it says. */
const revocable: ReadonlySet<string> = new Set(["tax_status", "deductibility"]);

/**
 * What registers say of a nonprofit, as it is public; a register that is not in the table is left out. A revocation
 * stands first, and beside one that holds no register says that gifts are deductible.
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

/** The records with one more, in the place of what the same register said of the same organisation; in their order. */
export const withRegisterRecord = (
  records: readonly RegisterRecord[],
  record: RegisterRecord,
): RegisterRecord[] =>
  [...records.filter((other) => rowKey(other) !== rowKey(record)), record].toSorted((a, b) =>
    rowKey(a) < rowKey(b) ? -1 : 1,
  );

const rowKey = ({ org_id, register }: RegisterRecord): string => `${org_id} ${register}`;

/** Whether registers say the same in public, where the part of a register that says it does not show. */
export const samePublicFacts = (a: NonprofitRecord, b: NonprofitRecord): boolean =>
  isDeepStrictEqual(a.register_records.map(withoutScope), b.register_records.map(withoutScope));

const withoutScope = (record: RegisterRecord) => ({ ...record, scope: "" });

/** "US$ 3.3 million, year to December 2024, Form 990 or 990-EZ", "17,420, year to June 2023", "July 1994": the value of a fact as people read it, rounded unless `exact`. */
export function factInWords(fact: RegisterFact, exact = false): string {
  const { value, currency, period, form } = fact;
  if (currency === undefined && period === undefined) return dateInWords(String(value));
  // What is counted, employees for example, has no currency, and is never rounded.
  const isExact = exact || currency === undefined;
  const parts = [amountInWords(Number(value), currency ?? "", isExact), period, form];
  return parts.filter((part) => part !== undefined).join(", ");
}

/** "Income: US$ 3,312,400", "Registered since: July 1994": a fact with its label and its whole amount, on one line. */
export const factLine = (fact: RegisterFact): string => `${fact.label}: ${factInWords(fact, true)}`;

const states: Readonly<Record<RegisterState, string>> = {
  registered: "In the register",
  revoked: "Tax exemption revoked",
  reinstated: "Tax exemption revoked, and given back since",
  removed: "Removed from the register",
  gone: "No longer in the register",
  filed: "Filed",
};

/** "In the register as of 14 April 2026": where an organisation stands there. */
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

/** "US$ 35,220", "£3.3 million" or `exact` "£3,312,400"; below zero with a minus sign. */
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

/** A profile has this many periods, the newest ones. */
const periodsMax = 20;

type Money = Pick<RegisterRecord, "register" | "facts" | "finances">;

/**
 * The money of a nonprofit by period, newest first, at most 20 periods. Of several sources of one period a return counts
 * before a column of the next year's, and that before what a register took over, which of a period may know its month alone.
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

/** What a register itself says of the latest period, by the rules of its table. */
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
  ...{ period_start: null, revenue: null, expenses: null, assets: null, liabilities: null },
  ...{ net_assets: null, amended: false, filing_url: null },
};

/** "2024-12-31" of "2024-12"; a day stands for itself. */
function lastDayOf(end: string): string {
  const [year = 0, month = 0, day] = end.split("-").map(Number);
  return day === undefined ? new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10) : end;
}
