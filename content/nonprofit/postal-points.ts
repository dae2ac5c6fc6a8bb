import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import type { NonprofitRecord } from "./record.ts";
import { fold } from "./text.ts";

/** A place on the globe, in degrees. */
export type Point = { lat: number; lon: number };

/** A postal code, or a town: `codes` of its name near each other, and the point of the first. */
export type PostalPlace = {
  name: string;
  /** State, county or "". */
  region: string;
  country_code: string;
  point: Point;
  codes: number;
  /** The counties and islands that it is in, under every name that people use, between semicolons. */
  areas: string;
};

/** By country, the part of a code that the table knows: five digits of a ZIP code, the first half of a British postcode. */
const codeForms = new Map([
  ["US", /^(\d{5})(?:\d{4})?$/],
  ["GB", /^([A-Z]{1,2}\d[A-Z\d]?)(?:\d[A-Z]{2})?$/],
  ["CA", /^([A-Z]\d[A-Z])(?:\d[A-Z]\d)?$/],
  ["AU", /^(\d{4})$/],
  ["NZ", /^(\d{4})$/],
  ["IE", /^([AC-FHKNPRTV-Y]\d[\dW])(?:[A-Z\d]{4})?$/],
]);

/** What is stored of a postal code, and no more of it: "02903" of "02903-1234", "EH1" of "EH1 1AA". Null for what is none. */
export const postalCode = (country: string, text: string): string | null =>
  codeForms.get(country)?.exec(text.toUpperCase().replaceAll(/[\s-]/g, ""))?.[1] ?? null;

/** The known codes that a text may be: several where countries write them alike. */
export const codesIn = (text: string): PostalPlace[] =>
  [...codeForms.keys()].flatMap((country) => codeIn(country, text) ?? []);

/** For a code that the table lacks, the first that begins alike: 029 for 02999, EC1 for EC1Z. */
function codeIn(country: string, text: string): PostalPlace | null {
  const name = postalCode(country, text);
  if (name === null) return null;
  const stem = name.replace(country === "US" ? /..$/ : /(?<=\d)[A-Z]$/, "");
  const { codes } = table();
  const alike = [`${name}\t`, stem].flatMap((begun) => linesFrom(codes, `${country} ${begun}`));
  if (alike[0] === undefined) return null;
  const place = placeOf(alike[0], name);
  // What begins alike may be in another county.
  return alike[0].startsWith(`${country} ${name}\t`) ? place : { ...place, areas: "" };
}

/** The towns of a name, in any letter case. */
export const townsNamed = (name: string): PostalPlace[] => {
  const { codes, towns } = table();
  const folded = fold(name.replaceAll(/['’.]/g, ""));
  return linesFrom(towns, `${folded}\t`).flatMap((line) => {
    const [, first, count, written] = line.split("\t");
    const spelled = written || folded.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
    return linesFrom(codes, `${first}\t`).map((code) => placeOf(code, spelled, Number(count)));
  });
};

/** Where a nonprofit is: the postal code that a register gives, else its town. Null for not known. */
export function postalPlaceOf(record: NonprofitRecord): PostalPlace | null {
  for (const { org_id, facts } of record.register_records) {
    const place = codeIn(org_id.slice(0, 2), String(facts["postal_code"]));
    if (place !== null) return place;
  }
  const { city, region, country_code } = record;
  const towns = townsNamed(city ?? "").filter((town) => town.country_code === country_code);
  const inRegion = towns.filter((town) => fold(town.region) === fold(region ?? ""));
  const [town, next] = (inRegion.length > 0 ? inRegion : towns).sort((a, b) => b.codes - a.codes);
  // Of two towns that are alike in size it may be either.
  return town && town.codes >= 2 * (next?.codes ?? 0) ? town : null;
}

/** A county or an island as it is written, by its name folded and without apostrophes; undefined for what is none. */
export const areaNamed = (name: string): string | undefined => table().areas.get(name);

const kmPerDegree = 111.2;

/** About: the globe is flat over such distances. */
export function distanceKm(a: Point, b: Point): number {
  const shrunk = Math.cos(((a.lat + b.lat) / 2 / 180) * Math.PI);
  return kmPerDegree * Math.hypot(a.lat - b.lat, (a.lon - b.lon) * shrunk);
}

/** Halvings of the globe: cells of some 40 metres. */
const cellLength = 20;

/** A cell of the globe, a digit for each time that it was cut in four: what is near begins alike. */
export const cellOf = ({ lat, lon }: Point): string =>
  Array.from({ length: cellLength }, (_, at) => {
    const halvings = 2 ** (at + 1);
    const [row, column] = [((lat + 90) / 180) * halvings, ((lon + 180) / 360) * halvings];
    return (Math.floor(row) % 2) * 2 + (Math.floor(column) % 2);
  }).join("");

/**
 * The cells of the table's points within a distance: each with its distance, the nearest first, and all as the beginnings
 * that they have and no cell of another point.
 */
export function cellsWithin(from: Point, withinKm: number) {
  const near: { cell: string; km: number }[] = [];
  const begun = new Set<string>();
  const { cells, lats, points } = table().grid();
  const run: string[] = [];
  const latMax = withinKm / kmPerDegree;
  for (let at = 0; at <= cells.length; at++) {
    // Most are far: they cost nothing but this.
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

/** How many digits two cells begin with alike. */
function sharedLength(cell: string, other: string): number {
  let at = 0;
  while (at < cell.length && cell[at] === other[at]) at++;
  return at;
}

type Lines = readonly string[];
type Grid = { cells: Lines; lats: Float64Array; points: readonly Point[] };
type Table = { codes: Lines; towns: Lines; areas: ReadonlyMap<string, string>; grid: () => Grid };
let read: Table | null = null;

/** The table that content/editorial/postal-points.md describes, read when it is first asked for. */
function table(): Table {
  if (read !== null) return read;
  const file = join(import.meta.dirname, "../editorial/postal-points.tsv.br");
  const text = brotliDecompressSync(readFileSync(file)).toString("latin1").trim();
  const [codes = [], towns = []] = text.split("\n\n").map((part) => part.split("\n"));
  let grid: Grid | null = null;
  const names = new Set(codes.flatMap((line) => line.split("\t")[4]?.split(";") ?? []));
  const areas = new Map([...names].map((name) => [fold(name.replaceAll(/['’.]/g, "")), name]));
  return (read = { codes, towns, areas, grid: () => (grid ??= gridOf(codes)) });
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

/** The lines that begin so, found by halving. */
function linesFrom(lines: Lines, begun: string): Lines {
  let [from, to] = [0, lines.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((lines[middle] ?? "") < begun) from = middle + 1;
    else to = middle;
  }
  return lines.slice(from, from + linesMax).filter((line) => line.startsWith(begun));
}

function placeOf(line: string, name: string, codes = 1): PostalPlace {
  const [key = "", lat, lon, region = "", areas = ""] = line.split("\t");
  const point = { lat: Number(lat) / 1_000, lon: Number(lon) / 1_000 };
  return { name, region, country_code: key.slice(0, 2), point, codes, areas };
}
