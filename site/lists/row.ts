import type { NonprofitSummary } from "#content/contract/nonprofit.ts";
import { clipped, joined, placesInLine } from "#site/parts/words.ts";

/** What is found of an organisation; `distance_km` where it was looked for near a place. */
export type RowItem = NonprofitSummary & { distance_km?: number | null };

/** Words of rows in one language: texts of the group "row", and what causes and income bands are called, by their ids. */
export type RowWords = {
  text: (name: string, values?: Record<string, string | number>) => string;
  names: Readonly<Record<string, string>>;
};

/** "Food bank · Honolulu, Hawaii · Income: 1 to 10 million · Registered · about 3 km": what is known of these. */
export function rowNote(item: RowItem, { text, names }: RowWords): string {
  const { distance_km: km = null, beneficiaries_per_year: count, standing } = item;
  const places = [item.city, item.region, item.country];
  const band = names[item.income_band];
  const facts = [
    names[item.causes[0] ?? ""],
    placesInLine(places.map((place) => clipped(place ?? "", placeMax))),
    count && text("reach", { count }),
    band && text("income", { band }),
    standing && !isWarning(standing) && text(standing),
    km !== null && text("distance", { km: Math.max(1, Math.round(km)) }),
  ];
  return joined(
    facts.map((fact) => fact || null),
    " · ",
  );
}

const placeMax = 60;

/** What registers say against an organisation is a mark beside its name. */
export const isWarning = (standing: RowItem["standing"]): boolean =>
  standing === "revoked" || standing === "removed" || standing === "gone";
