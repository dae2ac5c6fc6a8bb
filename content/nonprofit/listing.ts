import type { NonprofitRecord } from "./record.ts";
import { fold } from "./text.ts";

/** A nonprofit's place in one public list; smaller sorts first, ties fall to name_key, then to the id. */
export type Listing = { list: string; list_order: number; impact_order: number; name_key: string };

/** Beneficiaries above this count as this many, so that an order stays a safe integer. */
const beneficiariesMax = 2 ** 50 - 2;
const nameKeyLengthMax = 48;

type Listed = Pick<
  NonprofitRecord,
  "status" | "verified" | "beneficiaries_per_year" | "name" | "causes" | "country_code"
> &
  Parameters<typeof thinFields>[0];

/**
 * The lists a nonprofit stands in: `all`, its causes, its country, and `thin` while a wanted field is empty.
 * A withdrawn one stands in none. Verified first, then impact: source: spec, GET /api/nonprofits.
 */
export function listingsOf(nonprofit: Listed): Listing[] {
  if (nonprofit.status === "withdrawn") return [];
  const lists = ["all", ...nonprofit.causes.map((id) => `cause:${id}`)];
  if (nonprofit.country_code !== null) lists.push(`country:${nonprofit.country_code}`);
  if (thinFields(nonprofit).length > 0) lists.push("thin");
  // An unknown number of beneficiaries sorts behind zero. Zero minus zero keeps -0 out of the store.
  const reach = Math.min((nonprofit.beneficiaries_per_year ?? -1) + 1, beneficiariesMax);
  const list_order = 0 - (nonprofit.verified * 2 ** 51 + reach);
  const impact_order = 0 - (reach * 2 + nonprofit.verified);
  const name_key = fold(nonprofit.name).slice(0, nameKeyLengthMax);
  return lists.map((list) => ({ list, list_order, impact_order, name_key }));
}

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
