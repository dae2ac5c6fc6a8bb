import type { NonprofitRecord } from "./record.ts";

/** The seven fields that needs-enrichment knows, in the order it reports them. Source: spec, "Enrichment". */
export const wantedFields = [
  "description",
  "website",
  "city",
  "region",
  "mission",
  "founded_year",
  "contact_email",
] as const;
export type WantedField = (typeof wantedFields)[number];

/** A profile with this many empty wanted fields is thin. Source: spec, "Ranking weights". */
export const thinFrom = 3;

/** Which of the wanted fields are empty. */
export const thinFields = (nonprofit: Pick<NonprofitRecord, WantedField>): WantedField[] =>
  wantedFields.filter((field) => nonprofit[field] === null || nonprofit[field] === "");
