import { type WantedField, wantedFields } from "#content/contract/enrichment.ts";
import type { NonprofitRecord } from "./record.ts";
import { countingRecords } from "./register-facts.ts";
import { fold } from "./text.ts";

/** A nonprofit's place in one public list. Smaller values come first; ties are ordered by tie_key, then by id. */
export type Listing = { list: string; list_order: number; impact_order: number; tie_key: string };

/** Larger numbers of beneficiaries count as this many, so that the order stays a safe integer. */
const beneficiariesMax = 2 ** 50 - 2;
const nameKeyLengthMax = 48;

type ListingSource = Pick<
  NonprofitRecord,
  "status" | "verified" | "beneficiaries_per_year" | "name" | "causes" | "country_code"
> &
  Parameters<typeof thinFields>[0] &
  Parameters<typeof standingAmongEquals>[0];

/**
 * The lists that contain a nonprofit: `all`, its causes, its country, and `thin` while a wanted field is empty. A withdrawn
 * nonprofit is in none. Verified ones come first, then by impact; equals by completeness, size and name
 * (docs/decisions/21-lists.md).
 */
export function listingsOf(nonprofit: ListingSource): Listing[] {
  if (nonprofit.status === "withdrawn") return [];
  const lists = ["all", ...nonprofit.causes.map((id) => `cause:${id}`)];
  if (nonprofit.country_code !== null) lists.push(`country:${nonprofit.country_code}`);
  if (thinFields(nonprofit).length > 0) lists.push("thin");
  // An unknown number of beneficiaries sorts after zero. Subtracting from 0 keeps -0 out of the store.
  const reach = Math.min((nonprofit.beneficiaries_per_year ?? -1) + 1, beneficiariesMax);
  const list_order = 0 - (nonprofit.verified * 2 ** 51 + reach);
  const impact_order = 0 - (reach * 2 + nonprofit.verified);
  const behind = String(standingMax - standingAmongEquals(nonprofit)).padStart(standingDigits, "0");
  const tie_key = behind + fold(nonprofit.name).slice(0, nameKeyLengthMax);
  return lists.map((list) => ({ list, list_order, impact_order, tie_key }));
}

/** Completeness in the upper three bits and size in the lower fifteen, written in six digits at the start of `tie_key`. */
const standingMax = 2 ** 18 - 1;
export const standingDigits = 6;

const standingAmongEquals = (nonprofit: CompletenessSource & RecordSource): number =>
  completenessOf(nonprofit) * 2 ** 15 + sizeOf(incomeOf(nonprofit));

type CompletenessSource = Pick<
  NonprofitRecord,
  | "causes"
  | "website"
  | "tagline"
  | "mission"
  | "description"
  | "programs"
  | "impact_metrics"
  | "donation_url"
  | "usdc_wallet"
>;
type RecordSource = Pick<NonprofitRecord, "register_records">;

/**
 * How complete a profile is, 0 to 5: a cause, a website, a text about its work, programmes or results, a way to give. Places
 * and years do not count, because registers have them for everyone; and each counted field moves a profile that gains it.
 */
export const completenessOf = (nonprofit: CompletenessSource): number =>
  [
    nonprofit.causes.length > 0,
    isFilled(nonprofit.website),
    [nonprofit.tagline, nonprofit.mission, nonprofit.description].some(isFilled),
    nonprofit.programs.length + nonprofit.impact_metrics.length > 0,
    [nonprofit.donation_url, nonprofit.usdc_wallet].some(isFilled),
  ].filter(Boolean).length;

const isFilled = (text: string | null): boolean => text !== null && text !== "";

/**
 * The greatest yearly income in any register, in that register's currency; null when no register has one. The IRS's gross
 * income, with the costs of what was sold, counts only without a revenue.
 */
export function incomeOf({ register_records }: RecordSource): number | null {
  const incomes = countingRecords(register_records).flatMap(
    ({ facts }) =>
      [facts["revenue"], facts["income"]].find((fact) => typeof fact === "number") ?? [],
  );
  return incomes.length === 0 ? null : Math.max(...incomes);
}

const sizeMax = 2 ** 15 - 1;
const stepsPerDecade = 2_000;

/** The order of magnitude of an income, so that currencies compare well enough: 0 unknown, 1 none, at most `sizeMax`. */
const sizeOf = (income: number | null): number =>
  income === null
    ? 0
    : Math.min(sizeMax, 1 + Math.ceil(stepsPerDecade * Math.log10(1 + Math.max(0, income))));

/**
 * The rank in a row id of the search index; smaller comes first. Its upper bits are the impact, the lower twelve the rank
 * among equals. The view search_places computes the same in SQL.
 */
export function searchRank({ impact_order, tie_key }: Omit<Listing, "list">): number {
  const impact = -impact_order;
  const octal = Math.floor(impact / 2).toString(8);
  const coarse = 2 * (8 * octal.length + Number(octal[0])) + (impact % 2);
  return (511 - coarse) * 2 ** 12 + Math.floor(Number(tie_key.slice(0, standingDigits)) / 64);
}

/** A profile with at least this many empty wanted fields is thin. */
export const thinFrom = 3;

/** The wanted fields that are empty. */
export const thinFields = (nonprofit: Pick<NonprofitRecord, WantedField>): WantedField[] =>
  wantedFields.filter((field) => nonprofit[field] === null || nonprofit[field] === "");
