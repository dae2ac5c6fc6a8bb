import type { NonprofitSummary } from "#content/contract/nonprofit.ts";
import type { Say } from "#site/browser/texts.ts";

/** What is found of an organisation; `distance_km` where it was looked for near a place. */
export type RowItem = NonprofitSummary & { distance_km?: number | null | undefined };

/** Words of rows in one language: texts of the group "row", and the names of causes and income bands by their ids. */
export type RowWords = { text: Say; names: Readonly<Record<string, string>> };

/** "Food Banks · Honolulu, Hawaii · Income: 1 to 10 million · Registered · about 3 km": what is known of these. */
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

/** Numbers stay on one line. */
const unbroken = (text: string): string => text.replaceAll(" ", "\u00A0");

/** What registers say against an organisation: a mark beside its name. */
export const warningOf = ({ standing }: RowItem, { text }: RowWords): string | null =>
  standing !== null && warnings.has(standing) ? text(standing) : null;

const warnings: ReadonlySet<string> = new Set(["revoked", "removed", "gone"]);
