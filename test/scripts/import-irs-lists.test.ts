import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { publicFacts } from "#content/nonprofit/register-facts.ts";
import { idsByOrgId } from "#content/register/import-store.ts";
import { standingsOf } from "#site/profile/profile-sentence.ts";
import { readOrgId } from "#content/register/org-id.ts";
import { organisationAnswer } from "#content/register/standing.ts";
import { knownByOrgId, scopesRead } from "#content/register/standing-store.ts";
import { anImporting, outcome, registerFile, type TestImporting } from "#test/support/importing.ts";

// Hand-written rows in the published layout; import-irs-rows.test.ts reads real ones.
const pub78 = "data-download-pub78.txt";
const revocations = "data-download-revocation.txt";

let importing: TestImporting;
beforeEach(async () => {
  importing = await anImporting();
});
afterEach(() => importing.close());

const about = async (ein: string) => {
  const number = readOrgId(ein);
  if (!number.ok) throw new Error(ein);
  const [known = { records: [], profile: null }] = await knownByOrgId(importing.store, [
    number.value.org_id,
  ]);
  const scopes = await scopesRead(importing.store);
  const answer = organisationAnswer(number.value, known, { scopes, baseUrl: "" });
  return [answer.standing.value, answer.deductibility?.value, answer.profile?.slug ?? null];
};
const said = async (ein: string) => {
  const [known] = await knownByOrgId(importing.store, [`US-EIN-${ein}`]);
  return Object.fromEntries((known?.records ?? []).map((one) => [one.register, one.facts]));
};

test("with the master file they say who is in good standing", async () => {
  await importing.run("irs-bmf", ["eo_aa.csv"]);
  const report = await importing.run("irs-pub78", [pub78]);
  expect(report).toMatchObject({ rows: 4, changed: 2, recorded: 2, added: 0, withdrawn: 0 });
  await importing.run("irs-revocations", [revocations]);
  expect(await about("000000101")).toEqual(["reinstated", "deductible", "mcalder-food-bank-inc"]);
  // The master file here is older than the day on which the revocation was published.
  expect((await about("000000102")).slice(0, 2)).toEqual(["revoked", "not deductible"]);
  expect(await about("000000107")).toEqual(["registered", "deductible", null]);
  expect(await about("000000301")).toEqual(["revoked", "not deductible", null]);
  expect(await about("000000302")).toEqual(["revoked", "not deductible", null]);
  expect(await about("000000303")).toEqual(["not listed", "unknown", null]);
});

test("codes and dates are kept, and no address", async () => {
  await importing.run("irs-pub78", [pub78]);
  await importing.run("irs-revocations", [revocations]);
  expect(await said("000000102")).toEqual({
    "irs-pub78": { deductibility: "PC", group: "GROUP" },
    "irs-revocations": { revoked: "2026-05-15", posted: "2026-07-10" },
  });
  expect((await said("000000208"))["irs-pub78"]).toEqual({ deductibility: "LODGE" });
  // Of two rows the later revocation counts; a date of before it gave nothing back; that spring's dates were moved.
  expect((await said("000000301"))["irs-revocations"]).toEqual({
    revoked: "2020-07-15",
    posted: "2020-09-10",
  });
  const { rows } = await importing.store.raw.execute("SELECT * FROM register_records");
  expect(JSON.stringify(rows)).not.toMatch(/SAMPLE ST|RENO|89501|TROUT CLUB/i);
});

/** What the profile says: its page of the standing, its JSON of gifts. */
const shown = async (ein: string) => {
  const ids = await idsByOrgId(importing.store, [`US-EIN-${ein}`]);
  const [record] = await recordsById(importing.store, [...ids.values()]);
  if (record === undefined) throw new Error(`no profile of ${ein}`);
  const facts = publicFacts(record.register_records).flatMap(({ fields }) => fields);
  return {
    standing: standingsOf(record).map(({ value }) => value),
    date: record.register_records.find(({ register }) => register === "irs-bmf")?.as_of,
    gifts: facts.some(({ name }) => name === "deductibility"),
  };
};

test.each([
  ["after it was revoked", ["2024-01-10", null, "2026-08-10"]],
  ["before the list of revocations was read", ["2024-01-10", "2026-08-10", null]],
])(
  "a page says what the service says of who is listed again by a file read %s",
  async (_, order) => {
    for (const asOf of order) {
      if (asOf === null) await importing.run("irs-revocations", [revocations]);
      else await importing.run("irs-bmf", ["eo_aa.csv"], { asOf });
    }
    expect((await about("000000102")).slice(0, 2)).toEqual(["reinstated", "deductible"]);
    const given: Awaited<ReturnType<typeof shown>> = {
      ...{ standing: ["reinstated"], date: "2026-08-10", gifts: true },
    };
    expect(await shown("000000102")).toEqual(given);
    // What is confirmed once more is no news.
    const again = await importing.run("irs-bmf", ["eo_aa.csv"], { asOf: "2026-09-14" });
    expect(again.changed).toBe(0);
    expect(await shown("000000102")).toEqual(given);
  },
);

test("a page says who is revoked as the service does", async () => {
  await importing.run("irs-bmf", ["eo_aa.csv"], { asOf: "2024-01-10" });
  await importing.run("irs-revocations", [revocations]);
  expect((await about("000000102")).slice(0, 2)).toEqual(["revoked", "not deductible"]);
  expect(await shown("000000102")).toMatchObject({ standing: ["revoked"], gifts: false });
});

test("a master file of later days gives back what was revoked", async () => {
  await importing.run("irs-revocations", [revocations]);
  await importing.run("irs-bmf", ["eo_aa.csv"], { asOf: "2026-08-10" });
  expect((await about("000000102")).slice(0, 2)).toEqual(["reinstated", "deductible"]);
});

test.each([
  ["that the register does not own", "register = NULL, register_scope = NULL"],
  ["that another register owns", "register = 'acnc', register_scope = 'AU'"],
  ["that is withdrawn already", "status = 'withdrawn'"],
])("what left the master file is gone, of a profile %s", async (_, change) => {
  await importing.run("irs-bmf", ["eo_aa.csv"]);
  await importing.run("irs-revocations", [revocations]);
  await importing.store.raw.execute(
    `UPDATE nonprofits SET ${change} WHERE slug LIKE 'trout-keepers%bosque%'`,
  );
  const lines = readFileSync(registerFile("eo_aa.csv"), "utf8").split("\n");
  const later = lines.filter((line) => !line.startsWith("000000102")).join("\n");
  const august = { asOf: "2026-08-10" };
  const report = await importing.run("irs-bmf", [importing.file("later.csv", later)], august);
  expect(report.withdrawn).toBe(0);
  expect((await about("000000102")).slice(0, 2)).toEqual(["revoked", "not deductible"]);
});

test.each([
  ["a selection", { scope: "none" }, ""],
  ["a file with a malformed row", { skipBad: true }, "12"],
])("%s confirms nothing that it does not name", async (_, how, cut) => {
  await importing.run("irs-bmf", ["eo_aa.csv"]);
  await importing.run("irs-revocations", [revocations]);
  const read = await scopesRead(importing.store);
  const lines = readFileSync(registerFile("eo_aa.csv"), "utf8").split("\n");
  const later = lines.filter((line) => !line.startsWith("000000102")).join("\n");
  const file = importing.file("later.csv", cut === "" ? later : later.replace("000000103", cut));
  await importing.run("irs-bmf", [file], { ...how, asOf: "2026-08-10" });
  expect((await about("000000102")).slice(0, 2)).toEqual(["revoked", "not deductible"]);
  expect(await scopesRead(importing.store)).toEqual(read);
});

test("a selection does not say that a register was read", async () => {
  await importing.run("irs-bmf", ["eo_aa.csv"], { scope: "none" });
  expect((await about("000000101"))[0]).toBe("registered");
  expect((await about("000000303"))[0]).toBe("unknown");
});

test.each([
  ["older than what was read", "2026-05-11", /as of 2026-05-11, and US was read as of 2026-05-12/],
  ["of days to come", "2026-12-03", /as of 2026-12-03, which is yet to come/],
])("a file %s is refused", async (_, asOf, message) => {
  const list = (back: string) =>
    importing.file("r.txt", `000000102|X|||A|NV|1|US|03|15-MAY-2020|10-JUL-2020|${back}\n`);
  await importing.run("irs-revocations", [list("01-MAY-2026")]);
  for (const how of [{}, { scope: "none" }, { checkOnly: true }]) {
    const other = importing.run("irs-revocations", [list("")], { ...how, asOf });
    expect(await outcome(other)).toMatch(message);
  }
  expect((await about("000000102"))[0]).toBe("reinstated");
  await importing.run("irs-revocations", [list("")], { asOf: "2026-12-02" });
  expect((await about("000000102"))[0]).toBe("revoked");
});

test("a second run changes nothing, and what left the list says nothing any more", async () => {
  await importing.run("irs-bmf", ["eo_aa.csv"]);
  await importing.run("irs-revocations", [revocations]);
  const again = await importing.run("irs-revocations", [revocations]);
  expect(again).toMatchObject({ changed: 0, added: 0, withdrawn: 0 });
  const lines = readFileSync(registerFile(revocations), "utf8").split("\n");
  const shorter = lines.filter((line) => !/^00000030|^000000102/.test(line)).join("\n");
  await importing.run("irs-revocations", [importing.file("later.txt", shorter)]);
  expect((await about("000000302"))[0]).toBe("not listed");
  expect(await about("000000102")).toEqual([
    "registered",
    "deductible",
    "trout-keepers-of-america-inc-bosque-chapter",
  ]);
});

test("a list that is cut short is refused, unless that is meant", async () => {
  const row = (at: number) => `${100_000_000 + at}|X|Reno|NV||PC`;
  const list = (count: number) =>
    importing.file("list.txt", Array.from({ length: count }, (_, at) => row(at)).join("\n"));
  await importing.run("irs-pub78", [list(60)]);
  const short = importing.run("irs-pub78", [list(30)]);
  expect(await outcome(short)).toMatch(/30 of the 60 organisations of US .* seems incomplete/);
  expect((await about("100000059"))[0]).toBe("registered");
  await importing.run("irs-pub78", [list(30)], { allowManyWithdrawals: true });
  expect((await about("100000059"))[0]).toBe("not listed");
});

describe("is refused by file and line:", () => {
  test.each<[string, "irs-pub78" | "irs-revocations", string, RegExp]>([
    [
      "a row of another length",
      "irs-pub78",
      "000000101|X|Reno|NV|PC\n",
      /x\.txt, line 1.* 5 fields/,
    ],
    ["no number", "irs-pub78", "\n\nEIN|X|Reno|NV||PC\n", /line 3: EIN is "EIN"/],
    ["no code", "irs-pub78", "000000101|X|Reno|NV||P C\n", /line 1: Deductibility Status/],
    [
      "an impossible date",
      "irs-revocations",
      "000000101|X||A|B|NV|1|US|03|31-FEB-2017|12-MAR-2018|\n",
      /line 1: Revocation Date is "31-FEB-2017"/,
    ],
    [
      "no revocation date",
      "irs-revocations",
      "000000101|X||A|B|NV|1|US|03||12-MAR-2018|\n",
      /line 1: Revocation Date is empty/,
    ],
  ])("%s", async (_, format, text, message) => {
    const run = importing.run(format, [importing.file("x.txt", text)]);
    expect(await outcome(run)).toMatch(message);
    expect(await scopesRead(importing.store)).toEqual(new Map());
  });
});
