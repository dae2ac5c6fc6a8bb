import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { publicFacts } from "#content/nonprofit/register-facts.ts";
import { standingsOf } from "#site/profile/profile-sentence.ts";
import { readOrgId } from "#content/register/org-id.ts";
import { organisationAnswer } from "#content/register/standing.ts";
import { scopesRead } from "#content/register/standing-store.ts";
import { anImporting, outcome, registerFile } from "#test/support/importing.ts";
import { forEachTest } from "#test/support/at-file-top.ts";

// Hand-written rows in the published layout; import-irs-rows.test.ts reads real ones.
const pub78 = "data-download-pub78.txt";
const revocations = "data-download-revocation.txt";

const importing = forEachTest(anImporting);

const about = async (ein: string) => {
  const number = readOrgId(ein);
  if (!number.ok) throw new Error(ein);
  const scopes = await scopesRead(importing.store);
  const known = await importing.known(number.value.org_id);
  const answer = organisationAnswer(number.value, known, { scopes, baseUrl: "" });
  return [answer.standing.value, answer.deductibility?.value, answer.profile?.slug ?? null];
};
const said = (ein: string) => importing.facts(`US-EIN-${ein}`);
/** A master file without the second organisation. */
const later = (edit = (text: string) => text) => {
  const lines = readFileSync(registerFile("eo_aa.csv"), "utf8").split("\n");
  const kept = lines.filter((line) => !line.startsWith("000000102"));
  return importing.file("later.csv", edit(kept.join("\n")));
};

test("with the master file they say who is in good standing", async () => {
  await importing.run("irs-bmf", ["eo_aa.csv"]);
  const report = await importing.run("irs-pub78", [pub78]);
  expect(report).toMatchObject({ rows: 4, changed: 2, recorded: 2, added: 0, withdrawn: 0 });
  await importing.run("irs-revocations", [revocations]);
  expect(await about("000000101")).toEqual(["reinstated", "deductible", "mcalder-food-bank-inc"]);
  // The master file here is older than the day on which the revocation was published.
  expect((await about("000000102")).slice(0, 2)).toEqual(["revoked", "not deductible"]);
  expect(await shown()).toMatchObject({ standing: ["revoked"], gifts: false });
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

/** What the page of the profile says. */
const shown = async (slug = "trout-keepers-of-america-inc-bosque-chapter") => {
  const record = await importing.record(slug);
  if (record === null) throw new Error("no profile");
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
      standing: ["reinstated"],
      date: "2026-08-10",
      gifts: true,
    };
    expect(await shown()).toEqual(given);
    // What is confirmed once more is no news.
    const again = await importing.run("irs-bmf", ["eo_aa.csv"], { asOf: "2026-09-14" });
    expect(again.changed).toBe(0);
    expect(await shown()).toEqual(given);
  },
);

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
  const report = await importing.run("irs-bmf", [later()], { asOf: "2026-08-10" });
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
  const file = later((text) => (cut === "" ? text : text.replace("000000103", cut)));
  await importing.run("irs-bmf", [file], { ...how, asOf: "2026-08-10" });
  expect((await about("000000102")).slice(0, 2)).toEqual(["revoked", "not deductible"]);
  expect(await scopesRead(importing.store)).toEqual(read);
});

test("a selection does not say that a register was read", async () => {
  await importing.run("irs-bmf", ["eo_aa.csv"], { scope: "none" });
  expect((await about("000000101"))[0]).toBe("registered");
  expect((await about("000000303"))[0]).toBe("unknown");
});

test("what left the list says nothing any more", async () => {
  await importing.run("irs-bmf", ["eo_aa.csv"]);
  await importing.run("irs-revocations", [revocations]);
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
