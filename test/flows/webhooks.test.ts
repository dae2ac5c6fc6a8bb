import { afterEach, beforeEach, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "#content/store/open.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { deliveries, queueEvent } from "#content/operation/webhook-store.ts";
import { aReceiver, until } from "../support/receiver.ts";
import { aNonprofit } from "../support/records.ts";

const secret = `whsec_${randomBytes(32).toString("base64")}`;
let folder: string;
let store: Store;
const children: Bun.Subprocess[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "almoner-webhooks-"));
  store = await openStore({
    url: `file:${join(folder, "store.db")}`,
    synchronous: "OFF",
    busyWaitMs: 20_000,
  });
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The service in a process of its own, on a port of its own. */
async function aProcess(env: Record<string, string>) {
  const child = Bun.spawn([process.execPath, join(import.meta.dirname, "../../api/main.ts")], {
    env: {
      ...process.env,
      ALMONER_DATA_DIR: folder,
      ALMONER_PORT: "0",
      ALMONER_NETWORK: "local",
      ...env,
    },
    stdout: "ignore",
    stderr: "pipe",
  });
  children.push(child);
  let said = "";
  void (async () => {
    for await (const chunk of child.stderr) said += new TextDecoder().decode(chunk);
  })();
  await until("the service", () => said.includes("listening"));
  return { child, log: () => said };
}

let town = 0;
const change = (count: number) =>
  store.write((tx) =>
    saveNonprofits(
      tx,
      Array.from({ length: count }, () => ({
        before: null,
        after: aNonprofit({ city: `Town ${town++}` }),
      })),
      { origin: "test", now: new Date() },
    ),
  );

const isReading = async () =>
  (await store.raw.execute("SELECT 1 FROM webhook_cursors")).rows.length === 2;

test("every change is heard of at least once, through five kills and a receiver that fails now and then", async () => {
  let failures = 0;
  const receiver = aReceiver(secret, async (_, count) => {
    await Bun.sleep(20);
    if (count % 7 !== 3) return new Response("ok");
    failures += 1;
    return new Response("later", { status: 500, headers: { "retry-after": "1" } });
  });
  const env = { ALMONER_WEBHOOK_URLS: receiver.url(), ALMONER_WEBHOOK_SECRET: secret };
  let running = await aProcess(env);
  await until("the first look", isReading);
  for (let kill = 0; kill < 5; kill++) {
    await change(40);
    await Bun.sleep(300 + 350 * kill);
    running.child.kill("SIGKILL");
    await running.child.exited;
    // Anyone who was killed left no word: another process would wait half a minute for its lease to end.
    await store.write((tx) => tx.raw.execute("UPDATE leases SET until = 0"));
    running = await aProcess(env);
  }
  const { rows } = await store.raw.execute("SELECT count(*) AS all_changes FROM changes");
  const heard = () =>
    new Set(
      receiver.got.flatMap(({ verified }) =>
        verified?.type === "profiles.changed"
          ? verified.data.changes.map(({ sequence }) => sequence)
          : [],
      ),
    );
  // A delivery that failed is tried again after 5 s, give or take a fifth.
  await until("all changes", () => heard().size === Number(rows[0]?.["all_changes"]));
  await until(
    "all deliveries",
    async () => (await deliveries(store, { status: "pending" }, 9)).length === 0,
  );
  expect(failures).toBeGreaterThan(0);
  expect(receiver.got.every(({ verified }) => verified !== null)).toBe(true);
  const bodies = Map.groupBy(receiver.got, ({ id }) => id);
  for (const same of bodies.values()) expect(new Set(same.map(({ body }) => body)).size).toBe(1);
  expect(running.log()).not.toContain(secret.slice(6));
  await receiver.stop();
}, 120_000);

test("a process that is asked to stop ends at once, though a receiver hangs, and leaves its lease", async () => {
  const receiver = aReceiver(secret, () => new Promise(() => {}));
  const { child } = await aProcess({
    ALMONER_WEBHOOK_URLS: receiver.url(),
    ALMONER_WEBHOOK_SECRET: secret,
  });
  await until("the first look", isReading);
  await change(1);
  await until("a message under way", () => receiver.got.length > 0);
  const startedAt = performance.now();
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect((await store.raw.execute("SELECT 1 FROM leases")).rows).toEqual([]);
  expect(await deliveries(store, {}, 9)).toMatchObject([{ status: "pending", attempts: 0 }]);
  await receiver.stop();
}, 60_000);

test("without the setting no socket is opened, whatever waits in the store", async () => {
  const connections: Socket[] = [];
  const listening = createServer((socket) => connections.push(socket));
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const { port } = listening.address() as { port: number };
  const event = {
    id: "left-behind",
    message: { type: "webhook.test" as const, timestamp: "", data: { message: "" } },
  };
  await store.write((tx) =>
    queueEvent(tx, event, { urls: [`http://127.0.0.1:${port}/`], now: new Date() }),
  );
  // No node listens there: the service's look at the sponsor's balance leaves no socket either.
  const nowhere = "http://127.0.0.1:1";
  const { child } = await aProcess({ ALMONER_WEBHOOK_URLS: "", ALMONER_SOLANA_RPC_URLS: nowhere });
  await change(5);
  await Bun.sleep(3_000);
  expect(connections).toEqual([]);
  expect(outgoing(child.pid)).toEqual([]);
  expect((await store.raw.execute("SELECT 1 FROM webhook_cursors")).rows).toEqual([]);
  expect((await store.raw.execute("SELECT 1 FROM leases")).rows).toEqual([]);
  expect(readdirSync(join(folder, "secrets"))).not.toContain("webhook-secret");
  listening.close();
}, 60_000);

/** TCP connections of a process, by what the kernel says; those it only listens on are left out. */
function outgoing(pid: number): string[] {
  const listens = "0A";
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return []; // Closed meanwhile.
      }
    }),
  );
  return ["tcp", "tcp6"].flatMap((family) =>
    readFileSync(`/proc/${pid}/net/${family}`, "utf8")
      .split("\n")
      .slice(1)
      .filter((line) => {
        const [, , , state = "", , , , , , inode = ""] = line.trim().split(/\s+/);
        return sockets.has(inode) && state !== listens;
      }),
  );
}
