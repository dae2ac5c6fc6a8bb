import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineCommand } from "citty";
import { systemClock } from "#content/rules/time.ts";
import { feedPaths } from "#content/shapes/feed.ts";
import { closeFeedFiles } from "#content/store/feed.ts";
import { openStore } from "#content/store/open.ts";
import { recordsById } from "#content/store/records.ts";
import { saveNonprofits } from "#content/store/save.ts";
import { feed } from "#site/documents/feed.ts";
import { documentKinds } from "#site/documents/kinds.ts";
import { snapshotPart } from "#site/documents/snapshot.ts";
import { openBlobs, openExport } from "#site/publisher/blobs.ts";
import type { DocumentKind } from "#site/publisher/document.ts";
import { openFeedLane } from "#site/publisher/feed-lane.ts";
import { openManifest } from "#site/publisher/manifest.ts";
import { publishFiles, storeFiles } from "#site/publisher/publish-files.ts";
import type { PublisherParts } from "#site/publisher/publisher-parts.ts";
import { runSecondLane } from "#site/publisher/second-lane.ts";
import { openSigner } from "#site/publisher/signing.ts";
import { startProgress } from "../support/progress.ts";
import { type Figure, peakMemoryMb, printFigures, quantile } from "./support/figures.ts";
import { runCommand } from "../support/command.ts";

const command = defineCommand({
  meta: {
    name: "bench feed",
    description:
      "What change feed, snapshot and signed list cost for one change. Pages are stood in for by their rows.",
  },
  args: {
    profiles: { type: "string", default: "41000", description: "Profiles of the sample directory" },
    edits: { type: "string", default: "30", description: "Measured single changes" },
    dir: { type: "string", default: tmpdir(), description: "Where the directory is made" },
    json: { type: "boolean", description: "One JSON line" },
  },
  run: async ({ args }) => {
    const folder = mkdtempSync(join(args.dir, "almoner-bench-feed-"));
    try {
      const figures = await measure(folder, Number(args.profiles), Number(args.edits));
      const title = `Feed, snapshot and signed list, ${args.profiles} profiles`;
      printFigures(title, figures, args.json === true);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});

async function measure(folder: string, profiles: number, edits: number): Promise<Figure[]> {
  const parts = await openParts(folder, profiles);
  const { privateKey } = generateKeyPairSync("ed25519", {
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const lane = openFeedLane(parts, await openSigner(privateKey));
  const loop = watchLoop();
  const whole = await timed(() => lane.run({ full: true }));
  const wholeLoop = await loop.take();
  const [second, paced, joined]: number[][] = [[], [], []];
  let [secondLoop, changeLoop, joinLoop] = [0, 0, 0];
  for (let at = 0; at < edits; at++) {
    await editOne(parts, 1 + Math.floor(Math.random() * profiles));
    const { rows } = await parts.source.store.raw.execute("SELECT max(sequence) AS n FROM changes");
    parts.manifest.setState({ fast_sequence: Number(rows[0]?.["n"]) });
    second?.push(await timed(() => runSecondLane(parts, () => Bun.sleep(0))));
    secondLoop = Math.max(secondLoop, await loop.take());
    // The first paced run joins the snapshot, those right after it do not.
    paced?.push(await timed(() => lane.run({ paced: true, giveWay: () => Bun.sleep(0) })));
    changeLoop = Math.max(changeLoop, await loop.take());
  }
  for (let at = 0; at < 3; at++) {
    await editOne(parts, 1 + Math.floor(Math.random() * profiles));
    const { rows } = await parts.source.store.raw.execute("SELECT max(sequence) AS n FROM changes");
    parts.manifest.setState({ fast_sequence: Number(rows[0]?.["n"]) });
    await runSecondLane(parts, () => Bun.sleep(0));
    await loop.take();
    joined?.push(await timed(() => lane.run({})));
    joinLoop = Math.max(joinLoop, await loop.take());
  }
  loop.stop();
  const size = parts.manifest.find(feedPaths.snapshot)?.size ?? 0;
  const peak = (await peakMemoryMb(process.pid)) ?? Number.NaN;
  parts.manifest.close();
  parts.source.store.close();
  return [
    plain("everything anew", `${whole.toFixed(0)} ms`),
    plain("  event loop held, most", `${wholeLoop.toFixed(0)} ms`),
    plain("snapshot", `${(size / 1e6).toFixed(1)} MB`),
    plain("one change: feed file and part, p50", `${quantile(second ?? [], 0.5).toFixed(0)} ms`),
    plain("  event loop held, most, with the second lane's own", `${secondLoop.toFixed(0)} ms`),
    plain("one change: state and list, p50", `${quantile(paced ?? [], 0.5).toFixed(0)} ms`),
    {
      what: "  event loop held, most",
      measured: `${changeLoop.toFixed(0)} ms`,
      asked: "≤ 10 ms",
      met: changeLoop <= 10,
    },
    plain("one change with joining, p50", `${quantile(joined ?? [], 0.5).toFixed(0)} ms`),
    {
      what: "  event loop held, most",
      measured: `${joinLoop.toFixed(0)} ms`,
      asked: "≤ 10 ms",
      met: joinLoop <= 10,
    },
    plain("most memory", `${peak.toFixed(0)} MB`),
  ];
}

const plain = (what: string, measured: string): Figure => ({
  what,
  measured,
  asked: "",
  met: null,
});

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/** How long the event loop was held by one piece of work: in processor time, so that other processes do not count. */
function watchLoop() {
  let [last, mostMs] = [process.threadCpuUsage(), 0];
  const timer = setInterval(() => {
    const now = process.threadCpuUsage();
    mostMs = Math.max(mostMs, (now.user + now.system - last.user - last.system) / 1_000);
    last = now;
  }, 1);
  return {
    take: async () => {
      await Bun.sleep(3);
      const taken = mostMs;
      mostMs = 0;
      return taken;
    },
    stop: () => clearInterval(timer),
  };
}

/** A store with sample profiles, real feed and snapshot, and rows in place of two rendered files per profile. */
async function openParts(folder: string, profiles: number): Promise<PublisherParts> {
  // In a process of its own, so that its memory does not count.
  const seeding = Bun.spawn(
    [process.execPath, join(import.meta.dirname, "../seed.ts"), "--profiles", String(profiles)],
    { env: { ...process.env, ALMONER_DATA_DIR: folder }, stdio: ["ignore", "ignore", "inherit"] },
  );
  if ((await seeding.exited) !== 0) throw new Error("the sample could not be made");
  const store = await openStore({ url: `file:${join(folder, "store.db")}`, synchronous: "OFF" });
  const own = [feed, snapshotPart];
  const silent = (kind: string): DocumentKind => ({
    kind,
    all: () => [],
    render: async (keys) => keys.map((key) => ({ key, files: [] })),
  });
  const others = documentKinds
    .map(({ kind }) => kind)
    .filter((kind) => !own.some((o) => o.kind === kind));
  const parts: PublisherParts = {
    source: { store, renderer: noRenderer, baseUrl: "http://localhost:8080" },
    kinds: [...own, ...others.map(silent)],
    manifest: openManifest(join(folder, "bundle")),
    blobs: openBlobs(join(folder, "bundle", "blobs")),
    exported: openExport(join(folder, "public")),
    clock: systemClock,
    inputsDigest: "bench",
    log: () => {},
  };
  await fill(parts, profiles);
  return parts;
}

async function fill(parts: PublisherParts, profiles: number): Promise<void> {
  const { store } = parts.source;
  parts.manifest.db
    .query(
      `WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ?)
       INSERT INTO files (path, digest, size, release, as_of)
       SELECT 'nonprofits/sample-nonprofit-' || id || '.html', lower(hex(randomblob(32))), 9000, 1, 0 FROM ids
       UNION ALL
       SELECT 'api/nonprofits/sample-nonprofit-' || id || '.json', lower(hex(randomblob(32))), 2000, 1, 0 FROM ids`,
    )
    .run(profiles);
  const { rows } = await store.raw.execute("SELECT max(sequence) AS n FROM changes");
  const upTo = Number(rows[0]?.["n"]);
  await closeFeedFiles(store, { after: 0, upTo, now: new Date() });
  const progress = startProgress("Parts of the snapshot", 0);
  let rendered = 0;
  const stored: ReturnType<typeof storeFiles> = { kept: [], removed: [] };
  for (const kind of [feed, snapshotPart]) {
    for await (const keys of kind.all(parts.source)) {
      for (const { files } of await kind.render(keys, parts.source)) {
        stored.kept.push(...storeFiles(parts, files).kept);
      }
      progress.at((rendered += keys.length));
    }
  }
  progress.end();
  const state = { fast_sequence: upTo, slow_sequence: upTo };
  publishFiles(parts, stored, { reason: "bench", asOf: upTo, state });
}

async function editOne({ source }: PublisherParts, id: number): Promise<void> {
  await source.store.write(async (tx) => {
    const [before] = await recordsById(tx.raw, [id]);
    if (before === undefined) throw new Error(`the sample has no nonprofit ${id}`);
    const after = { ...before, tagline: `Bench ${performance.now()}` };
    await saveNonprofits(tx, [{ before, after }], { origin: "bench", now: new Date() });
  });
}

const noRenderer: PublisherParts["source"]["renderer"] = {
  digest: "none",
  assets: [],
  render: () => Promise.reject(new Error("this bench renders no pages")),
};

await runCommand(command);
