import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { type NonprofitRecord, sourceFrom } from "#content/nonprofit/record.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import type { ImportReport } from "#content/register/import-store.ts";
import { exportTables } from "#content/store/move.ts";
import { anImporting, registerFile, type TestImporting } from "#test/support/importing.ts";
import { isFull } from "#test/support/measured.ts";

type Step = (importing: TestImporting) => Promise<ImportReport | void>;

const setDigests = ({ store }: TestImporting, to: string) =>
  store.raw.execute(`UPDATE register_records SET row_digest = ${to}`);
const forget = (importing: TestImporting) => setDigests(importing, "NULL");

const imports =
  (format: string, files: string[], more: Parameters<TestImporting["run"]>[2] = {}): Step =>
  (importing) =>
    importing.run(format, files, more);
const aa = imports("irs-bmf", ["eo_aa.csv"]);
const pub78 = imports("irs-pub78", ["data-download-pub78.txt"]);
const revocations = imports("irs-revocations", ["data-download-revocation.txt"]);

/** An import of the file with some rows changed, or left out. */
const edited =
  (edit: (line: string) => string | null, skipBad: boolean): Step =>
  (importing) => {
    const [header, ...lines] = readFileSync(registerFile("eo_aa.csv"), "utf8").trim().split("\n");
    const text = [header, ...lines.flatMap((line) => edit(line) ?? [])].join("\n");
    return importing.run("irs-bmf", [importing.file("edited.csv", `${text}\n`)], { skipBad });
  };
const row = (ein: string, edit: (line: string) => string | null, skipBad = false) =>
  edited((line) => (line.startsWith(ein) ? edit(line) : line), skipBad);

/** A save of a profile, by whomever. */
const saved =
  (slug: string, change: (before: NonprofitRecord) => Partial<NonprofitRecord>): Step =>
  async (importing) => {
    const before = await importing.record(slug);
    if (before === null) throw new Error(slug);
    const saves = [{ before, after: { ...before, ...change(before) } }];
    const context = { origin: "review", now: new Date(2) };
    await importing.store.write((tx) => saveNonprofits(tx, saves, context));
  };
const bank = "mcalder-food-bank-inc";
const by = (set_by: "consensus" | "operator", value: Partial<NonprofitRecord>) =>
  saved(bank, ({ provenance }) => {
    const names = Object.keys(value);
    const from = Object.fromEntries(names.map((name) => [name, sourceFrom(set_by, 1)]));
    return { ...value, provenance: { ...provenance, ...from } };
  });
const linked = saved(bank, ({ registrations }) => {
  const number = { country_code: "US", type: "EIN", registration_number: "00-0000201" };
  const other = { ...number, org_id: "US-EIN-000000201", linked_by: "operator" as const };
  return { registrations: [...registrations, other] };
});

const textOf = async ({ store }: TestImporting) => {
  let text = "";
  for await (const lines of exportTables(store)) text += lines;
  return text;
};

const noteAgain = (...steps: Step[]): Step[] => steps.flatMap((step) => [step, aa]);

// Each story is told to two directories, one of which forgets its digests before each step.
test.each<[story: string, ...steps: Step[]]>([
  [
    "rows that change, go and come back",
    ...noteAgain(
      aa,
      row("000000101", (line) => line.replace("K31", "P20")),
      row("000000101", () => null),
      // It has no profile.
      row("000000108", () => null),
      // One loses its profile, and one gets one.
      row("000000101", (l) => l.replace(",15,", ",04,")),
      row("000000107", (l) => l.replace(",04,", ",15,")),
      // Another part, and twice.
      row("000000101", (line) => line.replace(",NV,", ",UT,")),
      row("000000101", (line) => `${line}\n${line}`, true),
      imports("irs-bmf", ["eo_aa.csv"], { checkOnly: true }),
    ),
  ],
  [
    "what people say: agents agree, clear, withdraw; an operator edits, withdraws",
    ...noteAgain(
      by("consensus", { city: "Truehaven" }),
      saved(bank, () => ({ city: null, provenance: {} })),
      // No one holds it.
      saved(bank, () => ({ status: "withdrawn" })),
      by("operator", { name: "True Bank" }),
      by("operator", { status: "withdrawn" }),
    ),
  ],
  ["lists beside it", pub78, aa, imports("irs-990", ["missions_990.csv"]), aa, pub78],
  [
    "a revocation, and a later file",
    revocations,
    aa,
    imports("irs-bmf", ["eo_aa.csv"], { asOf: "2026-08-15" }),
    imports("irs-bmf", ["eo_aa.csv"], { asOf: "2026-09-15" }),
  ],
  [
    "two rows of one profile",
    linked,
    imports("irs-bmf", ["eo_aa.csv", "eo_bb.csv"]),
    imports("irs-bmf", ["eo_bb.csv", "eo_aa.csv"]),
    imports("irs-bmf", ["eo_bb.csv"]),
  ],
])("%s: digests make no difference", async (_, ...steps) => {
  for (const first of isFull ? [pub78, revocations, null] : [null]) {
    using one = await anImporting();
    using other = await anImporting();
    for (const step of [...(first === null ? [] : [first]), aa, ...steps]) {
      await forget(other);
      const told = await step(one);
      const wanted = await step(other);
      expect(withoutTime(told)).toEqual(withoutTime(wanted));
    }
    for (const each of [one, other]) await forget(each);
    expect(await textOf(one)).toBe(await textOf(other));
  }
});

const withoutTime = (report: ImportReport | void) => ({ ...report, seconds: 0 });

/** The digests that are known, by the end of the org-id. */
const digestsIn = async ({ store }: TestImporting) => {
  const { rows } = await store.raw.execute(
    "SELECT org_id, row_digest FROM register_records WHERE row_digest IS NOT NULL",
  );
  return new Map(rows.map((one) => [String(one["org_id"]).slice(-3), Number(one["row_digest"])]));
};
const numbers = ["101", "102", "103", "104", "105", "106", "107", "108", "109"];

/** How many rows a re-import looks at. */
async function lookedAt(importing: TestImporting): Promise<number> {
  let most = -1;
  const onProgress = (step: string, _: number, total: number) => {
    if (step === "applying") most = total;
  };
  const report = await importing.run("irs-bmf", ["eo_aa.csv"], { onProgress });
  expect(report).toMatchObject({ unchanged: 7, recorded: 2, added: 0, changed: 0 });
  return most;
}

test.each([true, false])("the first import notes digests, filled alone: %p", async (alone) => {
  using importing = await anImporting({ alone });
  await aa(importing);
  expect([...(await digestsIn(importing)).keys()].toSorted()).toEqual(numbers);
  const changes = await importing.changes();
  expect(await lookedAt(importing)).toBe(0);
  expect(await importing.changes()).toEqual(changes);
});

test("what changes a profile ends its digests, and a re-import notes them again without a trace", async () => {
  using importing = await anImporting();
  await aa(importing);
  const first = await digestsIn(importing);
  await by("consensus", { mission: "Food for all." })(importing);
  expect([...(await digestsIn(importing)).keys()].toSorted()).toEqual(numbers.slice(1));
  const changes = await importing.changes();
  const before = await importing.record(bank);
  expect(await lookedAt(importing)).toBe(1);
  expect(await digestsIn(importing)).toEqual(first);
  expect(await importing.changes()).toEqual(changes);
  expect(await importing.record(bank)).toEqual(before);
  // Those of another version are none.
  await setDigests(importing, "row_digest - 1");
  expect(await lookedAt(importing)).toBe(9);
  expect(await digestsIn(importing)).toEqual(first);
});

test("a revocation and a profile with two registrations have none", async () => {
  using importing = await anImporting();
  for (const step of [aa, revocations, linked, aa]) await step(importing);
  expect([...(await digestsIn(importing)).keys()].toSorted()).toEqual(numbers.slice(2));
});
