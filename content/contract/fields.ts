/** The type of a field. Each layer has one table from types to what it does with them. */
export type FieldType =
  | "name"
  | "text"
  | "country"
  | "website"
  | "link"
  | "email"
  | "year"
  | "count"
  | "money"
  | "flag"
  | "causes"
  | "programmes"
  | "metrics";

type Field = {
  readonly type: FieldType;
  /** The label for operators, if the name is not clear enough. */
  readonly label?: string;
  /** The text in the API's description. */
  readonly about?: string;
  /** Lines in a form; default 1. */
  readonly lines?: number;
  /** Whether an accepted correction sets it. */
  readonly corrected?: true;
  /** Whether a merge fills it if the remaining profile lacks it. */
  readonly merged?: true;
  /** Whether a history shows its old and new value. */
  readonly traced?: true;
};

const everyWay = { corrected: true, merged: true, traced: true } as const;

/**
 * The fields of a profile that people set, by public name, in display order. Their types are in the shapes (nonprofit.ts
 * here, content/nonprofit/record.ts); this table says how they are used.
 */
export const fields = {
  name: { type: "name", corrected: true, traced: true },
  tagline: { type: "text", ...everyWay },
  mission: { type: "text", lines: 4, ...everyWay },
  description: { type: "text", lines: 8, ...everyWay },
  country: { type: "country", ...everyWay },
  region: { type: "text", ...everyWay },
  city: { type: "text", ...everyWay },
  website: { type: "website", ...everyWay },
  donation_url: {
    type: "link",
    label: "donation page",
    about: "The organisation's own donation page",
    ...everyWay,
  },
  logo_url: { type: "link", label: "logo, its address", corrected: true, merged: true },
  contact_email: { type: "email", label: "contact e-mail, never public", traced: true },
  founded_year: { type: "year", ...everyWay },
  beneficiaries_per_year: { type: "count", label: "people reached a year", ...everyWay },
  team_size: { type: "count", label: "people in the team", ...everyWay },
  annual_budget_usd: { type: "money", label: "annual budget in US$", ...everyWay },
  ghd_aligned: { type: "flag", label: "global health alignment, 1 or 0" },
  causes: { type: "causes", corrected: true },
  programs: { type: "programmes", label: "programmes" },
  impact_metrics: { type: "metrics" },
} as const satisfies Readonly<Record<string, Field>>;

export type FieldName = keyof typeof fields;

type FieldWhere<Use extends "corrected" | "merged" | "traced"> = {
  [Name in FieldName]: (typeof fields)[Name] extends Record<Use, true> ? Name : never;
}[FieldName];

/** All fields with their properties, in order. */
export const fieldEntries = Object.entries<Field>(fields) as readonly (readonly [
  FieldName,
  Field,
])[];

/** The names of the fields with this use, in order. */
export const fieldsWhere = <Use extends "corrected" | "merged" | "traced">(
  use: Use,
): readonly FieldWhere<Use>[] =>
  fieldEntries.flatMap(([name, field]) => (field[use] === true ? [name as FieldWhere<Use>] : []));
