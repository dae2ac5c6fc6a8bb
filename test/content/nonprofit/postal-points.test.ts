import { expect, test } from "bun:test";
import {
  areaNamed,
  cellOf,
  cellsWithin,
  codesIn,
  distanceKm,
  postalPlaceOf,
  postalCode,
  townsNamed,
} from "#content/nonprofit/postal-points.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { aNonprofit, aRegisterRecord } from "#test/support/records.ts";

test.each([
  ["US", "02903-1234", "02903"],
  ["US", "029031234", "02903"],
  ["GB", "EH1 1AA", "EH1"],
  ["GB", "ec1y2bj", "EC1Y"],
  ["GB", "EH11", "EH11"],
  ["CA", "K1A 0B1", "K1A"],
  ["AU", "0801", "0801"],
  ["IE", "D02 X285", "D02"],
  ["GB", "Swindon", null],
  ["US", "0290", null],
  ["KE", "00100", null],
])("of the postal code of %s, %p, only %p is stored", (country, text, stored) => {
  expect(postalCode(country, text)).toBe(stored);
  if (stored !== null) expect(postalCode(country, stored)).toBe(stored);
});

test.each([
  ["02903", ["US Rhode Island"]],
  ["EH1 1AA", ["GB City of Edinburgh"]],
  ["W12", ["GB Greater London", "IE Leinster"]],
  // Newer than the table: the codes that begin alike, the code without its letter.
  ["02999", ["US Rhode Island"]],
  ["EC1Z", ["GB Greater London"]],
  ["ZZ99", []],
  ["00000", []],
])("%p is a code in %p", (text, where) => {
  expect(codesIn(text).map((place) => `${place.country_code} ${place.region}`)).toEqual(where);
});

test("codes far apart that bear one name are different towns", () => {
  const counts = new Map(townsNamed("portland").map(({ region, codes }) => [region, codes]));
  expect(counts.get("Oregon")).toBeGreaterThan(20);
  expect(counts.get("Maine")).toBeGreaterThan(5);
  expect(townsNamed("St. Louis").map(({ region }) => region)).toContain("Missouri");
  expect(townsNamed("Chester le Street").map(({ name }) => name)).toContain("Chester-le-Street");
  expect(townsNamed("(.*)+$")).toEqual([]);
});

const pointsOf = (codes: readonly string[]) =>
  codes.flatMap((code) => codesIn(code)[0]?.point ?? []);

test("what is around a place is within the distance, the nearest first, and told from all else by beginnings", () => {
  const [leeds = { lat: 0, lon: 0 }] = pointsOf(["LS1"]);
  const { near, begun } = cellsWithin(leeds, 15);
  expect(near.map(({ km }) => km)).toEqual(near.map(({ km }) => km).toSorted((a, b) => a - b));
  expect(near[0]).toEqual({ cell: cellOf(leeds), km: 0 });
  expect(begun.length).toBeLessThan(near.length / 2);
  // Wakefield is about 14 km away, York 36.
  for (const [code, km] of [
    ["WF1", 14],
    ["YO1", 36],
    ["02903", 5_000],
  ] as const) {
    const [point = leeds] = pointsOf([code]);
    if (km < 100) expect(Math.abs(distanceKm(leeds, point) - km)).toBeLessThan(2);
    expect(begun.some((cell) => cellOf(point).startsWith(cell))).toBe(km <= 15);
    expect(near.some(({ cell }) => cell === cellOf(point))).toBe(km <= 15);
  }
});

const row = (org_id: string, postal_code: string): Partial<NonprofitRecord> => ({
  register_records: [aRegisterRecord({ org_id, facts: { postal_code } })],
});

test.each<[string, Partial<NonprofitRecord>, number | null]>([
  ["its register's code", { ...row("US-EIN-050258809", "02903"), city: "Boston" }, 41.818],
  ["its town without one", { city: "Leeds", country_code: "GB" }, 53.8],
  ["its town in its region", { city: "Portland", region: "Maine", country_code: "US" }, 43.66],
  ["no town that may be either of two", { city: "Springfield", country_code: "US" }, null],
  ["no town of another country", { city: "Leeds", country_code: "KE" }, null],
])("a nonprofit is at %s", (_, parts, lat) => {
  const point = postalPlaceOf(aNonprofit(parts))?.point ?? null;
  if (lat === null) expect(point).toBeNull();
  else expect(point?.lat).toBeCloseTo(lat, 1);
});

test.each([
  ["US-EIN-050258809", "02903", ["Providence County"]],
  ["US-EIN-990220699", "96753", ["Maui County", "Maui"]],
  ["US-EIN-990220699", "96748", ["Maui County", "Molokai"]],
  ["US-EIN-720408915", "70112", ["Orleans Parish"]],
  // An independent city is in no county, and a code that is newer than the table may be in any.
  ["US-EIN-540505914", "22301", []],
  ["US-EIN-050258809", "02999", []],
  ["GB-CHC-210183", "CT1", ["Kent", "England"]],
  ["GB-CHC-210183", "DH1", ["County Durham", "Durham", "England"]],
  ["GB-CHC-210183", "EH1", ["Scotland"]],
])("%s with the code %s is in %p", (org_id, code, areas) => {
  expect(postalPlaceOf(aNonprofit(row(org_id, code)))?.areas).toBe(areas.join(";"));
  for (const area of areas) expect(areaNamed(area.toLowerCase())).toBe(area);
});
