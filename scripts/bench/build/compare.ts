import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { load } from "cheerio";

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
