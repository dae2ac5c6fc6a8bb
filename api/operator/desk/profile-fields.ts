import type { ProfileValues } from "#content/contract/profile-change.ts";
import { countryName } from "#content/nonprofit/country.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { field } from "./layout.ts";
import type { Html } from "#api/http/html.ts";
import { type Form, linesOf } from "./read-form.ts";

/** A field of a profile as it is typed: empty for none; of a list each line is an entry. */
type Typed = {
  name: keyof ProfileValues;
  rows?: number;
  hint?: string;
  text: (record: NonprofitRecord) => string;
  value: (text: string) => unknown;
};

const column = (name: keyof ProfileValues & keyof NonprofitRecord) => (record: NonprofitRecord) =>
  String(record[name] ?? "");
const words = (text: string) => (text === "" ? null : text);
/** What is no number is refused by the shape of the body, which says so. */
const number = (text: string) => (text === "" ? null : Number(text.replaceAll(/[ ,_]/g, "")));

const texts = (
  [
    ["name"],
    ["tagline"],
    ["mission", 4],
    ["description", 8],
    ["region"],
    ["city"],
    ["website"],
    ["donation_url"],
    ["logo_url"],
    ["contact_email"],
  ] as const
).map(([name, rows]): Typed => ({
  name,
  ...(rows === undefined ? {} : { rows }),
  text: column(name),
  value: words,
}));
const numbers = (
  [
    "founded_year",
    "beneficiaries_per_year",
    "team_size",
    "annual_budget_usd",
    "ghd_aligned",
  ] as const
).map((name): Typed => ({ name, text: column(name), value: number }));

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

const typed: readonly Typed[] = [
  ...texts,
  { name: "country", text: (record) => countryName(record.country_code) ?? "", value: words },
  ...numbers,
  {
    name: "causes",
    rows: 3,
    hint: "ids, one per line, the primary one first",
    text: ({ causes }) => causes.join("\n"),
    value: linesOf,
  },
  {
    name: "programs",
    rows: 4,
    hint: "one per line: name | description | people a year | place",
    text: ({ programs }) =>
      programs.map((row) => lineOf(programNames.map((name) => row[name]))).join("\n"),
    value: (text) => rowsOf(text, programNames, "beneficiaries_per_year"),
  },
  {
    name: "impact_metrics",
    rows: 4,
    hint: "one per line: name | value | unit | period",
    text: ({ impact_metrics }) =>
      impact_metrics.map((row) => lineOf(metricNames.map((name) => row[name]))).join("\n"),
    value: (text) => rowsOf(text, metricNames),
  },
];

/** Where the name of a field does not say what it holds. */
const labels: Readonly<Partial<Record<keyof ProfileValues, string>>> = {
  donation_url: "donation page",
  logo_url: "logo, its address",
  contact_email: "contact e-mail, never public",
  beneficiaries_per_year: "people reached a year",
  team_size: "people in the team",
  annual_budget_usd: "annual budget in US$",
  ghd_aligned: "global health alignment, 1 or 0",
  programs: "programmes",
};

/** The fields of a profile that can be edited, as they are or as they were typed. */
export const profileFields = (record: NonprofitRecord, sent: Form | null): Html[] =>
  typed.map(({ name, rows, hint, text }) =>
    field({
      name: `value.${name}`,
      label: `${labels[name] ?? name.replaceAll("_", " ")}${hint === undefined ? "" : ` (${hint})`}`,
      value: sent?.has(`value.${name}`) === true ? sent.text(`value.${name}`) : text(record),
      lengthMax: 10_000,
      ...(rows === undefined ? {} : { rows }),
    }),
  );

/** What of it was changed, as the verb takes it. */
export function changedValues(record: NonprofitRecord, form: Form): Record<string, unknown> {
  const changed = typed.filter(({ name, text }) => {
    const given = form.has(`value.${name}`) ? form.text(`value.${name}`) : text(record);
    return given !== text(record).replaceAll(/\r\n?/g, "\n").trim();
  });
  return Object.fromEntries(
    changed.map(({ name, value }) => [name, value(form.text(`value.${name}`))]),
  );
}
