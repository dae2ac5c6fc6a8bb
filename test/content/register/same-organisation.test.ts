import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  companyNumber,
  inOrderOfStaying,
  type Registrations,
  sameOrganisations,
  siteHost,
} from "#content/register/same-organisation.ts";

const anOrganisation = (parts: Partial<Registrations> = {}): Registrations => ({
  org_ids: ["GB-CHC-1089464"],
  quotes: [],
  name: "Cancer Research UK",
  country_code: "GB",
  website: "https://www.cancerresearchuk.org",
  ...parts,
});
const scottish = (parts: Partial<Registrations> = {}) =>
  anOrganisation({ org_ids: ["GB-SC-SC041666"], ...parts });
const sourceOf = (one: Registrations, ...others: Registrations[]) =>
  sameOrganisations(one, others)[0]?.source ?? null;

const pairKey = (one: string, other: string) =>
  one < other ? `${one} ${other}` : `${other} ${one}`;

describe("pairs of real registers, labelled by hand", () => {
  type Side = [org_id: string, name: string, country: string, city: string, host: string];
  /** 1 or 0 (the same organisation or not), then org-id, name, country, town and host of both. */
  const pairs = readFileSync(join(import.meta.dirname, "same-organisation-pairs.tsv"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => {
      const [label, ...cells] = line.split("\t");
      return { same: label === "1", sides: [cells.slice(0, 5), cells.slice(5)] as [Side, Side] };
    });
  const known = new Map<string, Registrations>();
  for (const { sides } of pairs) {
    for (const [org_id, name, country_code, , host] of sides) {
      const website = host === "" ? null : `https://${host}`;
      const organisation = { org_ids: [org_id], name, country_code, website };
      known.set(org_id, anOrganisation(organisation));
    }
  }
  const everyone = [...known.values()];
  const found = new Set(
    everyone.flatMap((one) => {
      const there = everyone.filter(
        (other) => other !== one && one.website !== null && other.website === one.website,
      );
      return sameOrganisations(one, there).map(({ other }) =>
        pairKey(one.org_ids[0] ?? "", other.org_ids[0] ?? ""),
      );
    }),
  );
  const keyOf = ({ sides }: (typeof pairs)[number]) => `${sides[0][0]} ${sides[1][0]}`;
  const same = pairs.filter((pair) => pair.same).map(keyOf);

  test("are 200 or more, near misses included", () => {
    expect(pairs.length).toBeGreaterThanOrEqual(200);
    expect(same.length).toBeWithin(200, pairs.length - 100);
  });

  test("are linked with a precision of 99.5 %; found are 75 % of all, 93 % of those with one host", () => {
    const right = same.filter((key) => found.has(key)).length;
    expect(right / found.size).toBeGreaterThanOrEqual(0.995);
    expect(right / same.length).toBeGreaterThanOrEqual(0.75);
    const withHost = pairs.filter(
      ({ same: is, sides: [a, b] }) => is && a[4] !== "" && a[4] === b[4],
    );
    expect(right / withHost.length).toBeGreaterThanOrEqual(0.93);
  });
});

const written = { name: "CANCER RESEARCH U.K. (THE)", website: "cancerresearchuk.org/scotland" };
const shared = { website: "https://facebook.com/cruk" };
const branch = (n: number) =>
  anOrganisation({ org_ids: [`GB-CHC-20000${n}`], name: `Branch ${n}` });
const twin = anOrganisation({ org_ids: ["GB-CHC-200001"] });
const quotes = ["GB-COH-04325234"];
const quoting = anOrganisation({ quotes });
const noSite = { quotes, website: null };
const quotingOther = { quotes: ["GB-CHC-1089464"], website: null };
const inBoth = ["GB-SC-SC041666", "GB-CHC-100000"];
const former = "Imperial Cancer Research Fund";
const rowers = { quotes, name: "Leeds Rowing Club" };
const third = anOrganisation({ ...rowers, org_ids: ["GB-CHC-300000"] });
const site = "same_site_and_name";
const number = "same_number";

test.each<[ReturnType<typeof sourceOf>, string, Registrations, ...Registrations[]]>([
  [site, "the same name at a host of their own", anOrganisation(), scottish()],
  [site, "a name and a site that are written otherwise", anOrganisation(), scottish(written)],
  [null, "another country", anOrganisation(), scottish({ country_code: "IE" })],
  [null, "an unknown country", anOrganisation(), scottish({ country_code: null })],
  [null, "another host", anOrganisation(), scottish({ website: "https://cruk.example" })],
  [null, "no website", anOrganisation(), scottish({ website: null })],
  [null, "a word more", anOrganisation(), scottish({ name: "Cancer Research UK Trust" })],
  [
    null,
    "a word in brackets",
    anOrganisation(),
    scottish({ name: "Cancer Research UK (Scotland)" }),
  ],
  [null, "a name that is only near", anOrganisation(), scottish({ name: "Cancer Researchers UK" })],
  [null, "the same register", anOrganisation(), scottish({ org_ids: ["GB-CHC-100000"] })],
  [null, "one register of two in common", anOrganisation(), scottish({ org_ids: inBoth })],
  [null, "a host where many have a page", anOrganisation(shared), scottish(shared)],
  [site, "a host with two of one register", anOrganisation(), scottish(), branch(1)],
  [null, "the host of a federation", anOrganisation(), scottish(), branch(1), branch(2)],
  [null, "two of one register that could be it", anOrganisation(), scottish(), twin],
  [null, "a twin in its own register", scottish(), anOrganisation(), twin],
  [number, "a number that both quote, and one name", quoting, scottish(noSite)],
  [number, "a number that both quote, and one host", quoting, scottish({ quotes, name: former })],
  [null, "a number that both quote alone", quoting, scottish({ ...rowers, website: null })],
  [null, "a number that two of one register quote", quoting, scottish(noSite), third],
  [number, "a quoted number that is the other's own", anOrganisation(), scottish(quotingOther)],
])("%p makes one organisation of two with %s", (source, _, one, ...others) => {
  expect(sourceOf(one, ...others)).toBe(source);
  const [other, ...more] = others;
  if (other !== undefined && more.length === 0) expect(sourceOf(other, one)).toBe(source);
});

test("one organisation may stand in three registers", () => {
  const northern = anOrganisation({ org_ids: ["GB-NIC-100001"] });
  expect(sameOrganisations(anOrganisation(), [scottish(), northern])).toHaveLength(2);
});

test.each([
  ["4325234.0", "GB-CHC-1089464", "04325234"],
  ["04325234", "GB-SC-SC041666", "04325234"],
  ["632080", "GB-NIC-106517", "NI632080"],
  ["RC000521", "GB-CHC-207076", "RC000521"],
  ["RC00834", "GB-CHC-1132642", null],
  ["12345678", "GB-CHC-1156629", null],
  ["00000000", "GB-NIC-100095", null],
  ["0", "GB-NIC-100095", null],
  ["", "GB-CHC-1", null],
])("the company number %j of %s is %p", (raw, orgId, read) => {
  expect(companyNumber(raw, orgId)).toBe(read);
});

test("of two profiles the one of its organisation stays, else the one of the lesser number", () => {
  const one = { org_ids: ["GB-SC-SC000001", "GB-CHC-9"], belongs: false };
  const other = { org_ids: ["GB-CHC-1000001"], belongs: false };
  const own = { ...one, belongs: true };
  for (const [stays, goes] of [
    [other, one],
    [own, other],
  ] as const) {
    expect(inOrderOfStaying(goes, stays)).toEqual([stays, goes]);
    expect(inOrderOfStaying(stays, goes)).toEqual([stays, goes]);
  }
});

test("a host is the website's, without www.; a shared one is none", () => {
  expect(siteHost("https://www.Example.org/a")).toBe("example.org");
  expect(siteHost("https://m.facebook.com/a")).toBeNull();
  expect(siteHost(null)).toBeNull();
});
