import { fieldEntries, type FieldName, type FieldType } from "#content/contract/fields.ts";
import { countryName } from "#content/nonprofit/country.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { field } from "./layout.ts";
import type { Html } from "#api/http/html.ts";
import { type Form, linesOf } from "./read-form.ts";

/** How a field is typed: empty for none; of a list each line is an entry. */
type Typed = {
  lines?: number;
  hint?: string;
  text: (record: NonprofitRecord, name: FieldName) => string;
  value: (text: string) => unknown;
};

const words = (text: string) => (text === "" ? null : text);
/** What is no number is refused by the shape of the body, which says so. */
const number = (text: string) => (text === "" ? null : Number(text.replaceAll(/[ ,_]/g, "")));

const column = (record: NonprofitRecord, name: FieldName) =>
  String(record[name as keyof NonprofitRecord] ?? "");
const asWords: Typed = { text: column, value: words };
const asNumber: Typed = { text: column, value: number };

/** Members of a row in one line, with bars between. */
const lineOf = (members: readonly unknown[]): string =>
  members
    .map((member) => String(member ?? "").replaceAll(/\s+/g, " "))
    .join(" | ")
    .replace(/(?: \| )+$/, "");
const rowsOf = (text: string, names: readonly string[], numeric = ""): object[] =>
  linesOf(text).map((line) => {
    const parts = line.split("|").map((part) => words(part.trim()));
    return Object.fromEntries(
      names.map((name, at) => [
        name,
        name === numeric ? number(parts[at] ?? "") : (parts[at] ?? null),
      ]),
    );
  });
const programNames = ["name", "description", "beneficiaries_per_year", "location"] as const;
const metricNames = ["name", "value", "unit", "period"] as const;

const typedBy: Readonly<Record<FieldType, Typed>> = {
  name: asWords,
  text: asWords,
  country: { text: (record) => countryName(record.country_code) ?? "", value: words },
  website: asWords,
  link: asWords,
  email: asWords,
  year: asNumber,
  count: asNumber,
  money: asNumber,
  flag: asNumber,
  causes: {
    lines: 3,
    hint: "ids, one per line, the primary one first",
    text: ({ causes }) => causes.join("\n"),
    value: linesOf,
  },
  programmes: {
    lines: 4,
    hint: "one per line: name | description | people a year | place",
    text: ({ programs }) =>
      programs.map((row) => lineOf(programNames.map((name) => row[name]))).join("\n"),
    value: (text) => rowsOf(text, programNames, "beneficiaries_per_year"),
  },
  metrics: {
    lines: 4,
    hint: "one per line: name | value | unit | period",
    text: ({ impact_metrics }) =>
      impact_metrics.map((row) => lineOf(metricNames.map((name) => row[name]))).join("\n"),
    value: (text) => rowsOf(text, metricNames),
  },
};

/** The fields of a profile that can be edited, as they are or as they were typed. */
export const profileFields = (record: NonprofitRecord, sent: Form | null): Html[] =>
  fieldEntries.map(([name, { type, label = name.replaceAll("_", " "), lines: own }]) => {
    const { hint, text, lines = own } = typedBy[type];
    const typed = sent?.has(`value.${name}`) === true;
    return field({
      name: `value.${name}`,
      label: hint === undefined ? label : `${label} (${hint})`,
      value: typed ? sent.text(`value.${name}`) : text(record, name),
      lengthMax: 10_000,
      ...(lines === undefined ? {} : { rows: lines }),
    });
  });

/** What of it was changed, as the verb takes it. */
export const changedValues = (record: NonprofitRecord, form: Form): Record<string, unknown> =>
  Object.fromEntries(
    fieldEntries.flatMap(([name, { type }]) => {
      const { text, value } = typedBy[type];
      const held = text(record, name);
      const given = form.has(`value.${name}`) ? form.text(`value.${name}`) : held;
      const isSame = given === held.replaceAll(/\r\n?/g, "\n").trim();
      return isSame ? [] : [[name, value(form.text(`value.${name}`))]];
    }),
  );
