import { describe, expect, test } from "bun:test";
import { lookupOfDraft, ranked } from "#content/reconciliation/match.ts";
import properties from "#content/editorial/reconciliation-properties.json";
import { cellsOf, draftManifest, manifest } from "#content/reconciliation/manifest.ts";
import {
  batchFitting,
  readTable,
  tableColumnsMax,
  tableText,
  writtenTable,
} from "#content/reconciliation/table.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import { aNonprofit } from "#test/support/records.ts";

const names = (name: string, places = {}, ...candidates: { name: string; city?: string }[]) =>
  ranked(
    { name, places },
    candidates.map((one) => ({ city: null, region: null, country_code: "US", ...one })),
  ).map(({ candidate, score, match }) => [candidate.name, score, match]);

const gardeners = "International Association of Botanical Gardeners and Landscape Designers";

describe("a name", () => {
  test("is a match when it is near and nothing else is as near", () => {
    const trust = { name: "Smith Trust" };
    const foundation = { name: "Smith Foundation" };
    expect(names("Smith Trust", {}, foundation, trust)).toEqual([
      ["Smith Trust", 100, true],
      ["Smith Foundation", 73.6, false],
    ]);
    expect(names("Smith", {}, { name: "Smith" }, { name: "Smith Inc" })[0]?.[2]).toBe(false);
    expect(names("Smith", {})).toEqual([]);
  });

  test.each([
    ["Tenth Community Garden of Springfield", "Ninth Community Garden of Springfield", false],
    ["Veterans of Foreign Wars Post VII", "Veterans of Foreign Wars Post VIII", false],
    ["Springfield Garden Trust", "Springfield Garden Foundation", false],
    ["Springfield Garden Fund", "Springfield Garden Fdn", false],
    ["Springfield Garden Stiftung", "Springfield Garden Foundation", true],
    ["Springfield Garden", "Springfield Garden Foundation Inc", true],
    [gardeners, `${gardeners}, Kimberley Chapter`, false],
    ["Friends of Gardens (Kenya)", "Friends of Gardens (Uganda)", false],
    ["Friends of Gardens (FoG)", "Friends of Gardens", true],
    ["Springfeild Gardn Clb", "Springfield Garden Club", false],
    ["Springfield Comunity Foodbank", "Springfield Community Food Bank", true],
    ["Tri-Cities J.P. Garden", "Tricities J P Gardn", true],
  ])("%s is %s: %p", (one, other, match) => {
    for (const [asked, name] of [
      [one, other],
      [other, one],
    ] as const)
      expect(names(asked, {}, { name })[0]?.[2]).toBe(match);
  });

  test.each([
    [{ city: ["São Paulo"] }, 100],
    [{ city: ["Rio"] }, 75],
    [{ city: ["São Paulo", "Rio"] }, 100],
    [{ country: ["United States"] }, 100],
    [{ country: ["Atlantis"] }, 100],
    [{ country: ["KE"], region: ["x"] }, 70],
  ])("in %p scores %p", (places, score) => {
    expect(names("Smith", places, { name: "Smith", city: "Sao Paulo" })[0]?.[1]).toBe(score);
  });
});

test("a query of the draft is read by its conditions", () => {
  const value = { required: false, matchQuantifier: "any" as const };
  const property = { ...value, matchType: "property" as const };
  const lookup = lookupOfDraft({
    limit: 3,
    conditions: [
      { ...value, matchType: "name", propertyValue: " Smith " },
      { ...value, matchType: "id", propertyValue: [{ id: "smith-trust" }, 7] },
      { ...property, propertyId: "org_id", propertyValue: ["99-0305781", "?"] },
      { ...property, propertyId: "city", propertyValue: "Hilo", required: true },
      { ...property, propertyValue: true },
    ],
  });
  expect(lookup).toEqual({
    name: "Smith",
    ids: ["smith-trust", "7"],
    sites: [],
    orgIds: ["US-EIN-990305781"],
    places: { country: [], region: [], city: ["Hilo"] },
    required: ["city"],
    limit: 3,
  });
});

test("every property says its value, or nothing", () => {
  const record = aNonprofit({ founded_year: 1998, annual_budget_usd: 1.5, city: "Hilo" });
  const one = toDetail(record, "https://a.example");
  expect(properties.flatMap(({ id }) => cellsOf(one, id))).toEqual([
    { str: "Kenya" },
    { str: "Hilo" },
    { str: one.name },
    { int: 1998 },
    { float: 1.5 },
    { str: "listed" },
    { str: "education" },
  ]);
  expect(cellsOf(one, "constructor")).toEqual([]);
});

test("both manifests name the same service", () => {
  const own = manifest("https://a.example");
  const draft = draftManifest("https://a.example");
  expect([own.versions, draft.versions]).toEqual([["0.2"], ["1.0-draft"]]);
  expect(own.batchSize).toBe(draft.batchSize);
});

describe("a table", () => {
  const table = { delimiter: ",", header: ["name"], queries: [] };
  test.each([
    ["\uFEFFEIN\tName\n99\tSmith\n", { query: "Smith", properties: [{ pid: "org_id", v: "99" }] }],
    ["who,City\n Smith ,\n", { query: "Smith" }],
    ["city\nHilo\n", { properties: [{ pid: "city", v: "Hilo" }] }],
    ['"Charity name",name\nx,"a ""b"", c"\n', { query: 'a "b", c' }],
  ])("%j is read", (text, query) => {
    const read = readTable(text, 5);
    expect(read.ok && read.value.queries).toEqual([{ ...query, limit: 1 }]);
  });

  test.each([
    ["", "no_rows"],
    ["name", "no_rows"],
    ["name\n\0", "not_text"],
    ['name\n"x', "not_csv"],
    ["name\n1\n2\n3\n4\n5\n6", "too_many"],
  ] as const)("%j is none: %s", (text, failure) => {
    expect(readTable(text, 5)).toEqual({ ok: false, failure });
  });

  test("has no more columns than each row of the answer can be filled up to", () => {
    const widest = (columns: number) => readTable(`name\n1\n${",".repeat(columns - 1)}`, 5).ok;
    expect([widest(tableColumnsMax), widest(tableColumnsMax + 1)]).toEqual([true, false]);
  });

  test("comes back with cells as a file has them, and what was found behind", () => {
    const rows = [["\t=x"], ["-5.20"], ['a "b", c']];
    const written = writtenTable({ ...table, rows }, [])
      .split("\r\n")
      .slice(1, 4);
    expect(written).toEqual([`"\t'=x",,,,,no`, "-5.20,,,,,no", '"a ""b"", c",,,,,no']);
  });

  describe.each([",", ";", "\t"])("delimited by %j", (delimiter) => {
    const marks = Array.from('=+-@＝"\n\r\t,; x');
    const cells = marks.flatMap((a) => marks.flatMap((b) => marks.map((c) => `x${a}${b}${c}=1+1`)));
    const rows = cells.map((cell) => [cell, cell.slice(1)]);
    const whole = { delimiter, header: ["name", "=note"], rows, queries: [] };
    const isFormula = (cell: string) => /^[\s"]*[=+\-@＝]/u.test(cell);

    test("comes back as it was, but for apostrophes", () => {
      const read = readTable(writtenTable(whole, []), cells.length);
      const back = read.ok ? read.value.rows.map((row) => row.slice(0, 2)) : [];
      const bare = (cell = "") => cell.replaceAll("'", "");
      expect(back.map((row) => row.map(bare))).toEqual(rows);
      expect(back.flat().filter(isFormula)).toEqual([]);
    });

    test.each([",", ";", "\t"].filter((mark) => mark !== delimiter))(
      "holds no formula for a spreadsheet that splits at %j",
      (mark) => {
        const split = writtenTable(whole, []).split(new RegExp(`[\r\n${mark}]`));
        expect(split.filter(isFormula)).toEqual([]);
      },
    );

    test("keeps other signs", () => {
      const plain = ["a = b", "first-born; pre-war", "51.5", "-0.5", "a@b.example; c@d.example"];
      const single = { ...whole, rows: plain.map((cell) => [cell]) };
      const read = readTable(writtenTable(single, []), 9);
      expect(read.ok && read.value.rows.map(([cell]) => cell)).toEqual(plain);
    });
  });

  test.each([["\t".repeat(65_536)], [`${";".repeat(65_535)}a`], [" =;".repeat(20_000)]])(
    "is written in one pass, whatever a cell of 64 kB holds: %#",
    (cell) => {
      expect(writtenTable({ ...table, rows: [[cell]] }, []).length).toBeGreaterThan(cell.length);
    },
    5_000,
  );

  test("names ids only where there is a match", () => {
    const best = { id: "s", name: "S", description: "", type: [], score: 91, features: [] };
    const found = [true, false].map((match) => ({ best: { ...best, match }, orgIds: ["X-1"] }));
    expect(
      writtenTable({ ...table, rows: [["a"], ["b"]] }, found)
        .split("\r\n")
        .slice(1, 3),
    ).toEqual(["a,s,X-1,S,91,yes", "b,,,S,91,no"]);
  });

  test("gives the added columns titles of their own, also in a table that had them added", () => {
    const titles = ["name", "org_id", "match", "almoner_match"];
    const added = [
      "almoner_id",
      "almoner_org_id",
      "matched_name",
      "score",
      "almoner_almoner_match",
    ];
    const [header] = writtenTable({ ...table, header: titles, rows: [] }, []).split("\r\n");
    expect(header).toBe([...titles, ...added].join(","));
  });

  test.each([
    ["a", 50, 50],
    ["名".repeat(500), 13, 13],
    ["名".repeat(500), 50, 13],
    ["名".repeat(20_000), 1, 1],
  ])("goes in batches that fit a form: %#", (query, count, fitting) => {
    const asked = Array.from({ length: count }, () => ({ query, limit: 1 }));
    expect(batchFitting(asked, 60_000)).toBe(fitting);
  });

  test("may be in the letters of old Windows", () => {
    expect(tableText(new Uint8Array([0x43, 0x61, 0x66, 0xe9]))).toBe("Café");
    expect(tableText(new TextEncoder().encode("Café"))).toBe("Café");
  });
});
