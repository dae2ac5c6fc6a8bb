import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toDetail } from "#content/nonprofit/wire.ts";
import { nonprofitIdsAfter } from "#content/nonprofit/list-store.ts";
import type { Store } from "#content/store/open.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { profileView } from "#site/parts/profile-view.ts";

const origin = "http://localhost:8080";
const batchSize = 1_000;

/**
 * Writes a Hugo site with the same profiles: one content file each, whose front matter holds the fields and the words
 * that our page draws, decided beforehand, so that the peer is left with no more than drawing them.
 */
export async function writeHugoSite(store: Store, folder: string): Promise<void> {
  const content = join(folder, "content", "nonprofits");
  await mkdir(content, { recursive: true });
  await cp(join(import.meta.dirname, "layouts"), join(folder, "layouts"), { recursive: true });
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
