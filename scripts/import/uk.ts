import { StoredPeriod } from "#content/contract/nonprofit.ts";
import registerColumns from "#content/editorial/register-columns.json";
import uk from "#content/editorial/uk-registers.json";
import { postalCode } from "#content/nonprofit/postal-points.ts";
import { recordUrl } from "#content/nonprofit/register-facts.ts";
import type { CauseChoice } from "#content/register/cause-mapping.ts";
import { otherName, readableName } from "#content/register/names.ts";
import { readOrgId, type RegisterNumber, schemeOf } from "#content/register/org-id.ts";
import { postTown, townInsteadOfPostcode } from "#content/register/places.ts";
import { companyNumber } from "#content/register/same-organisation.ts";
import type { RowOutcome } from "#content/register/stage-rows.ts";
import * as format from "./format.ts";
import { amountOf, bad, cell, type CsvFormat, dayOf, missionOf, type Row } from "./format.ts";

/** Readers and columns: "day Registered Date". Source of all rules: content/editorial/uk-registers.json. */
type Rules = Readonly<Record<string, string>>;
type Values = Record<string, string | number | null>;

/** What the other tables of a register say of a charity. `texts` has its codes of purposes, too. */
export type Beside = { texts: Rules; facts: Values; finances: StoredPeriod[] };

/** A charity register of the United Kingdom that is read whole. */
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
      fits: new RegExp(`^(?:${scheme}|former)$`),
      ofProfile: () => scheme,
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
      // The end of a year of which nothing was reported yet is none of accounts.
      if ((values["income"] ?? values["spending"]) == null) values["accounts_to"] = null;
      const [, parent] = /^(.*-\d+)-\d+$/.exec(org_id) ?? [];
      const purposes = String(cells["purposes"]).toLowerCase();
      const isMarked = (code: string) => purposes.includes(code);
      return ukOutcome(
        {
          ...{ register: name, registration, finances: more.finances, texts: cells },
          state: isRemoved(row) ? "removed" : "registered",
          facts: { ...values, linked_to: parent ?? null },
          causesOf: (readable) => mapping.byPurposes(codes, readable, isMarked),
        },
        // A linked charity is no donee of its own: what is given goes to the one whose number it has.
        parent === undefined && !isRemoved(row),
      );
    },
  };
}

/** What a charity register of the United Kingdom says of a charity, texts as it writes them. */
type UkCharity = {
  register: string;
  registration: RegisterNumber;
  state: "registered" | "removed";
  texts: Readonly<Partial<Values>>;
  facts: Values;
  finances?: StoredPeriod[];
  causesOf: (name: string) => CauseChoice;
};

/** A charity's profile; of one that gets none, because it was removed for example, only what the register says. */
export function ukOutcome(charity: UkCharity, hasProfile: boolean): RowOutcome {
  const { registration, state, finances = [] } = charity;
  const text = (name: string) => String(charity.texts[name] ?? "").trim();
  const { org_id } = registration;
  const [raw, postcode] = [text("name"), text("postcode")];
  const name = readableName(raw);
  if (name === "") return format.skip("withheld");
  const objects = missionOf(text("objects"), raw);
  const postal_code = postalCode("GB", postcode);
  const facts = format.saidOf({ ...charity.facts, objects, postal_code });
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

/** The number of a row and of a charity that is linked to it, or what is wrong with them. */
export function ukNumber(scheme: string, row: Row, [main = "", part = ""]: readonly string[]) {
  const linkedNumber = Number(cell(row, part));
  const number = `${cell(row, main)}${linkedNumber === 0 ? "" : `-${linkedNumber}`}`;
  const orgId = readOrgId(`${scheme}-${number}`);
  return orgId.ok ? orgId.value : bad(`"${number.slice(0, 40)}" is no number of ${scheme}`);
}

const regions = new Map(Object.entries(uk.regions));

/** The region of a register, where the postcode lies in it or none is there: Scotland's register has charities of London. */
function regionOf(scheme: string, postcode: string): string | null {
  const region = regions.get(scheme);
  const isThere = new RegExp(region?.codes ?? "^$").test(postcode.toUpperCase());
  return isThere || !/\d/.test(postcode) ? (region?.name ?? null) : null;
}

/** What the charity says it does is its mission; the objects of its deed are the longer text, or stand in for it. */
function textsOf(activities: string, objects: string, name: string) {
  const ownMission = missionOf(activities, name);
  const mission = ownMission ?? missionOf(objects, name);
  const longer = ownMission !== null && activities.length > 1_000 ? activities : objects;
  const description = format.descriptionOf(longer, name);
  const isSame = description?.toLowerCase() === mission?.toLowerCase();
  return { mission, description: isSame ? null : description };
}

const itemsMax = 40;

/** Items with "; " between, each once; null for none. */
export function itemsOf(items: readonly string[]): string | null {
  const uniqueItems = [...new Set(items.filter(Boolean))];
  const more = uniqueItems.length > itemsMax ? [`${uniqueItems.length - itemsMax} more`] : [];
  return [...uniqueItems.slice(0, itemsMax), ...more].join("; ") || null;
}

/** Other names of a charity, without those that may name a person. Initials stay capitals. */
export const otherNames = (names: readonly string[], name: string): string | null =>
  itemsOf(
    names.flatMap((line) => {
      const other = otherName(line.toUpperCase(), name.toUpperCase()) ?? [];
      return typeof other === "string" && /\p{Ll}/u.test(other) ? readableName(line) : other;
    }),
  );

const insolvency = /\s*\(?subject to insolvency proceedings\)?\W*/i;
const isYes = /^(?:true|yes|y)$/i;

type Reader = (text: string, of: { name: string; org_id: string }) => string | number | null;

const readers: Readonly<Record<string, Reader>> = {
  text: (text) => text,
  day: dayOf,
  amount: amountOf,
  // 0 stands for what is not known.
  count: (text) => amountOf(text) || null,
  yes: (text) => (isYes.test(text) ? "Y" : null),
  yes_or_no: (text) => (text === "" ? null : isYes.test(text) ? "Y" : "N"),
  // Items begin with a capital and may hold commas; some registers quote each.
  list: (text) => itemsOf(text.replaceAll(/^'|'$/g, "").split(/'?,\s*'?(?=\p{Lu})/u)),
  company: (text, { org_id }) => companyNumber(text, org_id),
  other: (text, { name }) => otherNames([text], name),
  // OSCR writes it behind a name.
  name: (text) => text.replace(insolvency, ""),
  insolvent: (text) => (insolvency.test(text) ? "Y" : null),
  // Of an address, too, nothing else is taken.
  postcode: (text) => text.match(/\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b/gi)?.at(-1) ?? "",
  // CCNI has one column for its status and for that of the yearly return.
  reporting: (text) => (text.includes(":") ? text : null),
};

/** What a cell says: dashes, zeros of a postcode and the first day of 1970 say nothing. */
const textOf = (row: Row, column: string): string =>
  cell(row, column).replace(/^(?:[-, ]*|XX0 0XX|0?1\/0?1\/1970)$/, "");

const columnOf = (rule: string): string => rule.slice(rule.indexOf(" ") + 1);

/** The values of a row by rules such as "day Registered Date". */
export const valuesOf = (row: Row, rules: Rules, of = { name: "", org_id: "" }): Values =>
  Object.fromEntries(
    Object.entries(rules).map(([name, rule]) => {
      const read = readers[rule.split(" ", 1)[0] ?? ""];
      return [name, read?.(textOf(row, columnOf(rule)), of) ?? null];
    }),
  );

/** The money of a year; none without a figure. */
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
    fits: ofUk,
    ofProfile: ({ org_ids }) => org_ids.map(schemeOf).find((scheme) => ofUk.test(scheme)) ?? null,
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
        ...{ register: "ukcat", registration: number.value },
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
