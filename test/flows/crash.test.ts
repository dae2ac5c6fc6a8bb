import { sha256Of } from "#content/runtime/digest.ts";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Store } from "#content/store/open.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { type Manifest, openManifest } from "#site/bundle/manifest.ts";
import { aNonprofit } from "#test/support/records.ts";
import { isFull, measured, shown } from "#test/support/measured.ts";
import { freePort } from "#test/support/processes.ts";
import { aDataFolder, type DataFolder } from "#test/support/data-folder.ts";

/** Promise 2 says 50 kills, 500 publications and 100,000 reads: ALMONER_FULL_TESTS=1 does them all, else fewer. */
const kills = isFull ? 50 : 2;
/** Every such kill is one of the service, too. */
const serviceKillEvery = isFull ? 5 : 2;
const editsPerKill = isFull ? 10 : 8;
const readers = isFull ? 8 : 1;
const readsLeast = isFull ? 100_000 : kills;
const nonprofits = isFull ? 60 : 20;
/** Between two reads: one who reads all the time takes a processor from those who heal. */
const restMs = isFull ? 0 : 20;
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const repository = join(import.meta.dirname, "../..");

/** An ordinary run leaves it out. */
const whatIsNotPromised = {
  ALMONER_SEARCH_INDEX: "off",
  ALMONER_PICTURES: "off",
  ALMONER_BACKUP_SCHEDULE: "off",
  // No local chain beside them.
  ALMONER_SOLANA_RPC_URLS: "http://127.0.0.1:9",
};

let folder: DataFolder;
let dataDir: string;
let store: Store;
let manifest: Manifest;
let service: Bun.Subprocess;
let serviceMayBeDown = true;

beforeAll(async () => {
  const trusts = Array.from({ length: nonprofits }, (_, at) =>
    aNonprofit({ slug: `trust-${at}`, name: `Trust ${at}`, tagline: "line 0" }),
  );
  folder = await aDataFolder(trusts, { compiled: true });
  ({ dataDir, store } = folder);
  service = startService();
  manifest = openManifest(join(dataDir, "bundle"));
  await until(() => manifest.state().slow_sequence >= nonprofits, 200_000);
  serviceMayBeDown = false;
});

afterAll(async () => {
  service.kill("SIGTERM");
  await service.exited;
  manifest.close();
  folder.close();
});

const startService = () =>
  Bun.spawn([process.execPath, join(repository, "scripts/start.ts")], {
    env: {
      ...process.env,
      ALMONER_DATA_DIR: dataDir,
      ALMONER_PORT: String(port),
      ALMONER_LOG_LEVEL: "silent",
      ...(!isFull && whatIsNotPromised),
    },
    stdio: ["ignore", "ignore", "ignore"],
  });

async function until(met: () => boolean | Promise<boolean>, waitMs: number): Promise<void> {
  const deadlineMs = performance.now() + waitMs;
  while (!(await met())) {
    if (performance.now() > deadlineMs) throw new Error("waited too long");
    await Bun.sleep(20);
  }
}

const isUp = () =>
  fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );

/** What a reader sees that it must not see; empty when all is well. Counts only answers. */
async function readOnce(seen: { reads: number; bad: string[] }): Promise<void> {
  const slug = `trust-${Math.floor(Math.random() * nonprofits)}`;
  const isPage = Math.random() < 0.5;
  const path = isPage ? `/nonprofits/${slug}` : `/api/nonprofits/${slug}`;
  const wasDown = serviceMayBeDown;
  const answer = await fetch(url + path, { headers: { "accept-encoding": "identity" } }).catch(
    (error: Error) => error,
  );
  if (answer instanceof Error) {
    // One that was refused while the service was down may hear of it when it is up again.
    if (!wasDown && !serviceMayBeDown)
      seen.bad.push(`${path}: ${answer.message}, exit ${service.exitCode}`);
    return;
  }
  const body = new Uint8Array(await answer.arrayBuffer().catch(() => new ArrayBuffer(0)));
  if (body.length === 0 && (wasDown || serviceMayBeDown)) return;
  seen.reads++;
  if (answer.status !== 200) seen.bad.push(`${path}: ${answer.status}`);
  else if (answer.headers.get("etag") !== `"${sha256Of(body).slice(0, 32)}"`)
    seen.bad.push(`${path}: torn`);
  else if (isPage) await readAssets(new TextDecoder().decode(body), seen);
}

async function readAssets(html: string, seen: { bad: string[] }): Promise<void> {
  for (const [, asset] of html.matchAll(/"(\/_astro\/[^"]+)"/g)) {
    const answer = await fetch(url + asset).catch(() => null);
    if (answer !== null && answer.status !== 200) seen.bad.push(`${asset}: ${answer.status}`);
    await answer?.arrayBuffer();
  }
}

let line = 0;

async function edit(slug: string): Promise<string> {
  const tagline = `line ${++line}`;
  await store.write(async (tx) => {
    const before = await recordBySlug(tx, slug);
    if (before === null) throw new Error(`no ${slug}`);
    await saveNonprofits(tx, [{ before, after: { ...before, tagline } }], {
      origin: "test",
      now: new Date(),
    });
  });
  return tagline;
}

/** The publisher that works now: not the one killed last, whose number another process may have by now. */
async function livePublisher(): Promise<number> {
  await until(() => manifest.state().pid !== killed, 60_000);
  return manifest.state().pid;
}

let killed = 0;

/** Kills the publisher at a random moment, or now and then the service with it, and lets things heal. */
async function killOne(at: number): Promise<void> {
  const pid = await livePublisher();
  await Bun.sleep(Math.random() * 120);
  killed = pid;
  if ((at + 1) % serviceKillEvery !== 0) {
    process.kill(pid, "SIGKILL");
    return;
  }
  serviceMayBeDown = true;
  service.kill("SIGKILL");
  await service.exited;
  service = startService();
  await until(isUp, 60_000);
  serviceMayBeDown = false;
}

test(`${kills} × kill -9 of publisher or service: nothing torn, nothing missing, nothing lost`, async () => {
  const seen = { reads: 0, bad: [] as string[] };
  let going = true;
  const reading = Array.from({ length: readers }, async () => {
    for (; going; await Bun.sleep(restMs)) await readOnce(seen);
  });
  const written = new Map<string, string>();
  for (let at = 0; at < kills; at++) {
    const killing = killOne(at);
    for (let edits = 0; edits < editsPerKill; edits++) {
      const slug = `trust-${Math.floor(Math.random() * nonprofits)}`;
      written.set(slug, await edit(slug));
      await Bun.sleep(Math.random() * 20);
    }
    await killing;
  }
  const newest = nonprofits + line;
  await until(() => manifest.state().slow_sequence >= newest, 60_000);
  await until(() => seen.reads >= readsLeast || seen.bad.length > 0, 600_000);
  going = false;
  await Promise.all(reading);
  measured(`${kills} kills, ${line} changes, ${shown(seen.reads)} reads, ${seen.bad.length} bad`);
  expect(seen.bad).toEqual([]);
  expect(seen.reads).toBeGreaterThanOrEqual(readsLeast);
  for (const [slug, tagline] of written) {
    const answer = await fetch(`${url}/api/nonprofits/${slug}`);
    expect(((await answer.json()) as { tagline: string }).tagline).toBe(tagline);
  }
}, 1_200_000);
