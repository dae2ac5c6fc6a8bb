import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { decideReview, listReviews, reviewQueues } from "#api/operator/requests.ts";
import { restoreProfile } from "#content/operator/change-profile.ts";
import { mergeProfile } from "#content/operator/change-profile.ts";
import { linkRegisters } from "#content/register/link-registers.ts";
import { recordLine } from "#content/nonprofit/record-line.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { anImporting, type TestImporting } from "#test/support/importing.ts";

let importing: TestImporting;
beforeEach(async () => {
  importing = await anImporting();
});
afterEach(() => importing.close());

const header =
  "org_id,name,postcode,active,date_registered,activities,objects,income,spending,fye,company_number,web,UKCAT,ICNPTSO";
type Row = {
  id: string;
  active?: string;
  name?: string;
  does?: string;
  site?: string;
  company?: string;
};
const lineOf = ({ id, name = "LANTERN RESEARCH UK", does = "", ...row }: Row) =>
  `${id},${name},AA1 1AA,${row.active ?? "True"},,${does},,,,,${row.company ?? ""},${row.site ?? "lantern.example"},,`;
const run = (...rows: Row[]) => {
  const file = importing.file("uk.csv", [header, ...rows.map(lineOf)].join("\n"));
  return importing.run("ukcat", [file]);
};
const england = { id: "GB-CHC-1000001", does: "We research lanterns in all their forms." };
const scotland = { id: "GB-SC-SC000001", does: "Research on lanterns." };
const record = async (slug: string): Promise<NonprofitRecord> => {
  const found = await importing.record(slug);
  if (found === null) throw new Error(`no ${slug}`);
  return found;
};
const everyone = async () =>
  Promise.all((await importing.slugs()).toSorted().map((slug) => record(slug)));
/** The slug of the profile that was withdrawn in favour of another. */
const goneSlug = async () =>
  (await everyone()).find(({ status }) => status === "withdrawn")?.slug ?? "";
const undo = (slug: string) =>
  restoreProfile(context(), { slug, operator: "ada", reason: "Two charities." });
const northern = { id: "GB-NIC-100001" };
const listed = async () => (await everyone()).filter(({ status }) => status !== "withdrawn");
const orgIds = ({ registrations }: NonprofitRecord) => registrations.map(({ org_id }) => org_id);
const exported = async () =>
  (await everyone()).map((one) => recordLine(one, { contactEmails: true })).join("\n");
const clock = () => new Date("2026-06-02T12:00:00Z");
const context = () => ({
  store: importing.store,
  clock,
  curated: { lookAgain: () => undefined },
  config: { walletHoldMs: 0, walletApprovals: 1 as const },
});
const edit = async (slug: string, parts: Partial<NonprofitRecord>) => {
  const before = await record(slug);
  await importing.store.write((tx) =>
    saveNonprofits(tx, [{ before, after: { ...before, ...parts } }], {
      origin: "test",
      now: clock(),
    }),
  );
};

describe("one organisation in two registers", () => {
  test.each([
    ["in one file", [[england, scotland]]],
    ["England first", [[england], [scotland]]],
    ["Scotland first", [[scotland], [england]]],
  ])("becomes one profile, %s, and a second run finds nothing to do", async (_, files) => {
    const reports = [];
    for (const rows of files) reports.push(await run(...rows));
    expect(reports.at(-1)).toMatchObject({ linked: 1, links_waiting: 0 });
    const [kept, ...others] = await listed();
    expect(others).toEqual([]);
    if (kept === undefined) throw new Error("none");
    expect(orgIds(kept)).toEqual([england.id, scotland.id]);
    expect(kept).toMatchObject({ mission: england.does, region: null, register_scope: "GB-CHC" });
    const [gone] = (await everyone()).filter(({ status }) => status === "withdrawn");
    expect(gone).toMatchObject({ merged_into: kept.slug, registrations: [] });
    expect(toDetail(kept, "").registrations.map(({ linked_by }) => linked_by)).toEqual([
      undefined,
      "same_site_and_name",
    ]);
    const changes = await importing.changes();
    expect(await run(...(files.at(-1) ?? []))).toMatchObject({ added: 0, changed: 0, linked: 0 });
    expect(await importing.changes()).toEqual(changes);
  });

  test("is updated by the rows of both, each in what it said", async () => {
    await run(england, { ...scotland, does: "" });
    await edit("lantern-research-uk", { city: null });
    const again = await run(
      { ...england, name: "LANTERN RESEARCH" },
      { ...scotland, name: "LANTERNS SCOTLAND", does: "Something else." },
    );
    expect(again).toMatchObject({ added: 0, linked: 0 });
    const kept = await record("lantern-research-uk");
    expect(kept).toMatchObject({ name: "Lantern Research", mission: england.does, region: null });
    expect(orgIds(kept)).toEqual([england.id, scotland.id]);
    expect(await listed()).toHaveLength(1);
  });

  test("is found by a company's number that both registers quote, and by the same host or name", async () => {
    const ulster = { ...northern, name: "LANTERNS OF ULSTER", site: "" };
    await run({ ...england, company: "632080.0" }, { ...ulster, company: "NI632080" });
    expect(await listed()).toHaveLength(2);
    const renamed = {
      ...northern,
      name: england.id,
      site: "lantern.example/ni",
      company: "632080",
    };
    await run({ ...england, company: "NI632080" }, renamed);
    const [kept, ...others] = await listed();
    expect(others).toEqual([]);
    expect(kept?.registrations[1]).toMatchObject({ org_id: northern.id, linked_by: "same_number" });
  });

  test("is named, and nothing written, by a check of the whole directory", async () => {
    await run(england);
    await run({ ...scotland, site: "" });
    const slug = (await everyone()).find(({ registrations }) =>
      registrations.some(({ org_id }) => org_id === scotland.id),
    )?.slug;
    await edit(slug ?? "", { website: "https://lantern.example/scotland" });
    const linking = { store: importing.store, clock, signal: new AbortController().signal };
    const found = await linkRegisters({ ...linking, checkOnly: true }, null, () => {});
    expect(found).toMatchObject([{ kept: { slug: "lantern-research-uk" }, waits: false }]);
    expect(await listed()).toHaveLength(2);
    expect(await linkRegisters(linking, null, () => {})).toHaveLength(1);
    expect(await listed()).toHaveLength(1);
    expect(await linkRegisters(linking, null, () => {})).toEqual([]);
  });
});

test("a profile stays while one of its registers has it, and comes back with either", async () => {
  const others = ["GB-CHC-1000009", "GB-SC-SC000009"].map((id) => ({
    id,
    name: `CHOIR ${id.slice(-3)}`,
    site: "",
  }));
  await run(england, scotland, ...others);
  const states = async () => {
    const { status, register_records } = await record("lantern-research-uk");
    return [status, ...register_records.map(({ state }) => state)];
  };
  expect(await states()).toEqual(["listed", "registered", "registered"]);
  await run(scotland, ...others);
  expect(await states()).toEqual(["listed", "gone", "registered"]);
  await run(...others);
  expect(await states()).toEqual(["withdrawn", "gone", "gone"]);
  await run(scotland, ...others);
  expect(await states()).toEqual(["listed", "gone", "registered"]);
  await run(england, ...others);
  expect(await states()).toEqual(["listed", "registered", "gone"]);
  expect(await importing.slugs()).toHaveLength(4);
});

test("an export from before a link does not undo it", async () => {
  await run({ ...scotland, site: "" }, england);
  const older = await exported();
  await run(scotland, england);
  await importing.run("ndjson", [importing.file("older.ndjson", older)]);
  expect(await run(scotland, england)).toMatchObject({ added: 0 });
  expect((await listed()).map(orgIds)).toEqual([[england.id, scotland.id]]);
});

test("a copy of a directory links nothing that an operator keeps apart there", async () => {
  await run(england, scotland);
  await undo(await goneSlug());
  const file = importing.file("copy.ndjson", await exported());
  const copy = await anImporting();
  expect(await copy.run("ndjson", [file])).toMatchObject({ added: 2, linked: 0, links_waiting: 0 });
  copy.close();
});

describe("an operator", () => {
  test("undoes a link, and it is never made again by itself", async () => {
    await run(england);
    await run({ ...scotland, site: "" });
    const before = await everyone();
    await run(england, scotland);
    const gone = await goneSlug();
    expect(await undo(gone)).toMatchObject({ ok: true, value: { change: "restored" } });
    const after = await everyone();
    const shapes = (some: NonprofitRecord[]) =>
      some.map(({ slug, status, registrations, register_records, ...other }) => ({
        slug,
        register_records,
        status,
        registrations,
        register_scope: other.register_scope,
        mission: other.mission,
        merged_into: other.merged_into,
      }));
    expect(shapes(after)).toEqual(shapes(before));
    expect(await run(england, { ...scotland, does: "New words." })).toMatchObject({ linked: 0 });
    expect(await listed()).toHaveLength(2);
  });

  test("links what was undone again, and takes a value back that only the link brought", async () => {
    await run({ ...england, does: "" }, scotland);
    const gone = await goneSlug();
    await undo(gone);
    expect(await record("lantern-research-uk")).toMatchObject({ mission: null });
    const asked = { slug: gone, operator: "ada", reason: "One after all." };
    const merged = await mergeProfile(context(), { ...asked, into: "lantern-research-uk" });
    expect(merged.ok).toBe(true);
    expect((await record("lantern-research-uk")).registrations[1]).toMatchObject({
      org_id: scotland.id,
      linked_by: "operator",
    });
    await undo(gone);
    expect(await listed()).toHaveLength(2);
  });

  test("undoes a link in the middle of others, which go back with it", async () => {
    await run(northern, scotland);
    await run(england, northern, scotland);
    const slugOf = async (orgId: string) =>
      (await everyone()).find((one) => orgIds(one).includes(orgId))?.slug ?? "";
    const kept = await slugOf(england.id);
    const gone = (await everyone()).filter(({ merged_into }) => merged_into === kept);
    expect(gone).toHaveLength(2);
    const counts = async () =>
      (await listed()).map((one) => orgIds(one).length).sort((a, b) => a - b);
    // The one to which the third was linked before England came.
    const middle = gone.find(({ id }) => id === 1);
    await undo(middle?.slug ?? "");
    expect(await counts()).toEqual([1, 2]);
    const third = (await everyone()).find(({ status }) => status === "withdrawn");
    expect(third?.merged_into).toBe(middle?.slug ?? "");
    await undo(third?.slug ?? "");
    expect(await counts()).toEqual([1, 1, 1]);
  });

  test("undoes links of three registers in any order, and each gives back what is still there", async () => {
    await run(northern, scotland);
    await run(england, northern, scotland);
    const [kept, ...others] = await listed();
    expect(others).toEqual([]);
    expect(new Set(kept && orgIds(kept))).toEqual(new Set([england.id, northern.id, scotland.id]));
    const gone = (await everyone()).filter(({ status }) => status === "withdrawn");
    expect(gone.map(({ merged_into }) => merged_into)).toEqual([
      kept?.slug ?? "",
      kept?.slug ?? "",
    ]);
    // What had been linked last holds the number of the other, too, as it was then.
    for (const { slug } of gone.toSorted((a, b) => b.id - a.id)) {
      expect(await undo(slug)).toMatchObject({ ok: true });
    }
    expect((await listed()).map((one) => orgIds(one).length)).toEqual([1, 1, 1]);
    const again = [northern, scotland, england].map((one) => ({ ...one, does: "New." }));
    expect(await run(...again)).toMatchObject({ linked: 0 });
  });

  test("undoes a link, but lists nothing that its register has removed unless asked again", async () => {
    await run(england, scotland);
    await run(england, { ...scotland, active: "False" });
    const gone = await goneSlug();
    const undone = await undo(gone);
    expect(undone).toMatchObject({ ok: true, value: { fields: ["merged_into", "registrations"] } });
    expect(undone.ok && undone.value.message).toContain("stays withdrawn");
    expect(await record(gone)).toMatchObject({ status: "withdrawn", merged_into: null });
    expect(orgIds(await record(gone))).toEqual([scotland.id]);
    await undo(gone);
    expect(await listed()).toHaveLength(2);
  });

  test("is asked where a profile belongs to its organisation", async () => {
    await run(england);
    await edit("lantern-research-uk", { verified: 1, status: "claimed" });
    expect(await run(england, scotland)).toMatchObject({ linked: 0, links_waiting: 1 });
    expect(await run(england, scotland)).toMatchObject({ linked: 0, links_waiting: 0 });
    expect(await listed()).toHaveLength(2);
    expect(await reviewQueues(context(), "link")).toEqual([
      { kind: "link", waiting: 1, left_out: 0 },
    ]);
    const { reviews } = await listReviews(context(), { kind: "link", limit: 10, after: undefined });
    const [review] = reviews;
    expect(review).toMatchObject({
      slug: "lantern-research-uk",
      detail: { keeps: "lantern-research-uk" },
    });
    const deciding = { id: review?.id ?? "", operator: "ada" };
    const done = await decideReview(context(), { ...deciding, decision: "approved" });
    expect(done).toMatchObject({ ok: true, value: { slug: "lantern-research-uk" } });
    expect(orgIds(await record("lantern-research-uk"))).toEqual([england.id, scotland.id]);
    expect(await reviewQueues(context(), "link")).toEqual([
      { kind: "link", waiting: 0, left_out: 0 },
    ]);
    expect(await decideReview(context(), { ...deciding, decision: "approved" })).toMatchObject({
      ok: false,
    });
  });

  test("may say that they are two", async () => {
    await run(england);
    await edit("lantern-research-uk", {
      usdc_wallet: "So11111111111111111111111111111111111111112",
    });
    await run(england, scotland);
    const { reviews } = await listReviews(context(), { kind: "link", limit: 10, after: undefined });
    const deciding = { id: reviews[0]?.id ?? "", operator: "ada", reason: "A branch." };
    expect((await decideReview(context(), { ...deciding, decision: "rejected" })).ok).toBe(true);
    await edit("lantern-research-uk", { usdc_wallet: null });
    expect(await run(england, { ...scotland, does: "New." })).toMatchObject({ linked: 0 });
    expect(await recordBySlug(importing.store, "lantern-research-uk")).toMatchObject({
      status: "listed",
    });
  });
});
