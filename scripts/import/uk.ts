import { StoredPeriod } from "#content/contract/nonprofit.ts";
import registerColumns from "#content/editorial/register-columns.json";
import uk from "#content/editorial/uk-registers.json";
import { postalCode } from "#content/nonprofit/postal-points.ts";
import { recordUrl } from "#content/nonprofit/register-facts.ts";
import { lettersOf } from "#content/nonprofit/text.ts";
import type { CauseChoice } from "#content/register/cause-mapping.ts";
import { otherName, readableName } from "#content/register/names.ts";
import { readOrgId, type RegisterNumber, schemeOf } from "#content/register/org-id.ts";
import { postTown, townInsteadOfPostcode } from "#content/register/places.ts";
import { companyNumber } from "#content/register/same-organisation.ts";
import type { RowOutcome } from "#content/register/stage-rows.ts";
import * as format from "./format.ts";
import { amountOf, bad, cell, type CsvFormat, dayOf, missionOf, type Row } from "./format.ts";

/** Rules such as "day Registered Date": a reader and a column. All are in content/editorial/uk-registers.json. */
type Rules = Readonly<Record<string, string>>;
type Values = Record<string, string | number | null>;

/** Data about a charity in the other tables of a register. `texts` includes its codes of purposes. */
export type Beside = { texts: Rules; facts: Values; finances: StoredPeriod[] };

/** A charity register of the United Kingdom that is read as a whole. */
export function ukRegister(
  name: keyof typeof uk.registers,
  beside?: (row: Row) => Beside,
): CsvFormat {
  const spec = uk.registers[name];
  const { about, scheme, codes, number, status, texts, facts, money } = spec;
  const former: readonly string[] = spec.former;
  const removedPattern = new RegExp(spec.removed, "i");
  const isRemoved = (row: Row) =>
    removedPattern.test(cell(row, status)) || former.some((column) => textOf(row, column) !== "");
  const rules = [texts, facts, money].flatMap((ruleSet) => Object.values<string>(ruleSet));
  const columns = [...number, status, ...spec.more, ...rules.map(columnOf)];
  return {
    name,
    about,
    lists: true,
    parts: {
      ofRow: (row) => (former.length > 0 && isRemoved(row) ? "former" : scheme),
      onceEach: false,
    },
    dates: rules.filter((rule) => rule.startsWith("day ")).map(columnOf),
    columns: [columns, columns.filter((column) => !former.includes(column))],
    read: (row, mapping) => {
      const registration = ukNumber(scheme, row, number);
      if ("kind" in registration) return registration;
      const { org_id } = registration;
      const plain = { texts: {}, facts: {}, finances: periodsOf(valuesOf(row, money)) };
      const more = beside?.(row) ?? plain;
      const cells: Values = { ...valuesOf(row, texts), ...more.texts };
      const of = { name: String(cells["name"]), org_id };
      const values: Values = { ...valuesOf(row, facts, of), ...more.facts };
      const [, parent] = /^(.*-\d+)-\d+$/.exec(org_id) ?? [];
      const purposes = String(cells["purposes"]).toLowerCase();
      const isMarked = (code: string) => purposes.includes(code);
      return ukOutcome(
        {
          register: name,
          registration,
          finances: more.finances,
          texts: cells,
          state: isRemoved(row) ? "removed" : "registered",
          facts: { ...values, linked_to: parent ?? null },
          causesOf: (readable) => mapping.byPurposes(codes, readable, isMarked),
        },
        // A linked charity is no recipient of its own: gifts go to the charity whose number it has.
        parent === undefined && !isRemoved(row),
      );
    },
  };
}

/** A charity in a register of the United Kingdom, with texts as the register writes them. */
type UkCharity = {
  register: string;
  registration: RegisterNumber;
  state: "registered" | "removed";
  texts: Readonly<Partial<Values>>;
  facts: Values;
  finances?: StoredPeriod[];
  causesOf: (name: string) => CauseChoice;
};

/** A charity's profile; without one (for example a removed charity), only what the register says. */
export function ukOutcome(charity: UkCharity, hasProfile: boolean): RowOutcome {
  const { registration, state, finances = [] } = charity;
  const text = (name: string) => String(charity.texts[name] ?? "").trim();
  const { org_id } = registration;
  const raw = text("name").replace(insolvency, "");
  const postcode = text("postcode");
  const name = readableName(raw);
  if (name === "") return format.skip("withheld");
  const objects = missionOf(text("objects"), raw);
  const postal_code = postalCode("GB", postcode);
  const { income, spending, accounts_to = null } = charity.facts;
  const facts = format.saidOf({
    ...charity.facts,
    // The end of a year without reported figures is no end of accounts.
    accounts_to: (income ?? spending) == null ? null : accounts_to,
    objects,
    postal_code,
  });
  const record = { org_id, name, state, facts, finances };
  if (!hasProfile) return { kind: "record", record };
  const town = postTown(postcode, name);
  const fields = {
    country_code: "GB",
    region: regionOf(schemeOf(org_id), postcode),
    city: town?.city ?? townInsteadOfPostcode(postcode),
    website: format.websiteOf(text("website")),
    ...textsOf(text("activities"), text("objects"), raw),
  };
  const url = recordUrl(charity.register, org_id);
  const rules = town === null ? {} : { city: town.rule };
  return format.listed(record, registration, url, charity.causesOf(name), fields, rules);
}

/** The number of a row, with that of a linked charity; or what is wrong with it. */
export function ukNumber(scheme: string, row: Row, [main = "", part = ""]: readonly string[]) {
  const linkedNumber = Number(cell(row, part));
  const number = `${cell(row, main)}${linkedNumber === 0 ? "" : `-${linkedNumber}`}`;
  const orgId = readOrgId(`${scheme}-${number}`);
  return orgId.ok ? orgId.value : bad(`"${number.slice(0, 40)}" is no number of ${scheme}`);
}

const regions = new Map(Object.entries(uk.regions));

/** A register's region if the postcode lies in it or is missing: Scotland's register has charities in London. */
function regionOf(scheme: string, postcode: string): string | null {
  const region = regions.get(scheme);
  const isThere = new RegExp(region?.codes ?? "^$").test(postcode.toUpperCase());
  return isThere || !/\d/.test(postcode) ? (region?.name ?? null) : null;
}

/** The charity's own description is its mission; the objects of its deed are the longer text, or replace it. */
function textsOf(activities: string, objects: string, name: string) {
  const ownMission = missionOf(activities, name);
  const mission = ownMission ?? missionOf(objects, name);
  const longer = ownMission !== null && activities.length > 1_000 ? activities : objects;
  const description = format.descriptionOf(longer, name);
  const isInMission = lettersOf(mission ?? "").includes(lettersOf(description ?? ""));
  return { mission, description: isInMission ? null : description };
}

const itemsMax = 40;

/** Items separated by "; ", each once; null for none. */
export function itemsOf(items: readonly string[]): string | null {
  const uniqueItems = [...new Set(items.filter(Boolean))];
  const more = uniqueItems.length > itemsMax ? [`${uniqueItems.length - itemsMax} more`] : [];
  return [...uniqueItems.slice(0, itemsMax), ...more].join("; ") || null;
}

/** Other names of a charity, without those that may name a person. Initials stay capitals. */
export const otherNamesOfCharity = (names: readonly string[], name: string): string | null =>
  itemsOf(
    names.flatMap((line) => {
      const other = otherName(line.toUpperCase(), name.toUpperCase()) ?? [];
      return typeof other === "string" && /\p{Ll}/u.test(other) ? readableName(line) : other;
    }),
  );

/** OSCR appends it to a name. */
const insolvency = /(?<!\s)\s*\(?subject to insolvency proceedings\)?\W*/i;
const isYes = /^(?:true|yes|y)$/i;

type Reader = (text: string, of: { name: string; org_id: string }) => string | number | null;

const readers: Readonly<Record<string, Reader>> = {
  text: (text) => text,
  day: dayOf,
  // Northern Ireland writes 0 for a year that was not reported.
  amount: (text, { org_id }) =>
    amountOf(text) || !org_id.startsWith("GB-NIC") ? amountOf(text) : null,
  // 0 means unknown.
  count: (text) => amountOf(text) || null,
  yes: (text) => (isYes.test(text) ? "Y" : null),
  yes_or_no: (text) => (text === "" ? null : isYes.test(text) ? "Y" : "N"),
  // Items begin with a capital and may contain commas; some registers quote each.
  list: (text) => itemsOf(text.replaceAll(/^'|'$|(?<=\s)\s+/g, "").split(/'?,\s*'?(?=\p{Lu})/u)),
  company: (text, { org_id }) => companyNumber(text, org_id),
  other: (text, { name }) => otherNamesOfCharity([text], name),
  insolvent: (text) => (insolvency.test(text) ? "Y" : null),
  // Only the postcode is taken from an address.
  postcode: (text) => text.match(/\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b/gi)?.at(-1) ?? "",
  // CCNI has one column for its status and for that of the yearly return.
  reporting: (text) => (text.includes(":") ? text : null),
};

/** The text of a cell. Dashes, a postcode of zeros and the first day of 1902 or 1970 mean nothing. */
const textOf = (row: Row, column: string): string =>
  cell(row, column).replace(/^(?:[-, ]*|XX0 0XX|0?1\/0?1\/19(?:02|70)|1902-01-01.*)$/, "");

const columnOf = (rule: string): string => rule.slice(rule.indexOf(" ") + 1);

/** The values of a row by rules such as "day Registered Date". */
export const valuesOf = (row: Row, rules: Rules, of = { name: "", org_id: "" }): Values =>
  Object.fromEntries(
    Object.entries(rules).map(([name, rule]) => {
      const read = readers[rule.split(" ", 1)[0] ?? ""];
      return [name, read?.(textOf(row, columnOf(rule)), of) ?? null];
    }),
  );

/** The finances of a year; none without a figure. */
export function periodsOf({ received = null, ...values }: Values): StoredPeriod[] {
  const { period_end: ends, revenue, expenses } = values;
  if (ends == null || (revenue ?? expenses) == null) return [];
  const filed_at = received === null ? null : `${received}T00:00:00.000Z`;
  return [StoredPeriod.parse({ ...uk.period, ...values, filed_at })];
}

const { published, extract } = registerColumns.ukcat;

const ofUk = /^GB-(?:CHC|SC|NIC)$/;

/** The charity registers of the United Kingdom as UK Charity Activity Tags publishes them. */
export const ukcat: CsvFormat = {
  name: "ukcat",
  about: "Charities of the United Kingdom as published by UK Charity Activity Tags",
  lists: true,
  parts: {
    // Each of the three registers is a part.
    ofRow: (row) => schemeOf(cell(row, "org_id")),
    // A charity that was tagged twice has two rows.
    onceEach: false,
  },
  dates: ["date_registered", "date_removed", "fye"],
  columns: [[...published, "date_removed"], published, extract],
  read: (row, mapping) => {
    const number = readOrgId(cell(row, "org_id"));
    if (!number.ok || !ofUk.test(schemeOf(cell(row, "org_id"))))
      return bad(`org_id "${cell(row, "org_id")}" is no number of a charity register of the UK`);
    const codes = {
      ukcat: either(row, "UKCAT", "ukcat").split(";"),
      icnptso: either(row, "ICNPTSO", "icnptso"),
    };
    const isRemoved = cell(row, "active").toLowerCase() === "false";
    return ukOutcome(
      {
        register: "ukcat",
        registration: number.value,
        state: isRemoved ? "removed" : "registered",
        texts: { ...row, website: either(row, "web", "website") },
        facts: {
          ...valuesOf(row, uk.ukcat, { name: "", org_id: number.value.org_id }),
          regulator: schemeOf(number.value.org_id),
          tags: either(row, "UKCAT", "ukcat"),
          icnptso: codes.icnptso,
        },
        causesOf: (name) => mapping.british({ ...codes, name }),
      },
      !isRemoved,
    );
  },
};

const either = (row: Row, column: string, other: string): string =>
  cell(row, column) || cell(row, other);
