import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import type { NonprofitRecord } from "./record.ts";
import { fold } from "./text.ts";

/** A point on the globe, in degrees. */
export type Point = { lat: number; lon: number };

/** A postal code or a town. `codes` is the number of nearby postal codes with its name; `point` is the first one's. */
export type PostalPlace = {
  name: string;
  /** State or county; "" if there is none. */
  region: string;
  country_code: string;
  point: Point;
  codes: number;
  /** The counties and islands that contain it, under all their common names, separated by semicolons. */
  areas: string;
};

/** The part of a postal code that the table has, by country: a ZIP's five digits, a British postcode's first half. */
const codeForms = new Map([
  ["US", /^(\d{5})(?:\d{4})?$/],
  ["GB", /^([A-Z]{1,2}\d[A-Z\d]?)(?:\d[A-Z]{2})?$/],
  ["CA", /^([A-Z]\d[A-Z])(?:\d[A-Z]\d)?$/],
  ["AU", /^(\d{4})$/],
  ["NZ", /^(\d{4})$/],
  ["IE", /^([AC-FHKNPRTV-Y]\d[\dW])(?:[A-Z\d]{4})?$/],
]);

/** The part of a postal code that is stored: "02903" of "02903-1234", "EH1" of "EH1 1AA". Null for an invalid code. */
export const postalCode = (country: string, text: string): string | null =>
  codeForms.get(country)?.exec(text.toUpperCase().replaceAll(/[\s-]/g, ""))?.[1] ?? null;

/** The known codes that a text may be: several if it is a code in several countries. */
export const codesIn = (text: string): PostalPlace[] =>
  [...codeForms.keys()].flatMap((country) => codeIn(country, text) ?? []);

/** A code that the table lacks is replaced by the first with the same beginning: 029 for 02999, EC1 for EC1Z. */
function codeIn(country: string, text: string): PostalPlace | null {
  const name = postalCode(country, text);
  if (name === null) return null;
  const stem = name.replace(country === "US" ? /..$/ : /(?<=\d)[A-Z]$/, "");
  const { codes } = table();
  const alike = [`${name}\t`, stem].flatMap((begun) => linesFrom(codes, `${country} ${begun}`));
  if (alike[0] === undefined) return null;
  const place = placeOf(alike[0], name);
  // A code with the same beginning may be in another county.
  return alike[0].startsWith(`${country} ${name}\t`) ? place : { ...place, areas: "" };
}

/** The towns with a name, in any letter case. */
export const townsNamed = (name: string): PostalPlace[] => {
  const { codes, towns } = table();
  const folded = fold(name.replaceAll(/['’.]/g, ""));
  return linesFrom(towns, `${folded}\t`).flatMap((line) => {
    const [, first, count] = line.split("\t");
    const spelled = writtenName(line);
    return linesFrom(codes, `${first}\t`).map((code) => placeOf(code, spelled, Number(count)));
  });
};

function writtenName(line: string): string {
  const [folded = "", , , written] = line.split("\t");
  return written || folded.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

const likeTownsMax = 5_000;

/** The towns whose names have the first two letters of a name in common with it. */
export const townsLike = (name: string): string[] =>
  linesFrom(table().towns, fold(name).slice(0, 2), likeTownsMax).map((line) => writtenName(line));

/** The location of a nonprofit: the postal code from a register, else its town. Null when unknown. */
export function postalPlaceOf(record: NonprofitRecord): PostalPlace | null {
  for (const { org_id, facts } of record.register_records) {
    const place = codeIn(org_id.slice(0, 2), String(facts["postal_code"]));
    if (place !== null) return place;
  }
  const { city, region, country_code } = record;
  // The table, which takes a tenth of a second to read, has no other towns.
  if (!city || !codeForms.has(country_code ?? "")) return null;
  const towns = townsNamed(city).filter((town) => town.country_code === country_code);
  const inRegion = towns.filter((town) => fold(town.region) === fold(region ?? ""));
  const [town, next] = (inRegion.length > 0 ? inRegion : towns).sort((a, b) => b.codes - a.codes);
  // Of two towns of similar size it may be either.
  return town && town.codes >= 2 * (next?.codes ?? 0) ? town : null;
}

/** The spelling of a county or island by its folded name without apostrophes; undefined if there is none. */
export const areaNamed = (name: string): string | undefined => table().areas().get(name);

const kmPerDegree = 111.2;

/** Approximate: treats the globe as flat over such distances. */
export function distanceKm(a: Point, b: Point): number {
  const shrunk = Math.cos(((a.lat + b.lat) / 2 / 180) * Math.PI);
  return kmPerDegree * Math.hypot(a.lat - b.lat, (a.lon - b.lon) * shrunk);
}

/** How often the globe is halved: the cells measure about 40 metres. */
const cellLength = 20;

/** A cell of the globe, with one digit for each time it was cut in four: nearby points share a prefix. */
export const cellOf = ({ lat, lon }: Point): string =>
  Array.from({ length: cellLength }, (_, at) => {
    const halvings = 2 ** (at + 1);
    const row = ((lat + 90) / 180) * halvings;
    const column = ((lon + 180) / 360) * halvings;
    return (Math.floor(row) % 2) * 2 + (Math.floor(column) % 2);
  }).join("");

/**
 * The cells of the table's points within a distance, each with its distance, nearest first; and the prefixes that cover them
 * and no other point.
 */
export function cellsWithin(from: Point, withinKm: number) {
  const near: { cell: string; km: number }[] = [];
  const begun = new Set<string>();
  const { cells, lats, points } = table().grid();
  const run: string[] = [];
  const latMax = withinKm / kmPerDegree;
  for (let at = 0; at <= cells.length; at++) {
    // Most points are far away: this cheap test is all they cost.
    const isFar = !(Math.abs((lats[at] ?? Number.NaN) - from.lat) <= latMax);
    if (isFar && run.length === 0) continue;
    const [cell = "", point = from] = [cells[at], points[at]];
    const km = isFar ? Number.POSITIVE_INFINITY : distanceKm(from, point);
    if (km <= withinKm) {
      near.push({ cell, km });
      run.push(cell);
      continue;
    }
    const before = cells[at - run.length - 1] ?? "";
    for (const code of run.splice(0))
      begun.add(code.slice(0, 1 + Math.max(sharedLength(code, before), sharedLength(code, cell))));
  }
  return { near: near.sort((a, b) => a.km - b.km), begun: [...begun] };
}

/** The length of the common prefix of two cells. */
function sharedLength(cell: string, other: string): number {
  let at = 0;
  while (at < cell.length && cell[at] === other[at]) at++;
  return at;
}

type Lines = readonly string[];
type Grid = { cells: Lines; lats: Float64Array; points: readonly Point[] };
type Table = {
  codes: Lines;
  towns: Lines;
  areas: () => ReadonlyMap<string, string>;
  grid: () => Grid;
};
let read: Table | null = null;

/** The table that content/editorial/postal-points.md describes; read on first use. */
function table(): Table {
  if (read !== null) return read;
  const file = join(import.meta.dirname, "../editorial/postal-points.tsv.br");
  const text = brotliDecompressSync(readFileSync(file)).toString("latin1").trim();
  const [codes = [], towns = []] = text.split("\n\n").map((part) => part.split("\n"));
  let areas: ReadonlyMap<string, string> | null = null;
  let grid: Grid | null = null;
  return (read = {
    codes,
    towns,
    areas: () => (areas ??= areasOf(codes)),
    grid: () => (grid ??= gridOf(codes)),
  });
}

function areasOf(codes: Lines): ReadonlyMap<string, string> {
  const names = new Set(codes.flatMap((line) => line.split("\t")[4]?.split(";") ?? []));
  return new Map([...names].map((name) => [fold(name.replaceAll(/['’.]/g, "")), name]));
}

function gridOf(codes: Lines): Grid {
  const rows = codes
    .map((line) => placeOf(line, "").point)
    .map((point) => ({ cell: cellOf(point), point }));
  rows.sort((a, b) => (a.cell < b.cell ? -1 : 1));
  const points = rows.map(({ point }) => point);
  return {
    cells: rows.map(({ cell }) => cell),
    lats: Float64Array.from(points, ({ lat }) => lat),
    points,
  };
}

const linesMax = 200;

/** The lines with this prefix, found by binary search. */
function linesFrom(lines: Lines, begun: string, max = linesMax): Lines {
  let from = 0;
  let to = lines.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((lines[middle] ?? "") < begun) from = middle + 1;
    else to = middle;
  }
  return lines.slice(from, from + max).filter((line) => line.startsWith(begun));
}

function placeOf(line: string, name: string, codes = 1): PostalPlace {
  const [key = "", lat, lon, region = "", areas = ""] = line.split("\t");
  const point = { lat: Number(lat) / 1_000, lon: Number(lon) / 1_000 };
  return { name, region, country_code: key.slice(0, 2), point, codes, areas };
}
