import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { aFolder } from "./at-file-top.ts";
import { openBlobs } from "#site/bundle/blobs.ts";
import { type ExportFolder, openExport } from "#site/bundle/export-folder.ts";
import { exportRelease } from "#site/bundle/export-release.ts";
import { type Manifest, openManifest } from "#site/bundle/manifest.ts";
import { type ReleaseOutcome, commitRelease, storeFiles } from "#site/bundle/release.ts";
import { type Location, openSegments, packsFolder } from "#site/bundle/segments.ts";

export type TestBundle = ReturnType<typeof aBundle>;

/** An empty bundle in a temporary folder: manifest, blobs and export, without anything that renders. */
export function aBundle() {
  const place = aFolder();
  const folder = place();
  const manifest = openManifest(folder);
  const blobs = openBlobs(manifest);
  const exported = openExport(place("public"));
  let sequence = 0;
  const close = () => {
    blobs.close();
    manifest.close();
    place.close();
  };
  return {
    folder,
    manifest,
    blobs,
    exported,
    /** Makes a release and shows it; a body of null removes the path. */
    publish(
      files: Record<string, string | null>,
      shownIn: ExportFolder = exported,
    ): ReleaseOutcome {
      const bodies = Object.entries(files).map(([path, body]) => ({ path, body }));
      const committed = commitRelease(manifest, {
        reason: "test",
        ...storeFiles({ blobs }, bodies),
        asOf: ++sequence,
        state: {},
        now: new Date("2026-06-01T12:00:00Z"),
      });
      exportRelease({ manifest, exported: shownIn, blobs });
      return committed;
    },
    close,
    [Symbol.dispose]: close,
  };
}

/** Flips one bit of content where it lies on the disk. */
export function flipBit({ folder, db }: Manifest, digest: string): void {
  const row = db
    .query<Location, [string]>("SELECT pack, start, length FROM blobs WHERE digest = unhex(?)")
    .get(digest);
  if (row === null) throw new Error(`${digest} is in no segment`);
  const packs = packsFolder(folder);
  const path = row.pack === 0 ? join(packs, digest) : openSegments(packs).pathOf(row.pack);
  const file = openSync(path, "r+");
  const at = row.start + row.length - 1;
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, at);
  byte.writeUInt8(byte.readUInt8(0) ^ 1);
  writeSync(file, byte, 0, 1, at);
  closeSync(file);
}

/** One file of each kind that a bundle has. Pages are long enough to be worth compressing. */
export const sampleFiles: Record<string, string> = {
  "index.html": page("Home"),
  "index.md": "# Home\n".repeat(300),
  "404.html": page("Nothing here"),
  "nonprofits/water-for-all.html": page("Water for All"),
  "nonprofits/water-for-all.md": "# Water for All\n".repeat(200),
  "api/nonprofits/water-for-all.json": json("Water for All"),
  "api/history/water-for-all.json": json("What was changed in Water for All"),
  "donate/water-for-all.html": page("Give to Water for All"),
  "nonprofits/no-wallet.html": page("Without a wallet"),
  "nonprofits/no-wallet-2.html": page("Another without a wallet"),
  "widget.html": page("A button"),
  "widget/donate.js": "(()=>{})();".repeat(200),
  "search.html": page("Search"),
  "browse.html": page("All nonprofits"),
  "browse.md": "# All nonprofits\n".repeat(200),
  "causes.html": page("Causes"),
  "causes/education.html": page("Education"),
  "causes/education.md": "# Education\n".repeat(200),
  "causes/education-2.html": page("Education, page 2"),
  "countries.html": page("Countries"),
  "countries/ke.html": page("Kenya"),
  "countries/ke.md": "# Kenya\n".repeat(200),
  "countries/ke-2.html": page("Kenya, page 2"),
  "api/nonprofits.json": json("The list"),
  "api/nonprofits/pages/2.json": json("The list, page 2"),
  "api/causes.json": json("Causes"),
  "api/stats.json": json("Stats at the last checkpoint"),
  "api/needs-enrichment.json": json("Help wanted"),
  "api/agents/leaderboard.json": json("Credit of a while ago"),
  "api/donations/water-for-all.json": json("Gifts that are final"),
  "llms.txt": "Almoner\n".repeat(200),
  "leaderboard.md": "# Agents\n",
  "agents.md": "# For agents\n".repeat(200),
  "robots.txt": "User-agent: *\n",
  "sitemap.xml": "<?xml version='1.0'?><sitemapindex/>",
  "feed.atom": "<feed/>",
  "causes/education.atom": "<feed/>",
  "sitemaps/1.xml": "<?xml version='1.0'?><urlset/>",
  "openapi.json": json("The description"),
  "agents.arazzo.yaml": "arazzo: 1.0.1\n".repeat(100),
  ".well-known/ai-plugin.json": json("Plugin"),
  ".well-known/api-catalog": json("Catalog"),
  ".well-known/security.txt": "Contact: mailto:desk@almoner.example\n",
  ".well-known/mcp/server-card.json": json("Card"),
  "pictures/home.png": "a picture",
  "pictures/causes/education.png": "a picture of a cause",
  "es.html": page("Inicio"),
  "es/about.html": page("Sobre"),
  "es/404.html": page("Aquí no hay nada"),
  "favicon.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
  "_astro/site.Ab12Cd34.css": "body{margin:0}".repeat(100),
  "_astro/search.Zz99.js": "export {};".repeat(200),
  "pagefind/pagefind.js": "export {};".repeat(200),
  "pagefind/pagefind-entry.json": json("Entry"),
  "pagefind/wasm.en.pagefind": "wasm",
  "pagefind/1/fragment/en_1234567.pf_fragment": "fragment",
  "search/education.json": json("Shard"),
  "changes/1.json": json("Feed file 1"),
  "changes/state.json": json("Feed state"),
  "snapshot/nonprofits.ndjson.gz": "gz",
  "snapshot/manifest.json": json("Manifest"),
  "snapshot/manifest.json.jws": "a..b",
};

/** What clients send, and whether a page is theirs in markdown: the same at each server. */
export const accepted: readonly [accept: string, form: "md" | "html"][] = [
  ["text/markdown", "md"],
  ["text/markdown, text/html, */*", "md"],
  ["Text/Markdown; charset=utf-8, text/html;q=0.9", "md"],
  ["text/html;q=0.85, text/markdown;q=0.9", "md"],
  ["text/markdown;q=0.50, text/html;q=0.5", "md"],
  ["text/html, text/markdown;q=0.9", "html"],
  ["text/markdown;q=0.8, text/html;q=0.89", "html"],
  ["text/markdown;q=0.5, */*;q=0.501", "html"],
  ["text/markdown;q=0.5, text/*;q=0.1, */*", "md"],
  ["text/markdown;q=0, text/html;q=0", "html"],
  ["text/markdown;q=0.0", "html"],
  ["text/*, */*", "html"],
  ["text/markdownish, application/x+text/markdown", "html"],
  ["*/*", "html"],
  // Firefox, and Chromium.
  ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "html"],
  [
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
    "html",
  ],
];

function page(title: string): string {
  return `<!doctype html><html lang="en"><title>${title}</title><p>${"words ".repeat(300)}</p></html>`;
}

function json(title: string): string {
  return JSON.stringify({ title, words: "words ".repeat(300) });
}
