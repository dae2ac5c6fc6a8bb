import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import registerColumns from "#content/editorial/register-columns.json";
import { irs990Xml } from "#scripts/import/irs-990-xml.ts";
import { readDocuments } from "#scripts/import/read-documents.ts";
import { programsOf, websiteOf } from "#scripts/import/format.ts";
import { emptyRecord } from "#content/nonprofit/record.ts";
import type { RegisterDraft } from "#content/register/merge.ts";
import { anImporting, outcome, type TestImporting } from "#test/support/importing.ts";
import { startZip, zipOf } from "#test/support/zip.ts";
import byEye from "./filings-by-eye.json";
import { theFolder } from "#test/support/at-file-top.ts";

let importing: TestImporting;
const withStore = () => {
  beforeEach(async () => {
    importing = await anImporting();
  });
  afterEach(() => importing.close());
};

const files = theFolder();

const object = "202300019349300001";

type Parts = Partial<
  Record<"ein" | "end" | "at" | "type" | "name" | "before" | "form" | "prefix", string>
>;
/** A return as people write it into the XML. */
const aReturn = (parts: Parts): string => {
  const { ein = "000000101", end = "2022-12-31", at = "2023-05-01T10:00:00-05:00" } = parts;
  const { name = "MCALDER FOOD BANK INC", before = "", form = "", prefix = "" } = parts;
  const { type = "990" } = parts;
  const element = `IRS${type}`;
  const xml = `<Return xmlns="http://www.irs.gov/efile" returnVersion="2022v5.0"><ReturnHeader><ReturnTs>${at}</ReturnTs><TaxPeriodEndDt>${end}</TaxPeriodEndDt><ReturnTypeCd>${type}</ReturnTypeCd><TaxPeriodBeginDt>${Number(end.slice(0, 4))}-01-01</TaxPeriodBeginDt><Filer><EIN>${ein}</EIN><BusinessName><BusinessNameLine1Txt>${name}</BusinessNameLine1Txt></BusinessName></Filer></ReturnHeader><ReturnData><${element}>${form}</${element}><IRS990ScheduleB/></ReturnData></Return>`;
  const named = prefix === "" ? xml : xml.replaceAll(/<(\/?)(?=[A-Z])/g, `<$1${prefix}:`);
  return `${before}${named}\n`;
};

const mission = (text: string) => `<ActivityOrMissionDesc>${text}</ActivityOrMissionDesc>`;

/** What one file says, row by row. */
async function read(name: string, content: string | Uint8Array) {
  const file = join(files, name);
  writeFileSync(file, content);
  const rows = await Array.fromAsync(irs990Xml.readFile(file, () => {}, "2026-12-01"));
  return rows.map(({ line, outcome: said }) => ({ line, said }));
}

async function draftOf(xml: string, name = `${object}_public.xml`) {
  const [row] = await read(name, xml);
  if (row?.said.kind !== "draft") throw new Error(JSON.stringify(row));
  return row.said;
}

/** A master file that lists these organisations. */
const register = (organisations: readonly (readonly [ein: string, name: string])[]): string => {
  const listed = { STATE: "NV", CITY: "RENO", SUBSECTION: "03", STATUS: "01", FOUNDATION: "15" };
  const columns = registerColumns["irs-bmf"];
  const rows = organisations.map(([EIN, NAME]) => {
    const row: Record<string, string> = { ...listed, EIN, NAME: `"${NAME.toUpperCase()}"` };
    return columns.map((column) => row[column] ?? "").join(",");
  });
  return importing.file("eo_nv.csv", `${[columns.join(","), ...rows].join("\n")}\n`);
};

describe("a return", () => {
  test.each([
    ["https://www.example.org", "WWW.EXAMPLE.ORG"],
    ["https://lafoodbank.org", "LAFOODBANK.ORG WWW.LAFIGHTSHUNGER.ORG"],
    ["https://one.org", "one.org; two.org"],
    ["http://www.one.org", "http.//www.one.org"],
    ["http://one.org", "http://HTTP://one.org"],
    ["http://one.org", "http//one.org"],
    ["http://one.org", "http://.one.org"],
    ["https://http.cat", "http.cat"],
    [null, "N/A"],
    [null, "NONE"],
    [null, "SEE FOOTNOTE"],
    [null, "SEE SCHEDULE O"],
    [null, "tbc"],
    [null, "no website"],
    [null, "9 pineview court"],
    [null, "pat@person.example"],
    [null, "jengana"],
    [null, "none"],
    [null, "Home / Sample Foundation (sample.example)"],
    [null, ""],
  ])("has the website %s where it says %s", (cleaned, raw) => {
    expect(websiteOf(raw)).toBe(cleaned);
  });

  test.each([
    ["To feed all.", mission("TO FEED ALL. (SEE SCHEDULE O)")],
    [
      "To feed all of Reno.",
      `${mission("TO FEED ALL")}<MissionDesc>TO FEED ALL OF RENO.</MissionDesc>`,
    ],
    [
      "To feed all of Reno.",
      `${mission("TO FEED ALL OF RENO.")}<MissionDesc>SEE SCHEDULE O</MissionDesc>`,
    ],
    [
      "To feed all of Reno.",
      `<ActivityOrMissionDescription>TO FEED ALL OF RENO.</ActivityOrMissionDescription>`,
    ],
    [undefined, mission("SEE SCHEDULE O")],
    [undefined, mission("N/A")],
    ["To feed all. To teach all.", mission("TO FEED ALL. (SEE SCHEDULE O)TO TEACH ALL.")],
    ["To feed all. To teach.", mission("TO FEED ALL. (CONTINUED)  (SEE SCHEDULE O) TO TEACH.")],
    [
      "To feed all of the people who live in Reno and the…",
      mission("TO FEED ALL OF THE PEOPLE WHO LIVE IN RENO AND THE"),
    ],
    [undefined, mission("THE MISSION OF SAMPLE IS TO")],
    ["To meet needs.", mission("TO MEET NEEDS (SEE SCHEDULE O).")],
    [
      "To meet needs, and teach.",
      mission("TO MEET NEEDS (SEE SCH O), AND TEACH.(SEE SCHEDULE O)."),
    ],
    ["To meet needs", mission("TO MEET NEEDS-(SEE SCHEDULE O)")],
    ["To share vitamin a", mission("TO SHARE VITAMIN A")],
    [
      "To protect the old through aid.",
      mission("TO PROTECT THE OLD (CONTINUE ON SCHEDULE 'O')(CONTINUED FROM PAGE 1) THROUGH AID."),
    ],
  ])("has the mission %s", async (said, form) => {
    expect((await draftOf(aReturn({ form }))).draft.fields?.mission).toBe(said);
  });

  test("says each programme once, with its cost, and none that is the mission or stands elsewhere", () => {
    const cost = "Cost in the year to June 2022: US$ 5.";
    const raw = [
      "FEEDING ALL",
      "Meals: hot ones - SEE SCHEUDLE O",
      "Meals: hot ones.",
      "SEE SCHEDULE O",
      "OTHER",
      "- A car for work. It is driven",
      "Sample, Inc. shows plays",
    ];
    expect(
      programsOf(
        raw.map((text) => ({ text, cost })),
        "",
        "Feeding all.",
      ),
    ).toEqual([
      {
        name: "Meals",
        description: `Hot ones. ${cost}`,
        beneficiaries_per_year: null,
        location: null,
      },
      {
        name: "A car for work",
        description: `A car for work. It is driven. ${cost}`,
        beneficiaries_per_year: null,
        location: null,
      },
      {
        name: "Sample, Inc. shows plays",
        description: cost,
        beneficiaries_per_year: null,
        location: null,
      },
    ]);
  });

  test.each<[what: string, parts: Parts]>([
    ["with who opens the letters", { name: "MCALDER FOOD BANK INC C/O PAT SAMPLE" }],
    ["with a prefix", { prefix: "irs" }],
    ["with a byte-order mark", { before: "\uFEFF" }],
    ["with an XML declaration", { before: '<?xml version="1.0" encoding="UTF-8"?>\r\n' }],
  ])("is read %s", async (_, parts) => {
    const form = "<TotalEmployeeCnt>5</TotalEmployeeCnt>";
    const { draft } = await draftOf(aReturn({ ...parts, form }));
    expect(draft.record).toMatchObject({ name: "McAlder Food Bank Inc", facts: { employees: 5 } });
  });

  test("bears form, period, object and a link, and an amended one and a group's say so", async () => {
    const form = `${mission("TO FEED ALL")}<AmendedReturnInd>X</AmendedReturnInd><GroupReturnForAffiliatesInd>1</GroupReturnForAffiliatesInd><CYTotalRevenueAmt>-5</CYTotalRevenueAmt><PYTotalRevenueAmt>7</PYTotalRevenueAmt>`;
    const { draft } = await draftOf(aReturn({ form }));
    const url = `https://projects.propublica.org/nonprofits/organizations/101/${object}/full`;
    expect(draft).toMatchObject({
      source_url: url,
      filed_for: "2022-12-31",
      rules: { mission: `Form 990 for the year to 31 December 2022, object ${object}` },
      record: {
        state: "filed",
        facts: { form: "990", object_id: object, group_return: "yes" },
        finances: [
          { period_start: "2022-01-01", period_end: "2022-12-31", revenue: -5, amended: true },
          { period_end: "2021-12-31", revenue: 7, prior_year: true, filing_url: url },
        ],
      },
    });
    const other = await draftOf(aReturn({ end: "2021-12-31" }), "renamed.xml");
    expect(other.draft.source_url).toBe("https://apps.irs.gov/app/eos/detailsPage?ein=000000101");
  });

  test.each([
    ["ends early", aReturn({}).slice(0, -40), /it ends before <\/Return>/],
    ["ends in its form", aReturn({}).slice(0, 400), /unclosed tag/],
    ["is no XML", "hello", /non-whitespace|root/],
    ["has a DTD", aReturn({ before: '<!DOCTYPE x [<!ENTITY a "b">]>' }), /it has a DTD/],
    ["has an entity", aReturn({ form: mission("&lol;") }), /undefined entity/],
    ["is nested without end", "<a>".repeat(500), /too many elements inside/],
    ["is one long text", `<Return>${"a".repeat(3_000_000)}</Return>`, /no element begins or ends/],
    [
      "is in another encoding",
      aReturn({ before: '<?xml version="1.0" encoding="ISO-8859-1"?>' }),
      /is in ISO-8859-1/,
    ],
    ["is in UTF-16", Buffer.from(aReturn({}), "utf16le"), /disallowed character/],
    [
      "is in Latin-1",
      new Uint8Array(Buffer.from(aReturn({ name: "CAFÉ" }), "latin1")),
      /not in UTF-8/,
    ],
    ["has no EIN", aReturn({ ein: "12345678X" }), /EIN is "12345678X"/],
    ["has an EIN of zeros", aReturn({ ein: "000000000" }), /EIN is "000000000"/],
    ["is for a year to come", aReturn({ end: "2027-12-31" }), /2027-12-31, which is to come/],
    ["has no period", aReturn({ end: "soon" }), /TaxPeriodEndDt is "soon"/],
    ["has no name", aReturn({ name: "" }), /name of the organisation is missing/],
    ["lacks its form", aReturn({}).replaceAll("IRS990>", "IRS990T>"), /IRS990 is missing/],
    ["is no return", "<html></html>", /no return of the IRS/],
  ])("that %s is refused", async (_, content, problem) => {
    const [row] = await read(
      "x.xml",
      typeof content === "string" ? content : new Uint8Array(content),
    );
    expect(row?.said).toEqual({ kind: "bad", problem: expect.stringMatching(problem) });
  });
});

describe("a file of returns", () => {
  const zipped = (name = "2023/x_public.xml", claim = {}) => {
    const zip = startZip();
    const padded = aReturn({ form: `${mission("TO FEED ALL")}${"<A/>".repeat(4_000)}` });
    return Buffer.concat([zip.member(name, Buffer.from(padded), claim), zip.end()]);
  };

  test.each([
    ["a cut zip", () => zipped().subarray(0, -30), /cut short or damaged/],
    [
      "a 4 GB file in a small zip",
      () => zipped("x.xml", { size: 4_000_000_000 }),
      /x\.xml: it unpacks to more than 512 MB/,
    ],
    ["a zip bomb", () => zipped("x.xml", { size: 500_000_000 }), /more than 200 times its size/],
    [
      "a zip that says too little",
      () => zipped("x.xml", { size: 9_000 }),
      /more than|too many bytes/i,
    ],
    ["a wrong checksum", () => zipped("x.xml", { checksum: 1 }), /its checksum is wrong/],
    ["a zip that contradicts itself", () => zipped().fill(1, 2, 4), /cannot be read/],
    ["a zip without returns", () => zipped("x.txt"), /no \.xml is in the zip/],
    ["an error page", () => Buffer.from("<html></html>"), /no zip file, but perhaps an error page/],
    ["a cut gzip file", () => gzipSync(aReturn({})).subarray(0, -20), /gzip file is cut short/],
  ])("%s is refused", async (_, bytes, problem) => {
    const content = bytes();
    const rows = await read(content[0] === 0x1f ? "x.xml.gz" : "x.zip", content);
    expect(rows.map(({ said }) => said)).toEqual([
      { kind: "bad", problem: expect.stringMatching(problem) },
    ]);
  });

  describe("imported", () => {
    withStore();

    test("is named with the place, and the others are kept", async () => {
      const folder = join(importing.dataDir, "returns/2023");
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "a.zip"), zipped().subarray(0, -30));
      writeFileSync(
        join(folder, "b.zip"),
        zipOf({ "in/bad.xml": "<a>", "in/good.xml": aReturn({}) }),
      );
      const said: string[] = [];
      const onSkipped = (problem: string) => said.push(problem);
      const path = join(importing.dataDir, "returns");
      const report = await importing.run("irs-990-xml", [path], { onSkipped });
      expect(report).toMatchObject({ rows: 3, recorded: 1, skipped_because: { bad: 2 } });
      expect(said[0]).toMatch(/2023\/a\.zip: the zip file is cut short/);
      expect(said[1]).toMatch(/2023\/b\.zip, in\/bad\.xml: unclosed tag/);
      const alone = importing.run("irs-990-xml", [join(folder, "a.zip")]);
      expect(await outcome(alone)).toMatch(/a\.zip: the zip file/);
      mkdirSync(join(importing.dataDir, "empty"));
      const empty = importing.run("irs-990-xml", [join(importing.dataDir, "empty")]);
      expect(await outcome(empty)).toMatch(/empty: no file of this format/);
    });

    test("packed with Deflate64 is unpacked", async () => {
      const file = join(import.meta.dirname, "../support/registers/deflate64.zip");
      const texts: string[] = [];
      for await (const { bytes } of readDocuments(file, () => {})) {
        texts.push(Buffer.concat(await Array.fromAsync(bytes)).toString());
      }
      expect(texts.map((text) => text.slice(0, 7))).toEqual(["<Return"]);
      const [row] = await Array.fromAsync(irs990Xml.readFile(file, () => {}, "2026-12-01"));
      expect(row?.line).toBe(`returns/${object}_public.xml`);
      expect(row?.outcome).toMatchObject({ kind: "draft", draft: { org_id: "US-EIN-000000101" } });
    });

    test("is not read again, until it differs", async () => {
      const file = importing.file("a.xml", aReturn({ form: mission("TO FEED ALL") }));
      expect(await importing.run("irs-990-xml", [file])).toMatchObject({ rows: 1, known: 0 });
      expect(await importing.run("irs-990-xml", [file])).toMatchObject({ rows: 0, known: 1 });
      expect(await importing.run("irs-990-xml", [file], { checkOnly: true })).toMatchObject({
        rows: 1,
      });
      importing.file("a.xml", aReturn({ form: mission("TO FEED EVERYBODY") }));
      expect(await importing.run("irs-990-xml", [file])).toMatchObject({ rows: 1, known: 0 });
    });
  });
});

describe("returns of one organisation", () => {
  withStore();
  const older = {
    end: "2021-12-31",
    form: `${mission("TO FEED SOME")}<WebsiteAddressTxt>A.ORG</WebsiteAddressTxt>`,
  };
  const first = { at: "2023-05-01T10:00:00Z", form: mission("TO FEED MANY") };
  const amended = { at: "2023-09-01T10:00:00Z", form: mission("TO FEED ALL") };
  const file = (name: string, parts: Parts) => importing.file(`${name}.xml`, aReturn(parts));
  const held = async () => {
    const record = await importing.record("mcalder-food-bank-inc");
    const { mission: said, website, provenance, register_records = [] } = record ?? {};
    const filed = register_records.find(({ register: from }) => from === "irs-990-xml");
    const periods = filed?.finances.map(({ period_end }) => period_end);
    return { said, website, facts: filed?.facts, periods, provenance };
  };
  const organisations = [["000000101", "MCALDER FOOD BANK INC"]] as const;
  const expected = {
    said: "To feed all",
    website: "https://a.org",
    facts: { form: "990", period_end: "2022-12-31" },
    periods: ["2022-12-31", "2021-12-31"],
  };

  test.each([
    ["the newest last", ["older", "first", "amended"]],
    ["the newest first", ["amended", "first", "older"]],
  ])("give the same whether they or the register come first, %s", async (_, names) => {
    const all: Record<string, Parts> = { older, first, amended };
    await importing.run("irs-bmf", [register(organisations)]);
    for (const name of names) await importing.run("irs-990-xml", [file(name, all[name] ?? {})]);
    const after = await held();
    expect(after).toMatchObject(expected);

    importing.close();
    importing = await anImporting();
    for (const name of names) await importing.run("irs-990-xml", [file(name, all[name] ?? {})]);
    expect(await importing.slugs()).toEqual([]);
    await importing.run("irs-bmf", [register(organisations)]);
    expect(await held()).toEqual(after);
    expect(Object.keys((await importing.facts("US-EIN-000000101"))["irs-990-xml"] ?? {})).toEqual(
      Object.keys(after.facts ?? {}),
    );

    // What is there already is no change.
    await importing.store.raw.execute("DELETE FROM imports");
    expect(await importing.run("irs-990-xml", [file("amended", amended)])).toMatchObject({
      changed: 0,
      unchanged: 1,
    });
  });

  test("count once for each period, the one made last", async () => {
    const zip = importing.file(
      "x.zip",
      zipOf({ "a.xml": aReturn(amended), "b.xml": aReturn(first), "c.xml": aReturn(older) }),
    );
    await importing.run("irs-bmf", [register(organisations)]);
    const report = await importing.run("irs-990-xml", [zip]);
    expect(report.skipped_because.duplicate).toBe(1);
    expect(await held()).toMatchObject(expected);
  });
});

const folder = join(process.env["ALMONER_REGISTER_DATA"] ?? "", "irs_990_xml/xml");
const isThere = process.env["ALMONER_REGISTER_DATA"] !== undefined;

describe.skipIf(!isThere)("the real returns", () => {
  const said = async (name: string) => {
    const [row] = await Array.fromAsync(
      irs990Xml.readFile(join(folder, name), () => {}, "2026-12-01"),
    );
    return row?.outcome;
  };

  /** What a return says, in the order of the table, with the site without its scheme. */
  const shown = ({ org_id, fields, record }: RegisterDraft) => {
    const { mission: text, website, programs, founded_year } = { ...emptyRecord, ...fields };
    const { period_end: period, ...figures } = record?.finances?.[0] ?? {};
    const { employees = null } = record?.facts ?? {};
    return {
      ...figures,
      ein: org_id.slice("US-EIN-".length),
      period,
      text: (text ?? "").toLowerCase(),
      website: website?.replace(/^https?:\/\//, "") ?? null,
      employees,
      formed: founded_year,
      programmes: programs.length,
    };
  };

  test.each(byEye)(
    "$file says what was read in it by eye",
    async ({ file, mission: text, ...seen }) => {
      const name = readdirSync(folder).find((one) => one.startsWith(file)) ?? "";
      const row = await said(name);
      if (row?.kind !== "draft") throw new Error(`${name} is no draft`);
      const found = shown(row.draft);
      expect(found).toMatchObject(seen);
      expect(text === null ? found.text === "" : found.text.startsWith(text)).toBe(true);
    },
  );

  describe("imported", () => {
    withStore();
    /** Text of elements about persons, by their names before and after 2013. */
    const ofPersons =
      /<(?:\w+:)?(PersonNm|PersonName|PrincipalOfficerNm|NameOfPrincipalOfficerPerson|PreparerPersonNm|BusinessOfficerNm|InCareOfNm|InCareOfName|NamePerson|PersonFullName|BusinessOfficerTitleTxt|SignatureName|Name)>([^<]+)</g;

    /** Texts of such elements that stand in the store all the same, and why. */
    const standThere = {
      "access reproductive justice": "an organisation, in the place of a person",
      "adam taylor": "in the organisation's own words about its programmes",
      "carlos r munoz": "in the legal name of the foundation",
      "donald e fike": "in the legal name of the foundation",
      "int'l soc daughters of ut pio": "an organisation, in the place of a person",
      "mary gard jameson": "in the legal name of the foundation",
      "the organization": "no name, in the place of a person",
    };

    test("go in, all but the forms 990-T, and no person's name with them", async () => {
      const texts = readdirSync(folder).map((name) =>
        gunzipSync(readFileSync(join(folder, name))).toString(),
      );
      const persons = new Set(
        texts.flatMap((text) =>
          [...text.matchAll(ofPersons)].map(([, , name = ""]) => name.trim().toLowerCase()),
        ),
      );
      expect(persons.size).toBeGreaterThan(1_000);
      const first = await importing.run("irs-990-xml", [folder]);
      expect(first).toMatchObject({
        rows: 207,
        recorded: 175,
        skipped_because: { other_form: 27, duplicate: 5, bad: 0 },
      });
      const { rows } = await importing.store.raw.execute(
        "SELECT substr(org_id, 8), name FROM register_records",
      );
      await importing.run("irs-bmf", [
        register(rows.map((row) => [String(row[0]), String(row[1])] as const)),
      ]);
      const stored = (
        await Promise.all(
          ["nonprofits", "programs", "register_records", "provenance", "changes"].map((table) =>
            importing.store.raw.execute(`SELECT * FROM ${table}`),
          ),
        )
      ).flatMap(({ rows: found }) => found.map((row) => JSON.stringify(row).toLowerCase()));
      const whole = stored.join("\n");
      const isName = (name: string) => name.length > 5 && name.includes(" ");
      const found = [...persons].filter((name) => isName(name) && whole.includes(name));
      expect(found.toSorted()).toEqual(Object.keys(standThere).toSorted());
    });
  });
});
