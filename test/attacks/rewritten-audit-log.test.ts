import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { loadSecrets } from "#api/secrets.ts";
import { readConfig } from "#api/config.ts";
import { openSigner, type PublicKey } from "#content/feed/signing-keys.ts";
import { noteSigningKeys } from "#content/feed/store.ts";
import {
  logOperator,
  readAudit,
  AuditHeads,
  auditHeadsFact,
  hashOfEntry,
  headsWithDay,
  verifyAudit,
} from "#content/operation/audit-store.ts";
import { directoryFact } from "#content/store/facts.ts";
import { type Store } from "#content/store/open.ts";
import { auditLog } from "#content/store/tables/operations.ts";
import { turnDay } from "#scripts/publish/watch.ts";
import { openBlankStore } from "#test/support/blank-store.ts";
import { runScript } from "#test/support/processes.ts";
import { aSigningKey } from "#test/support/publisher.ts";
import { aFolder, forEachTest } from "#test/support/at-file-top.ts";

const folder = forEachTest(aFolder);

// Somebody with the store's file wants a decision to look like another's, or never made.
let store: Store;
beforeEach(async () => {
  store = await openBlankStore(`file:${folder("store.db")}`);
});
afterEach(() => {
  store.close();
});

const log = async (...subjects: string[]) => {
  for (const subject of subjects) {
    const detail = { reason: 'ß \u2028 "quoted"', nested: { b: 1, a: [1, 2.5, null] } };
    await store.write((tx) =>
      logOperator(tx, { operator: "ada", action: "review.approved", subject, detail, at: 1_000 }),
    );
  }
};
const sql = (statement: string, args: (string | number)[] = []) =>
  store.write((tx) => tx.raw.execute({ sql: statement, args }));
/** Anyone who may write to the file may do this first. */
const withoutTriggers = async () => {
  for (const end of ["changed", "shortened", "replaced"]) {
    await sql(`DROP TRIGGER audit_log_is_not_${end}`);
  }
};
/** Makes the whole chain again, as somebody would who knows how it is made. */
const chainAgain = async () => {
  const entries = await store.db.select().from(auditLog).orderBy(auditLog.id);
  let previous = "";
  for (const { id, detail, ...entry } of entries) {
    const hash = hashOfEntry(previous, { ...entry, id, detail: JSON.stringify(detail) });
    const chained = "UPDATE audit_log SET previous_hash = ?, hash = ? WHERE id = ?";
    await sql(chained, [previous, hash, id]);
    previous = hash;
  }
};
const problems = async (heads: AuditHeads["heads"] = []) =>
  (await verifyAudit(store, heads)).faults.map(({ id, problem }) => `${id} ${problem}`);

test("INSERT OR REPLACE, UPDATE and DELETE are refused by the store", async () => {
  await log("one", "two");
  const values = "VALUES (1, 'eve', 'review.rejected', 'x', '{}', 1000)";
  const columns = "(id, operator, action, subject, detail, happened_at)";
  for (const statement of [
    `INSERT OR REPLACE INTO audit_log ${columns} ${values}`,
    `REPLACE INTO audit_log ${columns} ${values}`,
    `INSERT INTO audit_log ${columns} ${values} ON CONFLICT (id) DO UPDATE SET operator = 'eve'`,
    "UPDATE audit_log SET operator = 'eve'",
    "UPDATE audit_log SET hash = ''",
    "DELETE FROM audit_log",
  ]) {
    expect(await sql(statement).then(String, String)).toContain("audit log");
  }
  expect(await problems()).toEqual([]);
  expect((await readAudit({ store }, { limit: 5 })).entries).toHaveLength(2);
});

describe("where the triggers were taken away, the chain shows", () => {
  beforeEach(async () => {
    await log("one", "two", "three", "four");
    await withoutTriggers();
  });
  test.each([
    ["a changed word", "UPDATE audit_log SET operator = 'eve' WHERE id = 2", ["2 was changed"]],
    ["a changed time", "UPDATE audit_log SET happened_at = 999 WHERE id = 4", ["4 was changed"]],
    ["a changed detail", "UPDATE audit_log SET detail = '{}' WHERE id = 1", ["1 was changed"]],
    ["a hash taken out", "UPDATE audit_log SET hash = '' WHERE id = 4", ["4 was changed"]],
    [
      "a deletion in the middle",
      "DELETE FROM audit_log WHERE id IN (2, 3)",
      ["4 follows entry 1: those between are missing"],
    ],
    [
      "a deletion at the end",
      "DELETE FROM audit_log WHERE id > 2",
      ["4 is missing, with all after entry 2"],
    ],
    ["all of it gone", "DELETE FROM audit_log", ["4 is missing, with all after entry 0"]],
    [
      "a replaced entry",
      "INSERT OR REPLACE INTO audit_log VALUES (4, 'eve', 'x', 'y', '{}', 1, '', '')",
      ["4 does not follow the entry before"],
    ],
  ])("%s", async (_, statement, found) => {
    expect(await problems()).toEqual([]);
    await sql(statement);
    expect(await problems()).toEqual(found);
  });

  test("a replaced entry with a hash that fits it", async () => {
    const eve = { id: 2, operator: "eve", action: "x", subject: "y", detail: "{}", happened_at: 1 };
    const [before] = (await sql("SELECT hash FROM audit_log WHERE id = 1")).rows;
    const previous = String(before?.["hash"]);
    const replacing = "INSERT OR REPLACE INTO audit_log VALUES (2, 'eve', 'x', 'y', '{}', 1, ?, ?)";
    await sql(replacing, [previous, hashOfEntry(previous, eve)]);
    expect(await problems()).toEqual(["3 does not follow the entry before"]);
  });
});

/** `review audit --verify` in this data folder. */
async function verifying(dataDir: string, ...more: string[]) {
  const words = ["audit", "--verify", ...more];
  const { code, out, err } = await runScript("review", words, { ALMONER_DATA_DIR: dataDir });
  return { code, said: out + err };
}

test("heads by a key of the attacker, and no heads at all, are no proof", async () => {
  loadSecrets(readConfig({ ALMONER_DATA_DIR: folder() }));
  await log("one", "two");
  const without = await verifying(folder());
  expect(without.code).toBe(1);
  expect(without.said).toContain("Entry 1 is older than two days, and no published head");
  const eve = await openSigner(aSigningKey());
  await turnDay(store, eve, new Date("2026-06-01T00:00:05Z"));
  const alone = await verifying(folder());
  expect(alone.code).toBe(1);
  expect(alone.said).toContain("signed by a key that was not named");
  // A key of the directory from before, for example.
  expect(await verifying(folder(), "--key", eve.publicKey.x)).toMatchObject({ code: 0 });
  // By its id only while the directory publishes the key itself.
  const { kid } = eve.publicKey;
  expect((await verifying(folder(), "--key", kid)).code).toBe(1);
  const noting = (key: PublicKey) => store.write((tx) => noteSigningKeys(tx, [key], new Date()));
  await noting({ ...(await openSigner(aSigningKey())).publicKey, kid });
  expect((await verifying(folder(), "--key", kid)).code).toBe(1);
  await noting(eve.publicKey);
  expect(await verifying(folder(), "--key", kid)).toMatchObject({ code: 0 });
  await sql("DROP TRIGGER audit_log_is_not_changed");
  const open = await verifying(folder(), "--key", eve.publicKey.x);
  expect(open.code).toBe(1);
  expect(open.said).toContain("audit_log_is_not_changed is missing");
});

test("the head of a day stays what it was", async () => {
  const sign = (text: string) => Promise.resolve(`signed ${text}`);
  const headOf = (before: string | null) =>
    store.write((tx) => headsWithDay(tx, { day: "2026-06-01", before, sign }));
  await log("one");
  const first = await headOf(null);
  await log("two");
  expect(await headOf(first)).toBe(first);
});

test("verifying makes nothing", async () => {
  const missing = folder("typo");
  expect(await verifying(missing)).toMatchObject({ code: 1 });
  expect(existsSync(missing)).toBe(false);
  expect(await verifying(folder())).toMatchObject({ code: 0 });
  expect(existsSync(folder("secrets"))).toBe(false);
});

test("a log whose whole chain was made again differs from the heads that were published", async () => {
  const config = readConfig({ ALMONER_DATA_DIR: folder() });
  const signer = await openSigner(loadSecrets(config).signingKey);
  await log("one", "two");
  await turnDay(store, signer, new Date("2026-06-01T00:00:05Z"));
  await turnDay(store, signer, new Date("2026-06-01T09:00:00Z"));
  await log("three");
  await turnDay(store, signer, new Date("2026-06-02T00:00:05Z"));
  const text = (await directoryFact(store, auditHeadsFact)) ?? "";
  const { heads } = AuditHeads.parse(JSON.parse(text));
  expect(heads.map(({ day, entries }) => [day, entries])).toEqual([
    ["2026-06-01", 2],
    ["2026-06-02", 3],
  ]);
  expect(await problems(heads)).toEqual([]);

  const copy = folder("copy.json");
  writeFileSync(copy, text);
  const verify = async () => {
    const { code, said } = await verifying(folder(), "--json", "--heads", copy);
    return { code, ...JSON.parse(said) };
  };
  expect(await verify()).toMatchObject({ code: 0, ok: true, entries: 3, heads: 2, other_keys: [] });

  await withoutTriggers();
  await sql("UPDATE audit_log SET operator = 'eve'");
  await chainAgain();
  expect(await problems()).toEqual([]);
  expect(await problems(heads)).toEqual([
    "2 differs from the head of 2026-06-01",
    "3 differs from the head of 2026-06-02",
  ]);
  // The store's own copy of the heads may be changed as well; its signature tells.
  const { hash } = await verifyAudit(store, []);
  const forged = heads.slice(1).map((head) => ({ ...head, hash }));
  await sql("UPDATE directory_facts SET value = ? WHERE name = ?", [
    JSON.stringify({ heads: forged }),
    auditHeadsFact,
  ]);
  const told = await verify();
  expect(told).toMatchObject({ code: 1, ok: false });
  expect(JSON.stringify(told.faults)).toContain("false signature");
  expect(JSON.stringify(told.faults)).toContain("differs from the head of 2026-06-01");
});
