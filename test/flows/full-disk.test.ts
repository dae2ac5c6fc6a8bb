import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  closeSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { openStore } from "#content/store/open.ts";
import { registerFile } from "#test/support/importing.ts";
import { freePort, runScript, startService, untilAnswers } from "#test/support/processes.ts";
import { aNonprofit } from "#test/support/records.ts";

const diskMb = 160;
const folder = mkdtempSync(join(tmpdir(), "almoner-disk-"));
const mounting = ["mount", "-t", "tmpfs", "-o", `size=${diskMb}m`, "tmpfs", folder];
const hasDisk = Bun.spawnSync(mounting, { stderr: "ignore" }).exitCode === 0;
if (!hasDisk) process.stderr.write("full-disk.test.ts is skipped: only root can mount a disk.\n");

const filler = join(folder, "filler");
const freeBytes = () => {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
};

/** Writes a file until no more than this is left. */
function fill(leaveBytes: number): void {
  const file = openSync(filler, "a");
  const piece = Buffer.alloc(1_000_000);
  try {
    while (freeBytes() > leaveBytes) writeSync(file, piece, 0, Math.min(piece.length, freeBytes()));
  } catch {
    // It is full.
  }
  closeSync(file);
}

let service: ReturnType<typeof startService> | undefined;
let url: string;
let log = "";
beforeAll(async () => {
  if (!hasDisk) return;
  {
    using store = await openStore({ url: `file:${join(folder, "store.db")}` });
    const saves = Array.from({ length: 100 }, (_, at) => ({
      before: null,
      after: aNonprofit({ slug: `trust-${at}` }),
    }));
    await store.write((tx) => saveNonprofits(tx, saves, { origin: "test", now: new Date() }));
  }
  const port = await freePort();
  const env = { ALMONER_DATA_DIR: folder, ALMONER_PORT: String(port), ALMONER_LOG_LEVEL: "warn" };
  service = startService(env, "pipe");
  url = `http://127.0.0.1:${port}`;
  const reading = async (said: ReadableStream<Uint8Array>) => {
    for await (const piece of said) log += new TextDecoder().decode(piece);
  };
  void reading(service.stderr as ReadableStream<Uint8Array>);
  await untilAnswers(`${url}/healthz`, service);
});
afterAll(async () => {
  service?.kill("SIGTERM");
  await service?.exited;
  if (hasDisk) Bun.spawnSync(["umount", "-l", folder]);
  rmSync(folder, { recursive: true, force: true });
});

const ready = async () => {
  const answer = await fetch(`${url}/readyz`);
  return { status: answer.status, text: await answer.text() };
};

async function untilReadyIs(status: number): Promise<string> {
  // It looks every 5 s.
  for (let look = 0; look < 100; look++) {
    const found = await ready();
    if (found.status === status) return found.text;
    await Bun.sleep(100);
  }
  throw new Error(`/readyz did not become ${status}`);
}

const write = async (at: number) => {
  const answer = await fetch(`${url}/api/enrich/trust-${at}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      field: "description",
      value: `${"A long description. ".repeat(200)}${at}`,
      agent_id: "bot-a",
      source_url: "https://trust.example/",
    }),
  });
  await answer.arrayBuffer();
  return answer.status;
};

test.skipIf(!hasDisk)("less than 64 MB of disk is not ready, and doctor says so", async () => {
  expect((await ready()).status).toBe(200);
  fill(50_000_000);
  expect(await untilReadyIs(503)).toMatch(/the disk is full: \d\d MB are left/);
  const doctor = await runScript("doctor", ["--json"], { ALMONER_DATA_DIR: folder });
  expect(doctor.out).toMatch(/is not ready: the disk is full: \d\d MB are left/);
});

test.skipIf(!hasDisk)(
  "limits hold on a full disk, and the log gets no line for each request",
  async () => {
    fill(0);
    log = "";
    const statuses: number[] = [];
    // Over some seconds, in which what a network stored is looked up in the file again.
    for (let at = 0; at < 90; at++) {
      statuses.push(await write(at));
      await Bun.sleep(40);
    }
    const allowed = statuses.filter((status) => status !== 429);
    // A few were counted in the file as long as that had room.
    expect(allowed.length).toBeGreaterThanOrEqual(30);
    expect(allowed.length).toBeLessThanOrEqual(60);
    expect(allowed).toContain(507);
    await Bun.sleep(200);
    const lines = log.trim().split("\n");
    expect(lines.filter((line) => line.includes("rate limits are not shared")).length).toBeLessThan(
      2,
    );
    expect(lines.filter((line) => line.includes("the store refused"))).toHaveLength(1);
    expect(lines.length).toBeLessThan(8);
    truncateSync(filler);
    await untilReadyIs(200);
  },
);

test.skipIf(!hasDisk)(
  "an import on a full disk says how much is missing, and goes in once there is room",
  async () => {
    const words = ["irs-bmf", "--as-of", "2026-05-12", registerFile("eo_aa.csv")];
    const importing = () => runScript("import", words, { ALMONER_DATA_DIR: folder });
    fill(0);
    const refused = await importing();
    expect(refused.out + refused.err).toMatch(
      /the disk is too full: about \d+\.\d\d GB are missing/,
    );
    truncateSync(filler);
    const taken = await importing();
    expect(taken.out).toMatch(/added +7/);
  },
);

test.skipIf(!hasDisk)("a first publication on a full disk says so, without a stack", async () => {
  const other = join(folder, "other");
  (await openStore({ url: `file:${join(other, "store.db")}` })).close();
  fill(1_500_000);
  const { code, err } = await runScript("publish", [], { ALMONER_DATA_DIR: other });
  truncateSync(filler);
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/^\S+ cannot be written: the disk is full/),
  ]);
});
