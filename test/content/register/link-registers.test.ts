import { describe, expect, test } from "bun:test";
import { decideReview, listReviews, reviewQueues } from "#api/operator/requests.ts";
import { mergeProfile, restoreProfile } from "#content/operator/change-profile.ts";
import { linkRegisters } from "#content/register/link-registers.ts";
import { recordLine } from "#content/nonprofit/record-line.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { anImporting, outcome } from "#test/support/importing.ts";
import { forEachTest } from "#test/support/at-file-top.ts";

const importing = forEachTest(anImporting);

const header =
  "org_id,name,postcode,active,date_registered,activities,objects,income,spending,fye,company_number,web,UKCAT,ICNPTSO";
type Row = Record<"id", string> &
  Partial<Record<"active" | "name" | "does" | "site" | "company" | "postcode", string>>;
const lineOf = ({ id, name = "LANTERN RESEARCH UK", does = "", ...row }: Row) =>
  `${id},${name},${row.postcode ?? "AA1 1AA"},${row.active ?? "True"},,${does},,,,,${row.company ?? ""},${row.site ?? "lantern.example"},,`;
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
const withdrawn = async () => (await everyone()).filter(({ status }) => status === "withdrawn");
/** The slug of the profile that was withdrawn in favour of another. */
const goneSlug = async () => (await withdrawn())[0]?.slug ?? "";
const lantern = () => record("lantern-research-uk");
/** The one profile that is listed. */
const onlyOne = async (): Promise<NonprofitRecord> => {
  const [kept, ...others] = await listed();
  if (kept === undefined || others.length > 0) throw new Error("not one");
  return kept;
};
const slugOf = async (orgId: string) =>
  (await everyone()).find((one) => orgIds(one).includes(orgId))?.slug ?? "";
const numbers = async () => (await listed()).map(orgIds);
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
  const saves = [{ before, after: { ...before, ...parts } }];
  await importing.store.write((tx) => saveNonprofits(tx, saves, { origin: "test", now: clock() }));
};
const waitingLinks = async () =>
  (await listReviews(context(), { kind: "link", limit: 10, after: undefined })).reviews;

describe("one organisation in two registers", () => {
  test.each([
    ["in one file", [[england, scotland]]],
    ["England first", [[england], [scotland]]],
    ["Scotland first", [[scotland], [england]]],
    [
      "from two towns",
      [
        [
          { ...england, postcode: "E1 1AA" },
          { ...scotland, postcode: "EH1 1AA" },
        ],
      ],
    ],
  ])("becomes one profile, %s, and a second run finds nothing to do", async (_, files) => {
    const reports = [];
    for (const rows of files) reports.push(await run(...rows));
    expect(reports.at(-1)).toMatchObject({ linked: 1, links_waiting: 0 });
    const kept = await onlyOne();
    expect(orgIds(kept)).toEqual([england.id, scotland.id]);
    expect(kept).toMatchObject({ mission: england.does, region: null, register_scope: "GB-CHC" });
    expect(await withdrawn()).toMatchObject([{ merged_into: kept.slug, registrations: [] }]);
    const linkedBy = toDetail(kept, "").registrations.map(({ linked_by }) => linked_by);
    expect(linkedBy).toEqual([undefined, "same_site_and_name"]);
    const changes = await importing.changes();
    expect(await run(...(files.at(-1) ?? []))).toMatchObject({ added: 0, changed: 0, linked: 0 });
    expect(await importing.changes()).toEqual(changes);
  });

  test("is one profile at once where three registers have it", async () => {
    expect(await run(england, northern, scotland)).toMatchObject({ linked: 2 });
    expect(orgIds(await onlyOne())).toHaveLength(3);
  });

  test("is one profile after a run that was stopped before it was linked, and the next", async () => {
    const others = Array.from({ length: 2_000 }, (_, at) => ({
      id: `GB-CHC-${200_000 + at}`,
      name: `HOUSE ${at}`,
      site: `house-${at}.example`,
    }));
    const rows = [...others, { ...england, id: "GB-CHC-999999" }, scotland].map(lineOf);
    const file = importing.file("uk.csv", [header, ...rows].join("\n"));
    const stop = new AbortController();
    const stopped = importing.run("ukcat", [file], {
      signal: stop.signal,
      // As a signal of the system arrives: between two turns of the event loop.
      onProgress: (step) => step === "linking" && setImmediate(() => stop.abort()),
    });
    expect(await outcome(stopped)).toContain("Run the same command again to finish");
    expect(await importing.run("ukcat", [file])).toMatchObject({ added: 0, linked: 1 });
  });

  test("is updated by the rows of both, each in what it said", async () => {
    await run(england, { ...scotland, does: "" });
    await edit("lantern-research-uk", { city: null });
    const again = await run(
      { ...england, name: "LANTERN RESEARCH" },
      { ...scotland, name: "LANTERNS SCOTLAND", does: "Something else." },
    );
    expect(again).toMatchObject({ added: 0, linked: 0 });
    const renamed = { name: "Lantern Research", mission: england.does, region: null };
    expect(await onlyOne()).toMatchObject({ slug: "lantern-research-uk", ...renamed });
    expect(await numbers()).toEqual([[england.id, scotland.id]]);
  });

  test("is found by a company's number that both registers quote, and by the same host or name", async () => {
    const ulster = { ...northern, name: "LANTERNS OF ULSTER", site: "" };
    await run({ ...england, company: "632080.0" }, { ...ulster, company: "NI632080" });
    expect(await listed()).toHaveLength(2);
    const renamed = { ...northern, name: england.id, site: "lantern.example/ni" };
    await run({ ...england, company: "NI632080" }, { ...renamed, company: "632080" });
    const linked = { org_id: northern.id, linked_by: "same_number" };
    expect((await onlyOne()).registrations[1]).toMatchObject(linked);
  });

  test("is named, and nothing written, by a check of the whole directory", async () => {
    await run(england);
    await run({ ...scotland, site: "" });
    await edit(await slugOf(scotland.id), { website: "https://lantern.example/scotland" });
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
  const choir = { name: "CHOIR", site: "" };
  const others = ["GB-CHC-1000009", "GB-SC-SC000009"].map((id) => ({ id, ...choir }));
  await run(england, scotland, ...others);
  const states = async () => {
    const { status, register_records } = await lantern();
    return [status, ...register_records.map(({ state }) => state)];
  };
  expect(await states()).toEqual(["listed", "registered", "registered"]);
  for (const [rows, ...after] of [
    [[scotland], "listed", "gone", "registered"],
    [[], "withdrawn", "gone", "gone"],
    [[scotland], "listed", "gone", "registered"],
    [[england], "listed", "registered", "gone"],
  ] as const) {
    await run(...rows, ...others);
    expect(await states()).toEqual(after);
  }
  expect(await importing.slugs()).toHaveLength(4);
});

test("an export from before a link does not undo it", async () => {
  await run({ ...scotland, site: "" }, england);
  const older = await exported();
  await run(scotland, england);
  await importing.run("ndjson", [importing.file("older.ndjson", older)]);
  expect(await run(scotland, england)).toMatchObject({ added: 0 });
  expect(await numbers()).toEqual([[england.id, scotland.id]]);
});

test("a copy of a directory links nothing that an operator keeps apart there", async () => {
  await run(england, scotland);
  await undo(await goneSlug());
  const file = importing.file("copy.ndjson", await exported());
  using copy = await anImporting();
  expect(await copy.run("ndjson", [file])).toMatchObject({ added: 2, linked: 0, links_waiting: 0 });
});

describe("an operator", () => {
  test("undoes a link, and it is never made again by itself", async () => {
    await run(england);
    await run({ ...scotland, site: "" });
    const before = await everyone();
    await run(england, scotland);
    const gone = await goneSlug();
    expect(await undo(gone)).toMatchObject({ ok: true, value: { change: "restored" } });
    const told = (some: NonprofitRecord[]) =>
      some.map(({ provenance: _p, website: _w, updated_at: _u, ...rest }) => rest);
    expect(told(await everyone())).toEqual(told(before));
    expect(await run(england, { ...scotland, does: "New words." })).toMatchObject({ linked: 0 });
    expect(await listed()).toHaveLength(2);
  });

  test("links what was undone again, and takes a value back that only the link brought", async () => {
    await run({ ...england, does: "" }, scotland);
    const gone = await goneSlug();
    await undo(gone);
    expect(await lantern()).toMatchObject({ mission: null });
    const asked = { slug: gone, operator: "ada", reason: "One after all." };
    const merged = await mergeProfile(context(), { ...asked, into: "lantern-research-uk" });
    expect(merged.ok).toBe(true);
    const linked = { org_id: scotland.id, linked_by: "operator" };
    expect((await lantern()).registrations[1]).toMatchObject(linked);
    await undo(gone);
    expect(await listed()).toHaveLength(2);
  });

  test("undoes a link in the middle of others, which go back with it", async () => {
    await run(northern, scotland);
    await run(england, northern, scotland);
    const gone = await withdrawn();
    expect(gone).toHaveLength(2);
    const counts = async () => (await numbers()).map(({ length }) => length).sort((a, b) => a - b);
    // The one to which the third was linked before England came.
    const middle = gone.find(({ id }) => id === 1)?.slug ?? "";
    await undo(middle);
    expect(await counts()).toEqual([1, 2]);
    const [third] = await withdrawn();
    expect(third?.merged_into).toBe(middle);
    await undo(third?.slug ?? "");
    expect(await counts()).toEqual([1, 1, 1]);
  });

  test("undoes links of three registers in any order, and each gives back what is still there", async () => {
    await run(northern, scotland);
    await run(england, northern, scotland);
    const kept = await onlyOne();
    expect(new Set(orgIds(kept))).toEqual(new Set([england.id, northern.id, scotland.id]));
    const gone = await withdrawn();
    expect(gone).toMatchObject([{ merged_into: kept.slug }, { merged_into: kept.slug }]);
    // What had been linked last holds the number of the other, too, as it was then.
    for (const { slug } of gone.toSorted((a, b) => b.id - a.id)) {
      expect(await undo(slug)).toMatchObject({ ok: true });
    }
    expect((await numbers()).map(({ length }) => length)).toEqual([1, 1, 1]);
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
    const queue = { kind: "link", waiting: 1, left_out: 0 } as const;
    expect(await reviewQueues(context(), "link")).toEqual([queue]);
    const [review] = await waitingLinks();
    const slug = "lantern-research-uk";
    expect(review).toMatchObject({ slug, detail: { keeps: slug } });
    const approval = { id: review?.id ?? "", operator: "ada", decision: "approved" } as const;
    const done = await decideReview(context(), approval);
    expect(done).toMatchObject({ ok: true, value: { slug } });
    expect(orgIds(await lantern())).toEqual([england.id, scotland.id]);
    expect(await reviewQueues(context(), "link")).toEqual([{ ...queue, waiting: 0 }]);
    expect(await decideReview(context(), approval)).toMatchObject({ ok: false });
  });

  test("may say that they are two", async () => {
    await run(england);
    const wallet = { usdc_wallet: "So11111111111111111111111111111111111111112" };
    await edit("lantern-research-uk", wallet);
    await run(england, scotland);
    const [review] = await waitingLinks();
    const deciding = { id: review?.id ?? "", operator: "ada", reason: "A branch." };
    expect((await decideReview(context(), { ...deciding, decision: "rejected" })).ok).toBe(true);
    await edit("lantern-research-uk", { usdc_wallet: null });
    expect(await run(england, { ...scotland, does: "New." })).toMatchObject({ linked: 0 });
    expect(await lantern()).toMatchObject({ status: "listed" });
  });
});
