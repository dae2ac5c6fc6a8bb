import { afterAll, expect, test } from "bun:test";
import { load } from "cheerio";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";
import { aSite, type TestSite } from "#test/support/compiled-site.ts";

const sampleLine = {
  "": "Sample directory: every organisation, gift and submission in it is invented.",
  es: "Directorio de muestra: todas sus organizaciones, donaciones y propuestas son inventadas.",
  fr: "Annuaire d’exemple : ses organisations, ses dons et ses propositions sont tous inventés.",
};
const keys = [
  ...["page home", "page statistics", "page recommendations", "page agents", "page search"],
  ...["profile 1", "list-page all 1"],
];

const [real, sample] = await Promise.all([aSite([{ slug: "lantern" }]), aSite()]);
await seedDirectory(sample.store, { profiles: 3, seedNumber: 1 });
afterAll(() => {
  real.close();
  sample.close();
});

const pagesOf = async (site: TestSite, key: string) =>
  Object.entries(await site.files(key)).flatMap(([path, html]) =>
    path.endsWith(".html") ? [{ path, $: load(html ?? "") }] : [],
  );

test.each(keys)("each page of a sample says once that it is invented: %s", async (key) => {
  const pages = await pagesOf(sample, key);
  expect(pages.length).toBeGreaterThan(0);
  for (const { path, $ } of pages) {
    const [, language = ""] = /^(es|fr)(?:\/|\.html)/.exec(path) ?? [];
    expect($(".sample").text()).toBe(sampleLine[language as keyof typeof sampleLine]);
  }
});

test("a page of a real directory does not", async () => {
  for (const key of ["page home", "page statistics", "profile 1"]) {
    for (const { $ } of await pagesOf(real, key)) {
      expect($(".sample, meta[name=robots]").length).toBe(0);
    }
  }
});

test("pictures of a sample say it, too", async () => {
  for (const key of ["picture", "picture education"]) {
    expect(await sample.files(key)).not.toEqual(await real.files(key));
  }
});
