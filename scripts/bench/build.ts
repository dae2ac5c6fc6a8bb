import { mkdtempSync, rmSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { load } from "cheerio";
import { defineCommand } from "citty";
import { nonprofitIdsAfter } from "#content/nonprofit/list-store.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";
import { runCommand } from "#scripts/support/command.ts";
import { profileView } from "#site/parts/profile-view.ts";
import { type Figure, printFigures, quantile } from "./support/figures.ts";

const sampled = 100;

const command = defineCommand({
  meta: {
    name: "bench build",
    description:
      "Builds all profiles (HTML and JSON) on disk, compile and sync included, in turn with Hugo on the same data; then the whole bundle",
  },
  args: {
    profiles: { type: "string", default: "41000", description: "Profiles of the sample directory" },
    runs: { type: "string", default: "3", description: "Runs of each, in turn" },
    dir: { type: "string", default: tmpdir(), description: "A folder on the disk to be measured" },
    peer: {
      type: "boolean",
      default: true,
      description: "Compare with Hugo (--no-peer: leave it out)",
    },
    json: { type: "boolean", description: "One JSON line" },
  },
  run: async ({ args }) => {
    const folder = mkdtempSync(join(args.dir, "almoner-bench-build-"));
    const profiles = Number(args.profiles);
    try {
      const store = await sampleStore(folder, profiles);
      const withPeer = args.peer && Bun.which("hugo") !== null;
      if (!withPeer) console.error("Hugo is left out (Debian: apt-get install hugo).");
      const figures = await measure(folder, store, { runs: Number(args.runs), withPeer });
      store.close();
      printFigures(`Building ${profiles} profiles on disk`, figures, args.json === true);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});

async function sampleStore(folder: string, profiles: number): Promise<Store> {
  const store = await openStore({ url: `file:${join(folder, "store.db")}`, synchronous: "OFF" });
  await seedDirectory(store, { profiles, seedNumber: 1 });
  await store.raw.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  return store;
}

type Timed = { seconds: number; peakMb: number };

async function measure(
  folder: string,
  store: Store,
  { runs, withPeer }: { runs: number; withPeer: boolean },
): Promise<Figure[]> {
  const peer = join(folder, "hugo");
  if (withPeer) await writeHugoSite(store, peer);
  const [ours, peers]: [Timed[], Timed[]] = [[], []];
  for (let run = 0; run < runs; run++) {
    ours.push(await buildOurs(folder, "profiles"));
    if (withPeer) peers.push(await buildPeer(peer));
  }
  const median = (all: Timed[]) =>
    quantile(
      all.map((one) => one.seconds),
      0.5,
    );
  const figures = [
    limit("profiles, HTML and JSON, median", median(ours), 10, "s"),
    limit("most memory of one process", Math.max(...ours.map((one) => one.peakMb)), 300, "MB"),
  ];
  if (withPeer) {
    const ratios = ours.map((one, at) => one.seconds / (peers[at]?.seconds ?? Number.NaN));
    figures.push(
      {
        what: "Hugo, median",
        measured: `${median(peers).toFixed(1)} s`,
        asked: "peer",
        met: null,
      },
      limit("our time ÷ Hugo's, median of pairs", quantile(ratios, 0.5), 0.5, ""),
      await sameWords(folder, store, peer),
    );
  }
  const whole = await buildOurs(folder, "everything");
  figures.push(limit("the whole bundle but Pagefind", whole.seconds, 25, "s"));
  return figures;
}

const limit = (what: string, measured: number, most: number, unit: string): Figure => ({
  what,
  measured: `${measured.toFixed(2)} ${unit}`.trim(),
  asked: `≤ ${most} ${unit}`.trim(),
  met: measured <= most,
});

async function sameWords(folder: string, store: Store, peer: string): Promise<Figure> {
  const { rows } = await store.raw.execute({
    sql: "SELECT slug FROM nonprofits ORDER BY (id * 7919) % 41011 LIMIT ?",
    args: [sampled],
  });
  const slugs = rows.map((row) => String(row["slug"]));
  const differing = await differingProfiles(slugs, join(folder, "public"), join(peer, "public"));
  return limit(
    `of ${slugs.length} sampled, other words or fields`,
    differing.length,
    0,
    "profiles",
  );
}

async function buildOurs(folder: string, what: "profiles" | "everything"): Promise<Timed> {
  for (const part of ["bundle", "public", "site"]) {
    rmSync(join(folder, part), { recursive: true, force: true });
  }
  const script = join(import.meta.dirname, "build/build-once.ts");
  return timed([process.execPath, script, what], { ...process.env, ALMONER_DATA_DIR: folder });
}

async function buildPeer(peer: string): Promise<Timed> {
  rmSync(join(peer, "public"), { recursive: true, force: true });
  rmSync(join(peer, "resources"), { recursive: true, force: true });
  const build = `hugo --quiet --noBuildLock --source ${peer} && sync -f ${peer}`;
  return timed(["sh", "-c", build], process.env);
}

/** Time of a whole command, and the most memory that one of its processes held. */
async function timed(words: string[], env: NodeJS.ProcessEnv): Promise<Timed> {
  const startedMs = performance.now();
  const child = Bun.spawn(["/usr/bin/time", "-f", "%M", ...words], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const told = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`a build failed: ${told}`);
  const kilobytes = Number(told.trim().split("\n").at(-1));
  return { seconds: (performance.now() - startedMs) / 1_000, peakMb: kilobytes / 1_024 };
}

/** The words a reader sees, with white space folded and blocks kept apart. */
export function visibleText(html: string): string {
  const page = load(html);
  page("script, style").remove();
  // Two renderers differ in the white space between elements, never in the words.
  return page("body").text().replaceAll(/\s+/g, "");
}

/** Compares sampled profiles of two builds; answers the slugs that differ in words or in fields. */
export async function differingProfiles(
  slugs: readonly string[],
  ours: string,
  peers: string,
): Promise<string[]> {
  const differing: string[] = [];
  for (const slug of slugs) {
    const [page, peerPage, fields, peerFields] = await Promise.all([
      readFile(join(ours, "nonprofits", `${slug}.html`), "utf8"),
      readFile(join(peers, "nonprofits", `${slug}.html`), "utf8"),
      readFile(join(ours, "api/nonprofits", `${slug}.json`), "utf8"),
      readFile(join(peers, "nonprofits", `${slug}.json`), "utf8"),
    ]);
    const same =
      visibleText(page) === visibleText(peerPage) &&
      isDeepStrictEqual(JSON.parse(fields), JSON.parse(peerFields));
    if (!same) differing.push(slug);
  }
  return differing;
}

const origin = "http://localhost:8080";
const batchSize = 1_000;

/**
 * Writes a Hugo site with the same profiles: one content file each, whose front matter holds the fields and the words
 * that our page draws, decided beforehand, so that the peer is left with no more than drawing them.
 */
export async function writeHugoSite(store: Store, folder: string): Promise<void> {
  const content = join(folder, "content", "nonprofits");
  await mkdir(content, { recursive: true });
  await cp(join(import.meta.dirname, "build/layouts"), join(folder, "layouts"), {
    recursive: true,
  });
  await writeFile(join(folder, "config.json"), JSON.stringify(settings));
  for (let ids = await nonprofitIdsAfter(store, 0, batchSize); ids.length > 0;) {
    for (const record of await recordsById(store, ids)) {
      const detail = toDetail(record);
      const view = profileView(record, detail, { baseUrl: origin, network: "local" });
      const page = { title: record.name, outputs: ["html", "json"], view, detail };
      await writeFile(join(content, `${record.slug}.md`), `${JSON.stringify(page)}\n`);
    }
    ids = await nonprofitIdsAfter(store, ids.at(-1) ?? 0, batchSize);
  }
}

/** Only the profiles: no home, no lists, no taxonomies, no feeds; `/nonprofits/x.html` and `x.json`. */
const settings = {
  baseURL: `${origin}/`,
  uglyURLs: true,
  disableKinds: ["taxonomy", "term", "RSS", "sitemap", "robotsTXT", "404", "home", "section"],
  disablePathToLower: true,
  params: { origin },
};

await runCommand(command);
