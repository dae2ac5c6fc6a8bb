import { describe, expect, spyOn, test } from "bun:test";
import { openIndex } from "#site/browser/search/engine.ts";
import { lunr } from "#site/documents/lunr.ts";
import { slugOf } from "#content/nonprofit/slug.ts";
import { readOrgId } from "#content/register/org-id.ts";
import { organisationAnswer } from "#content/register/standing.ts";
import { knownByOrgId, scopesRead } from "#content/register/standing-store.ts";
import { saveScopes } from "#content/register/import-store.ts";
import type { RegisterRecord } from "#content/nonprofit/record.ts";
import type { Change } from "#content/nonprofit/changes-store.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { insertMany } from "#content/store/query.ts";
import { registerRecords } from "#content/store/tables/nonprofits.ts";
import { shardRowsMax, staleStanding, standing } from "#site/documents/standing.ts";
import { aChange, aNonprofit, aRegisterRecord, saveNew } from "#test/support/records.ts";

const row = (number: string, parts: Partial<RegisterRecord> = {}) => {
  const name = `Sample Society ${number} of the Friends of Register Numbers`;
  return aRegisterRecord({ org_id: `US-EIN-${number}`, name, scope: "HI", ...parts });
};

/** A store with this many numbers, most of them in a few dense parts as those of registers are. */
async function aStore(count: number): Promise<Store> {
  const opened = await openStore({ url: ":memory:" });
  const numberAt = (at: number) =>
    at % 3 === 0 ? (at * 7_919_333) % 1_000_000_000 : 830_000_000 + at * 37;
  const numbers = Array.from({ length: count }, (_, at) => String(numberAt(at)).padStart(9, "0"));
  const rows = [...new Set(numbers)].map((number) => row(number));
  await opened.write(async (tx) => {
    await insertMany(tx, registerRecords, rows);
    await saveScopes(tx, { register: "irs-bmf", asOf: { HI: "2026-04-14" }, now: new Date(0) });
  });
  return opened;
}

async function filesOf(from: Store): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for await (const keys of standing.all({ store: from })) {
    for (const { path, body } of await standing.render(keys, { store: from })) {
      if (body !== null) files.set(path, String(body));
    }
  }
  return files;
}

/** As docs/standing.md tells readers: at most two files, and how many bytes they took. */
function lookedUp(files: ReadonlyMap<string, string>, scheme: string, number: string) {
  const index = files.get("standing/index.json") ?? "";
  const { schemes, columns } = JSON.parse(index);
  let at = 0;
  while (schemes[scheme].split.includes(number.slice(0, at))) at += 1;
  const shard = files.get(`standing/${scheme}/${number.slice(0, at) || "all"}.json`) ?? "{}";
  const found: unknown[] | undefined = (JSON.parse(shard).organisations ?? []).find(
    ([own]: string[]) => own === number,
  );
  return {
    bytes: Buffer.byteLength(index + shard),
    found: found && Object.fromEntries(found.map((cell, nth) => [columns[nth], cell])),
  };
}

/** Brings the files up to date after changes, as the list job does: they are those made of the whole store again. */
async function follow(from: Store, files: Map<string, string>, changes: Change[]) {
  const keys = await staleStanding(from, changes, [...files.keys()]);
  for (const { path, body } of await standing.render(keys, { store: from })) {
    if (body === null) files.delete(path);
    else files.set(path, String(body));
  }
  expect(Object.fromEntries(files)).toEqual(Object.fromEntries(await filesOf(from)));
  return keys;
}

test("every number is found in two files of less than 100 kB, and no other", async () => {
  using store = await aStore(12_000);
  const files = await filesOf(store);
  const { rows } = await store.raw.execute("SELECT org_id FROM register_records");
  const numbers = rows.map(({ org_id }) => String(org_id).slice("US-EIN-".length));
  const looked = numbers
    .filter((_, at) => at % 97 === 0)
    .map((one) => lookedUp(files, "US-EIN", one));
  expect(looked.every(({ found }) => found?.["standing"] === "registered")).toBe(true);
  expect(Math.max(...looked.map(({ bytes }) => bytes))).toBeLessThan(100_000);
  expect(lookedUp(files, "US-EIN", "999999998").found).toBeUndefined();
  const held = [...files.values()].flatMap((text) => JSON.parse(text).organisations ?? []);
  expect(held).toHaveLength(numbers.length);
  // The same store gives the same bytes.
  expect(Bun.deepEquals(await filesOf(store), files)).toBe(true);
});

test("says the same as the service, of numbers with and without a row", async () => {
  using store = await openStore({ url: ":memory:" });
  const dates = { HI: "2026-04-14", GU: "2026-02-10" };
  const records = [
    row("990305781"),
    // A selection that is newer than the last whole file, and a part that was never read whole.
    row("990305782", { as_of: "2026-05-12" }),
    row("990305783", { scope: "AK", state: "gone" }),
    row("990305784", { register: "irs-revocations", state: "revoked", scope: "US" }),
  ];
  await store.write(async (tx) => {
    await insertMany(tx, registerRecords, records);
    await saveScopes(tx, { register: "irs-bmf", asOf: dates, now: new Date(0) });
    const english = { "GB-CHC": "2026-03-01" };
    await saveScopes(tx, { register: "ukcat", asOf: english, now: new Date(0) });
  });
  const files = await filesOf(store);
  const { schemes } = JSON.parse(files.get("standing/index.json") ?? "");
  const scopes = await scopesRead(store);
  for (const text of ["99-0305781", "99-0305782", "99-0305783", "99-0305784", "99-0305785"]) {
    const read = readOrgId(text);
    if (!read.ok) throw new Error(text);
    const [known] = await knownByOrgId(store, [read.value.org_id]);
    if (known === undefined) throw new Error(text);
    const answer = organisationAnswer(read.value, known, { scopes, baseUrl: "" });
    const { value, register, as_of } = answer.standing;
    const { found } = lookedUp(files, "US-EIN", text.replace("-", ""));
    const expected = { standing: value, register, as_of };
    expect(found ?? schemes["US-EIN"].unlisted).toMatchObject(expected);
  }
  expect(schemes["GB-CHC"].unlisted).toMatchObject({ standing: "not listed", register: "ukcat" });
  expect(schemes["GB-SC"].unlisted).toMatchObject({ standing: "unknown", as_of: null });
});

describe("a shard goes stale", () => {
  const aProfile = (number: string) => {
    const read = readOrgId(number);
    if (!read.ok) throw new Error(number);
    return aNonprofit({ slug: "a", registrations: [read.value] });
  };
  const add = (to: Store, number: string) => saveNew(to, aProfile(number));

  test("alone, when one organisation changes, and not for what it does not show", async () => {
    using store = await aStore(2_000);
    await add(store, "83-0000037");
    const held = [...(await filesOf(store)).keys()];
    const stale = await staleStanding(store, [aChange({})], held);
    expect(stale).toHaveLength(1);
    const [file] = await standing.render(stale, { store });
    expect(String(file?.body)).toContain('"830000037"');
    expect(await staleStanding(store, [aChange({ fields: ["mission"] })], held)).toEqual([]);
  });

  test("with all others and the index, when registers were read", async () => {
    using store = await aStore(2_000);
    const held = [...(await filesOf(store)).keys()];
    const read = aChange({ nonprofit_id: null, kind: "directory", fields: ["registers_read"] });
    const stale = await staleStanding(store, [read], held);
    expect(stale).toHaveLength(held.length);
    expect(stale).toContain("standing index");
  });

  test("with what came and went, when it is split", async () => {
    using store = await aStore(0);
    const few = Array.from({ length: shardRowsMax }, (_, at) =>
      row(String(830_000_000 + at * 997_001)),
    );
    await store.write((tx) => insertMany(tx, registerRecords, few));
    const before = await filesOf(store);
    const paths = ["standing/US-EIN/all.json", "standing/index.json"];
    expect([...before.keys()].toSorted()).toEqual(paths);
    await add(store, "53-0196605");
    const after = new Map(before);
    await follow(store, after, [aChange({})]);
    expect(after.has("standing/US-EIN/all.json")).toBe(false);
    const profile = { slug: "a", standing: "not listed" };
    expect(lookedUp(after, "US-EIN", "530196605").found).toMatchObject(profile);
  });
});

describe("with too many profiles for indexes of words", () => {
  const names = [
    "Friends of the Library",
    ...Array.from({ length: 700 }, (_, at) => `Friends of the Library ${at + 2}`),
    ...Array.from({ length: 40 }, (_, at) => `Well ${at}`),
  ];
  const saveAll = async (to: Store, added: readonly string[]) => {
    const place = { city: "Oslo", country_code: "NO" };
    await saveNew(to, ...added.map((name) => aNonprofit({ name, slug: slugOf(name), ...place })));
    await to.raw.execute("UPDATE list_totals SET members = 60000 WHERE list = 'all'");
  };
  /** A store that counts as a large one. */
  const aLargeStore = async () => {
    const large = await openStore({ url: ":memory:" });
    await saveAll(large, names);
    return large;
  };

  test("each name is found by its beginning, in two small files", async () => {
    using large = await aLargeStore();
    const files = await filesOf(large);
    const fetched = spyOn(globalThis, "fetch").mockImplementation(((path: string) => {
      const body = files.get(path.slice(1));
      return Promise.resolve(new Response(body ?? "", { status: body === undefined ? 404 : 200 }));
    }) as typeof fetch);
    const index = await openIndex();
    const found = async (words: string) => (await index.find(words, {})).items(0, 1_000);
    for (const name of names.filter((_, at) => at % 50 === 0)) {
      expect((await found(name)).map(({ title }) => title)).toContain(name);
    }
    expect(await found("Friends of the Library 701")).toEqual([
      {
        url: "/nonprofits/friends-of-the-library-701",
        title: "Friends of the Library 701",
        note: "Oslo, Norway",
        line: "",
      },
    ]);
    expect((await found("wéll 3")).length).toBe(11);
    expect(await found("no such name")).toEqual([]);
    fetched.mockRestore();
    const held = [...files].filter(([path]) => path.startsWith("standing/NAME/"));
    const rows = held.map(([, text]) => JSON.parse(text).organisations.length as number);
    expect(Math.max(...rows)).toBeLessThanOrEqual(shardRowsMax);
    expect(rows.reduce((sum, count) => sum + count, 0)).toBe(names.length);
    for await (const keys of lunr.all({ store: large })) expect(keys).toEqual([]);
  });

  test("a change renews one file, and those that come and go are as made anew", async () => {
    using large = await aLargeStore();
    const held = new Map(await filesOf(large));
    await large.raw.execute("UPDATE nonprofits SET status = 'withdrawn' WHERE slug = 'well-7'");
    expect(await follow(large, held, [aChange({ slug: "well-7", kind: "withdrawn" })])).toEqual([
      "standing NAME-w",
    ]);
    expect(held.get("standing/NAME/w.json")).not.toContain("well-7");
    // So many wells that their file is split.
    const added = Array.from({ length: 600 }, (_, at) => `Well ${at + 100}`);
    await saveAll(large, added);
    await follow(
      large,
      held,
      added.map((name, at) => aChange({ slug: slugOf(name), kind: "added", nonprofit_id: at })),
    );
    expect(held.has("standing/NAME/w.json")).toBe(false);
    expect(held.has("standing/NAME/well-1.json")).toBe(true);
    // With fewer profiles there are indexes of words again.
    await large.raw.execute("UPDATE list_totals SET members = 400 WHERE list = 'all'");
    await follow(large, held, [aChange({ slug: "well-8" })]);
    expect([...held.keys()]).toEqual(["standing/index.json"]);
  });
});
