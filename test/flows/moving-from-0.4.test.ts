import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { closeFeedFiles, feedEntries, feedFile, issueList } from "#content/feed/store.ts";
import { takeDueIntents } from "#content/giving/intent-store.ts";
import { changesAfter, newestSequence } from "#content/nonprofit/changes-store.ts";
import { applyDueWallets } from "#content/onboarding/wallet-hold-store.ts";
import { logOperator, storedHeads, verifyAudit } from "#content/operation/audit-store.ts";
import { openStore } from "#content/store/open.ts";
import { softwareVersion } from "#content/store/software.ts";
import { anOnboardingService, type OnboardingService } from "#test/support/onboarding.ts";
import { runProgram, runScript, startService } from "#test/support/processes.ts";
import { theFolder } from "#test/support/at-file-top.ts";

const folder = theFolder();

// Written by 0.4.6: a directory with everything that has to go on, the export of it, and what its service answered.
const fixture = join(import.meta.dirname, "../support/stores/directory-of-0.4.6.tar.gz");
const older = join(folder, "older");
const moved = join(folder, "moved");
const lines = () => readFileSync(join(older, "everything.ndjson"), "utf8").trimEnd().split("\n");

const Answers = z.object({
  answers: z.array(
    z.object({
      path: z.string(),
      headers: z.record(z.string(), z.string()),
      status: z.int(),
      body: z.string(),
    }),
  ),
  feed: z.array(z.unknown()),
  agent: z.object({ answer: z.object({ agent_secret: z.string() }) }),
  hold: z.object({ before: z.string(), after: z.string() }),
  idempotent: z.object({
    body: z.record(z.string(), z.string()),
    headers: z.record(z.string(), z.string()),
    answer: z.looseObject({ submissions: z.array(z.looseObject({ submission_id: z.int() })) }),
  }),
});
let before: z.infer<typeof Answers>;
let olderStore: Buffer;
let service: OnboardingService;

beforeAll(async () => {
  mkdirSync(older);
  await runProgram(["tar", "-xzf", fixture, "-C", older]);
  olderStore = readFileSync(join(older, "store.db"));
  before = Answers.parse(JSON.parse(readFileSync(join(older, "answers.json"), "utf8")));
  const words = ["all", join(older, "everything.ndjson")];
  const { code, err } = await runScript("import", words, { ALMONER_DATA_DIR: moved });
  if (code !== 0) throw new Error(err);
  cpSync(join(older, "secrets"), join(moved, "secrets"), { recursive: true });
  service = await anOnboardingService([], {
    ALMONER_DATA_DIR: moved,
    ALMONER_STORED_MB_PER_DAY: "0",
    ALMONER_RECOMMENDATION_PHASE: "3",
  });
});
afterAll(() => {
  service.close();
});

const rowsOf = async (sql: string): Promise<unknown[][]> => {
  const { rows, columns } = await service.store.raw.execute(sql);
  return rows.map((row) => columns.map((_, at) => row[at]));
};

// First: whoever asks a service leaves rows, too.
test("every row comes over but those of webhooks, and the greatest ids", async () => {
  const gone = ["webhook_cursors", "webhook_deliveries"];
  // What a service writes at its start.
  const written = ["activity_counts", "directory_facts", "recommendation_log"];
  const [head = "", ...rest] = lines();
  const tables = new Map<string, { columns: string[]; rows: string[] }>();
  let table = { columns: [] as string[], rows: [] as string[] };
  for (const line of rest) {
    const value = JSON.parse(line);
    if (Array.isArray(value)) table.rows.push(line);
    else if ("table" in value)
      tables.set(value.table, (table = { columns: value.columns, rows: [] }));
  }
  for (const name of gone) expect(tables.get(name)?.rows, name).toHaveLength(1);
  for (const [name, { columns, rows }] of tables) {
    expect(rows, name).not.toEqual([]);
    if ([...gone, ...written].includes(name)) continue;
    const now = await rowsOf(`SELECT ${columns.join(", ")} FROM ${name}`);
    expect(now.map((row) => JSON.stringify(row)).sort(), name).toEqual(rows.sort());
  }
  const { sequences } = JSON.parse(head);
  const kept = Object.entries(sequences).filter(([name]) => !gone.includes(name));
  const now = await rowsOf("SELECT name, seq FROM sqlite_sequence");
  expect(new Map(now as [string, number][])).toEqual(new Map(kept as [string, number][]));
});

test("a client is answered what it was answered before: profiles, receipts, status links, queues", async () => {
  expect(before.answers.length).toBeGreaterThan(12);
  for (const { path, headers, status, body } of before.answers) {
    const response = await service.get(path, headers);
    expect([response.status, await response.text()], path).toEqual([status, body]);
  }
});

describe("what goes on", () => {
  test("the feed: its epoch, its files, and the next number of a change", async () => {
    const { store } = service;
    const file = await feedFile(store, 1);
    if (file === null) throw new Error("there is no first file");
    expect(await feedEntries(store, file)).toEqual(before.feed as never);
    const facts = lines().filter((line) => line.startsWith('["feed_epoch"'));
    const epoch = await rowsOf(
      "SELECT name, value, updated_at FROM directory_facts WHERE name = 'feed_epoch'",
    );
    expect(epoch.map((row) => JSON.stringify(row))).toEqual(facts);
    const after = await newestSequence(store);
    await service.add({ ...(await service.live("hope-kitchen")), id: 0, slug: "new-kitchen" });
    expect(await changesAfter(store, after, 9)).toMatchObject([{ sequence: after + 1 }]);
    expect(
      await closeFeedFiles(store, { after, upTo: after + 1, now: new Date(service.now()) }),
    ).toEqual([2]);
  });

  test("the number of the signed list", async () => {
    const [[text] = []] = await rowsOf(
      "SELECT value FROM directory_facts WHERE name = 'signed_list'",
    );
    const last = JSON.parse(String(text));
    const now = new Date(last.issued_at);
    const { digest } = last;
    expect(await issueList(service.store, { digest, now })).toEqual(last);
    expect(await issueList(service.store, { digest: "another", now })).toMatchObject({
      sequence: last.sequence + 1,
    });
  });

  test("the chain of the audit log, as published heads say", async () => {
    const { store } = service;
    const heads = await storedHeads(store);
    expect(heads).toHaveLength(1);
    await store.write((tx) =>
      logOperator(tx, { operator: "ada", action: "note", subject: "x", at: service.now() }),
    );
    expect(await verifyAudit(store, heads)).toMatchObject({ faults: [] });
  });

  test("an agent's secret, and an Idempotency-Key", async () => {
    const body = { agent_id: "keeper", field: "region", value: "Viken" };
    const send = (sent: object, headers = {}) =>
      service.post("/api/enrich/hope-kitchen", sent, headers);
    expect((await send(body)).status).toBe(401);
    const authorization = `Bearer ${before.agent.answer.agent_secret}`;
    expect((await send(body, { authorization })).status).toBe(200);
    const { body: first, headers, answer } = before.idempotent;
    const again = await service.post("/api/enrich/lantern-trust", first, headers);
    const { submissions } = await again.json();
    expect(submissions).toMatchObject([
      { submission_id: answer.submissions[0]?.["submission_id"] },
    ]);
  });

  test("payments and proofs that have not ended", async () => {
    const times = { now: new Date(service.now() + 60_000), firstMs: 1_000, mostMs: 60_000 };
    const due = await service.store.write((tx) => takeDueIntents(tx, { ...times, limit: 10 }));
    const recipient = before.hold.before;
    expect(due.sort((a, b) => a.id - b.id)).toMatchObject([
      { kind: "watch", proof: "memo-of-the-fixture", recipient, amount_micro_usdc: 5_000_000n },
      { kind: "payment", payment: "AQID", sponsored_source: "source", status: "waiting" },
    ]);
  });

  test("a wallet that is held: it takes effect when it was to", async () => {
    const wallet = async () => (await service.live("lantern-trust")).usdc_wallet;
    service.pass(72 * 3_600_000 - 1);
    await applyDueWallets(service.store, new Date(service.now()));
    expect(await wallet()).toBe(before.hold.before);
    service.pass(1);
    await applyDueWallets(service.store, new Date(service.now()));
    expect(await wallet()).toBe(before.hold.after);
  });
});

test("an audit log that 0.4 had not chained yet is told, with what to do", async () => {
  const loose = join(folder, "loose.ndjson");
  const unchained = lines().map((line) =>
    line.replace(/^(\[1,"sample",.*),"","[0-9a-f]{64}"\]$/, "$1,null,null]"),
  );
  await Bun.write(loose, `${unchained.join("\n")}\n`);
  const env = { ALMONER_DATA_DIR: join(folder, "empty") };
  const { code, err } = await runScript("import", ["all", loose], env);
  expect([code, err]).toEqual([
    1,
    `${loose}: audit_log.hash is missing: start 0.4.6 once, which puts old entries in the chain, and export again.\nNothing was written.\n`,
  ]);
});

const twoLines = (path: string) =>
  `${path} has the tables of Almoner 0.4.6 (9f9fb075738b), and this is Almoner ${softwareVersion()}, which has its own.\n` +
  "With 0.4.6: `bun run export --all --out all.ndjson`. With this one, in an empty data folder: `bun run import all all.ndjson`, and copy the folder `secrets` there.";

describe("a store of 0.4 is refused in two lines", () => {
  const expectUntouched = () => {
    expect(readFileSync(join(older, "store.db")).equals(olderStore)).toBe(true);
    expect(existsSync(join(older, "store.db-wal"))).toBe(false);
  };

  test.each([{}, { migrated: true }, { serves: true }])(
    "however it is opened: %p",
    async (options) => {
      const path = join(older, "store.db");
      const opening = openStore({ url: `file:${path}`, ...options });
      expect(await opening.then(String, (error: Error) => error.message)).toBe(twoLines(path));
      expectUntouched();
    },
  );

  // Each opens a store in a way of its own; all others do as one of these.
  test.each(["start", "upgrade --check", "backup", "doctor"])("by the command %s", async (line) => {
    const [name = "", ...words] = line.split(" ");
    const { code, out, err } = await runScript(name, words, { ALMONER_DATA_DIR: older });
    const [what = "", remedy = ""] = twoLines(join(older, "store.db")).split("\n");
    expect(code).toBe(1);
    expect(out + err).toContain(what);
    expect(out + err).toContain(remedy);
    expectUntouched();
  });

  test("by the service", async () => {
    const running = startService({ ALMONER_DATA_DIR: older }, "pipe");
    expect(await new Response(running.stderr).text()).toContain(twoLines(join(older, "store.db")));
    expect(await running.exited).toBe(1);
  });
});
