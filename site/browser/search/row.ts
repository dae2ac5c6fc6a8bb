import type { NonprofitSummary } from "#content/contract/nonprofit.ts";
import type { Say } from "#site/browser/texts.ts";

/** A search result; `distance_km` in a search near a place. */
export type RowItem = NonprofitSummary & { distance_km?: number | null | undefined };

/** The words of rows in one language: texts of the group "row", and names of causes and income bands by id. */
export type RowWords = { text: Say; names: Readonly<Record<string, string>> };

/** "Food Banks · Honolulu, Hawaii · Income: 1 to 10 million · Registered · about 3 km", without what is unknown. */
export function rowNote(item: RowItem, place: string, { text, names }: RowWords): string {
  const { distance_km: km = null, beneficiaries_per_year: count, standing } = item;
  const band = names[item.income_band];
  const facts = [
    item.category ?? names[item.causes[0] ?? ""],
    place,
    count && text("reach", { count }),
    band && unbroken(text("income", { band })),
    standing && !warnings.has(standing) && text(standing),
    km !== null && unbroken(text("distance", { km: Math.max(1, Math.round(km)) })),
  ];
  return facts.filter(Boolean).join("\u00A0· ");
}

/** Keeps a text with numbers on one line. */
const unbroken = (text: string): string => text.replaceAll(" ", "\u00A0");

/** What registers say against an organisation, to mark beside its name; null for nothing. */
export const warningOf = ({ standing }: RowItem, { text }: RowWords): string | null =>
  standing !== null && warnings.has(standing) ? text(standing) : null;

const warnings: ReadonlySet<string> = new Set(["revoked", "removed", "gone"]);
