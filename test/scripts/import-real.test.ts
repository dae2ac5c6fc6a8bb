import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openListIndex } from "#content/find/browse-store.ts";
import { listCounts } from "#content/nonprofit/list-store.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import type { Store } from "#content/store/open.ts";
import { profile } from "#site/documents/profile.ts";
import { aRenderer, siteBaseUrl, textOf } from "#test/support/compiled-site.ts";
import { anImporting } from "#test/support/importing.ts";
import { isFull, measured } from "#test/support/measured.ts";
import { forTests } from "#test/support/at-file-top.ts";

const folder = process.env["ALMONER_REGISTER_DATA"] ?? "";
// test/flows/registers.test.ts takes the same files through import, build and serving at every run.
const skipped = folder === "" || !isFull;
if (skipped)
  process.stderr.write(
    "skipped: needs ALMONER_REGISTER_DATA, a folder of registers, and ALMONER_FULL_TESTS=1\n",
  );

describe.skipIf(skipped)("real registers: Nevada, Hawaii, forms 990, and the UK sample", () => {
  const file = (path: string) => join(folder, path);
  const american = [file("irs_bmf/eo_nv.csv.gz"), file("irs_bmf/eo_hi.csv.gz")];

  const importing = forTests(anImporting);

  const ids = async (where: string) => {
    const { rows } = await importing.store.raw.execute(`SELECT id FROM nonprofits WHERE ${where}`);
    return rows.map((row) => Number(row["id"]));
  };

  test("go in, each organisation under a slug of its own, nine of ten with a cause", async () => {
    const states = await importing.run("irs-bmf", american);
    expect(states).toMatchObject({ rows: 23_010, added: 18_123, changed: 0, withdrawn: 0 });
    expect(states.causes_by.none / states.added).toBeLessThan(0.1);
    const prose = await importing.run("irs-990", [file("prose/missions_irs990.csv.gz")]);
    expect(prose.changed).toBeGreaterThan(50);
    const british = await importing.run("ukcat", [file("uk_ukcat/sample.csv.gz")]);
    expect(british).toMatchObject({ rows: 4_203, added: 4_104 });
    expect(british.causes_by.none / british.added).toBeLessThan(0.1);
    const slugs = await importing.slugs();
    expect(new Set(slugs).size).toBe(18_123 + 4_104);
    expect(slugs.filter((slug) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug))).toEqual([]);
    const lists = await listCounts(importing.store);
    expect(lists.get("country:GB")).toBe(4_104);
    expect(lists.get("country:US")).toBe(18_123);
  });

  test("names and texts are readable, and no line of the street or person is kept", async () => {
    const [sample] = await recordsById(
      importing.store,
      await ids("register = 'irs-bmf' AND mission IS NOT NULL ORDER BY id LIMIT 1"),
    );
    expect(sample?.mission).toMatch(/\p{Ll}/u);
    expect(sample?.provenance["mission"]).toMatchObject({ source: "irs-990", set_by: "register" });
    // Hardly a name is all capitals: only one that is spelt out letter by letter.
    const shouted = await ids(
      "name = upper(name) AND length(name) > 12 AND name GLOB '*[A-Z] [A-Z]*'",
    );
    expect(shouted.length).toBeLessThan(3);
    expect(await ids("name LIKE '\\% %' ESCAPE '\\' OR city LIKE '%PO BOX%'")).toEqual([]);
  });

  test("show at least five facts in nine of ten profiles, and code only in what is closed", async () => {
    const others = ["vt", "ri"].map((state) => file(`irs_bmf/eo_${state}.csv.gz`));
    await importing.run("irs-bmf", others);
    const seen = { pages: 0, few: 0, code: 0 };
    for (const html of await profilePages(importing.store)) {
      const open = html.replaceAll(/<details(?![^>]* open)[\s\S]*?<\/details>/g, "");
      seen.pages += 1;
      seen.few += (open.match(/<dt\b/g) ?? []).length < 5 ? 1 : 0;
      seen.code += open.includes("<pre") ? 1 : 0;
    }
    measured(`${seen.few} of ${seen.pages} real profiles show fewer than five facts`);
    expect(seen.pages).toBeGreaterThan(30_000);
    expect(seen.few / seen.pages).toBeLessThan(0.1);
    expect(seen.code).toBe(0);
  }, 600_000);
});

async function profilePages(store: Store): Promise<string[]> {
  const lists = openListIndex(store);
  const renderer = await aRenderer();
  const source = { store, lists, renderer, baseUrl: siteBaseUrl, network: "local" } as const;
  const pages: string[] = [];
  for await (const keys of profile.all(source)) {
    for (const { path, body } of await profile.render(keys, source))
      if (/^nonprofits\/.*\.html$/.test(path)) pages.push(textOf(body));
  }
  return pages;
}
