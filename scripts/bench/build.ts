import { rmSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { load } from "cheerio";
import { nonprofitIdsAfter } from "#content/nonprofit/list-store.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";
import { profileView } from "#site/parts/profile-view.ts";
import { type Figure, figure, median, runBench, serving, timed } from "./support/harness.ts";
import { column } from "./support/serve.ts";

const origin = "http://localhost:8080";
const batchSize = 1_000;

/** Only the profiles: no home, no lists, no taxonomies, no feeds; `/nonprofits/x.html` and `x.json`. */
const settings = {
  baseURL: `${origin}/`,
  uglyURLs: true,
  disableKinds: ["taxonomy", "term", "RSS", "sitemap", "robotsTXT", "404", "home", "section"],
  disablePathToLower: true,
  params: { origin },
};

/**
 * Writes a Hugo site with the same profiles: one content file each, whose front matter holds the fields and the words
 * that our page draws, decided beforehand, so that the peer is left with no more than drawing them.
 */
async function writeHugoSite(store: Store, folder: string): Promise<void> {
  const content = join(folder, "content", "nonprofits");
  await mkdir(content, { recursive: true });
  await cp(join(import.meta.dirname, "build/layouts"), join(folder, "layouts"), {
    recursive: true,
  });
  await writeFile(join(folder, "config.json"), JSON.stringify(settings));
  for (let ids = await nonprofitIdsAfter(store, 0, batchSize); ids.length > 0;) {
    for (const record of await recordsById(store, ids)) {
      const detail = toDetail(record, origin);
      const view = profileView(record, detail, { baseUrl: origin, network: "local" });
      const page = { title: record.name, outputs: ["html", "json"], view, detail };
      await writeFile(join(content, `${record.slug}.md`), `${JSON.stringify(page)}\n`);
    }
    ids = await nonprofitIdsAfter(store, ids.at(-1) ?? 0, batchSize);
  }
}

function buildOurs(folder: string, what: "profiles" | "everything") {
  for (const part of ["bundle", "public", "site"]) {
    rmSync(join(folder, part), { recursive: true, force: true });
  }
  const script = join(import.meta.dirname, "build/build-once.ts");
  return timed([process.execPath, script, what], { ALMONER_DATA_DIR: folder });
}

function buildPeer(peer: string) {
  for (const part of ["public", "resources"]) {
    rmSync(join(peer, part), { recursive: true, force: true });
  }
  return timed(["sh", "-c", `hugo --quiet --noBuildLock --source ${peer} && sync -f ${peer}`]);
}

/** The words a reader sees. Two renderers differ in the white space between elements, never in the words. */
function visibleText(html: string): string {
  const page = load(html);
  page("script, style").remove();
  return page("body").text().replaceAll(/\s+/g, "");
}

/** Compares sampled profiles of the two builds, in words and in fields. */
async function differing(store: Store, ours: string, peers: string): Promise<Figure> {
  const slugs = await column(
    store,
    "SELECT slug FROM nonprofits ORDER BY (id * 7919) % 41011 LIMIT 100",
  );
  let different = 0;
  for (const slug of slugs) {
    const [page = "", peerPage = "", fields = "", peerFields = ""] = await Promise.all(
      [
        join(ours, `nonprofits/${slug}.html`),
        join(peers, `nonprofits/${slug}.html`),
        join(ours, `api/nonprofits/${slug}.json`),
        join(peers, `nonprofits/${slug}.json`),
      ].map((path) => readFile(path, "utf8")),
    );
    const same =
      visibleText(page) === visibleText(peerPage) &&
      isDeepStrictEqual(JSON.parse(fields), JSON.parse(peerFields));
    if (!same) different += 1;
  }
  return figure(`of ${slugs.length} profiles, other words or fields`, different, "", { most: 0 });
}

await runBench({
  name: "build",
  description:
    "Builds all profiles (HTML and JSON) on disk, compile and sync included, in turn with Hugo on the same data; then the whole bundle",
  options: {
    profiles: serving.profiles,
    runs: [3, "Runs of each, in turn"],
  },
  run: async ({ profiles, runs, folder }) => {
    const withPeer = Bun.which("hugo") !== null;
    if (!withPeer) console.error("Hugo is left out (Debian: apt-get install hugo).");
    const store = await openStore({ url: `file:${join(folder, "store.db")}`, synchronous: "OFF" });
    await seedDirectory(store, { profiles, seedNumber: 1 });
    await store.raw.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    const hugo = join(folder, "hugo");
    if (withPeer) await writeHugoSite(store, hugo);
    const [seconds, peerSeconds, peaksMb]: [number[], number[], number[]] = [[], [], []];
    for (let run = 0; run < runs; run++) {
      const ours = await buildOurs(folder, "profiles");
      seconds.push(ours.seconds);
      peaksMb.push(ours.peakMb);
      if (withPeer) peerSeconds.push((await buildPeer(hugo)).seconds);
    }
    const figures = [
      figure("profiles, HTML and JSON, median", median(seconds), "s", { most: 10 }),
      figure("most memory of one process", Math.max(...peaksMb), "MB", { most: 300 }),
    ];
    if (withPeer) {
      const ratios = seconds.map((one, at) => one / (peerSeconds[at] ?? NaN));
      figures.push(
        figure("Hugo, median", median(peerSeconds), "s"),
        figure("our time ÷ Hugo's, median of pairs", median(ratios), "", { most: 0.5 }),
        await differing(store, join(folder, "public"), join(hugo, "public")),
      );
    }
    const whole = await buildOurs(folder, "everything");
    figures.push(figure("the whole bundle but Pagefind", whole.seconds, "s", { most: 25 }));
    store.close();
    return { title: `Building ${profiles} profiles on disk`, figures };
  },
});
