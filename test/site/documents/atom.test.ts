import { describe, expect, test } from "bun:test";
import Parser from "rss-parser";
import { historyAnswer, newestChangesIn } from "#content/nonprofit/changes-store.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { profileFeed } from "#site/documents/atom.ts";
import { documentKinds } from "#site/documents/kinds.ts";
import { staleLater } from "#site/documents/document.ts";
import { theSite, siteBaseUrl } from "#test/support/compiled-site.ts";
import { aChange } from "#test/support/records.ts";

/** A name that ends sections and elements, with what XML has no place for. */
const hostile = "Oak ]]> & ]]></title><script>x</script> \u0001\u0008 \uFFFF 🌳";

const site = await theSite([
  { slug: "oak", name: hostile, causes: ["education"], country_code: "KE", city: "Nairobi" },
  { slug: "elm", name: "Elm", causes: ["education", "health"], country_code: "NO" },
]);

const feedOf = async (list: string): Promise<[path: string, xml: string]> => {
  const [file] = Object.entries(await site.files(`atom ${list}`));
  return [file?.[0] ?? "", file?.[1] ?? ""];
};
/** As a stock reader has it, whose parser is a strict one. */
const read = async (list: string) => new Parser().parseString((await feedOf(list))[1]);
const change = async (slug: string, parts: Partial<NonprofitRecord>) => {
  const before = await recordBySlug(site.store, slug);
  if (before === null) throw new Error(`${slug} is missing`);
  await site.save([{ ...before, ...parts }], [before]);
};

test("a stock reader shows what is new, newest first, with links to the profiles", async () => {
  const { title, feedUrl, link, items } = await read("all");
  expect({ title, feedUrl, link }).toEqual({
    title: "What is new · Almoner",
    feedUrl: `${siteBaseUrl}/feed.atom`,
    link: `${siteBaseUrl}/`,
  });
  const escaped = "Oak ]]&gt; &amp; ]]&gt;&lt;/title&gt;&lt;script&gt;x&lt;/script&gt;   🌳";
  expect(items.map((item) => [item.title, item.link])).toEqual([
    ["Elm: Added to the directory", `${siteBaseUrl}/nonprofits/elm`],
    [`${escaped}: Added to the directory`, `${siteBaseUrl}/nonprofits/oak`],
  ]);
  expect(items[0]?.isoDate).toBe("2026-11-01T12:00:00.000Z");
  expect(items[0]?.["id"]).toBe("tag:almoner.example,2026-11-01:change/2");
});

test("third-party text is escaped markup, and no byte of a feed is one that XML forbids", async () => {
  const [, xml] = await feedOf("all");
  expect(xml).not.toContain("<script");
  expect(xml).not.toContain("]]></title><");
  // oxlint-disable-next-line no-control-regex
  expect(xml).not.toMatch(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uD800\uFFFE\uFFFF]/);
  expect(xml).toMatch(
    /^<\?xml version="1.0" encoding="utf-8"\?>\n<feed xmlns="http:\/\/www.w3.org\/2005\/Atom">/,
  );
  for (const element of ["id", "title", "updated", "author", "name"])
    expect(xml).toContain(`<${element}>`);
});

describe("the feed of a list", () => {
  test("has the changes of those that stand in it, and lies beside its page", async () => {
    for (const [list, path, title, count] of [
      ["cause:health", "causes/health.atom", "What is new: Health · Almoner", 1],
      ["cause:education", "causes/education.atom", "What is new: Education · Almoner", 2],
      ["country:KE", "countries/ke.atom", "What is new: Kenya · Almoner", 1],
      ["country:NO", "countries/no.atom", "What is new: Norway · Almoner", 1],
    ] as const) {
      const feed = await read(list);
      expect([(await feedOf(list))[0], feed.title, feed.items.length]).toEqual([
        path,
        title,
        count,
      ]);
    }
    expect((await read("cause:health")).items[0]?.title).toBe("Elm: Added to the directory");
  });

  test("of a cause stays when it is empty, that of a country without any nonprofit goes", async () => {
    expect((await read("cause:housing")).items).toEqual([]);
    expect(await feedOf("cause:housing")).toEqual(await feedOf("cause:housing"));
    expect(await site.files("atom country:FR")).toEqual({ "countries/fr.atom": null });
  });

  test("is found from its members where the newest changes of all are not enough", async () => {
    const near = await newestChangesIn(site.store, "cause:health", 50);
    const move = (by: number) =>
      site.store.raw.execute({
        sql: "UPDATE changes SET sequence = sequence + ? WHERE nonprofit_id = 1",
        args: [by],
      });
    await move(30_000);
    expect(await newestChangesIn(site.store, "cause:health", 50)).toEqual(near);
    const inEducation = await newestChangesIn(site.store, "cause:education", 50);
    expect(inEducation.map(({ id }) => id)).toEqual([1, 2]);
    await move(-30_000);
  });
});

test("is stale when a profile changes: the whole feed, and those of its lists, also of one that it left", () => {
  const lists = ["all", "cause:education", "country:KE"].map((list) => [list, 0] as const);
  const of = (fields: string[], moved_lists: string[] = [], nonprofit_id: number | null = 1) =>
    staleLater(
      documentKinds,
      aChange({ nonprofit_id, fields, moved_lists }),
      new Map(lists),
    ).keys.filter((key) => key.startsWith("atom "));
  expect(of(["team_size"])).toEqual(["atom all", "atom cause:education", "atom country:KE"]);
  expect(of(["causes"], ["thin", "cause:health"])).toContain("atom cause:health");
  expect(of(["causes"], ["thin"])).not.toContain("atom thin");
  expect(of(["donations"])).toEqual([]);
  expect(of([], [], null)).toEqual([]);
});

test("says what values were and became, but nothing that the history does not show", async () => {
  await change("oak", { city: "<Kisumu>", contact_email: "jane@oak.example" });
  const [first] = (await read("all")).items;
  expect(first?.title).toEndWith(": Changed");
  expect(first?.summary).toBe(
    "<p>This directory</p><p>City: Nairobi → &lt;Kisumu&gt;</p><p>Contact e-mail address: was empty → j…@oak.example</p>",
  );
  const [, xml] = await feedOf("all");
  expect(xml).not.toMatch(/jane@/i);
});

test("has 50 entries at most, and tells of a withdrawal", async () => {
  for (let team_size = 1; team_size <= 51; team_size++) await change("elm", { team_size });
  await change("elm", { status: "withdrawn" });
  const { items } = await read("all");
  expect(items).toHaveLength(50);
  expect(items[0]?.title).toBe("Elm: Withdrawn");
  expect((await read("cause:health")).items).toEqual([]);
  const history = await historyAnswer(site.store, "elm");
  if (history === null) throw new Error("elm has no history");
  const xml = profileFeed(siteBaseUrl, { name: "E\uD800lm", history, contested: [], gifts: null });
  const feed = await new Parser().parseString(xml);
  expect(feed).toMatchObject({
    title: "History of E\uFFFDlm · Almoner",
    feedUrl: `${siteBaseUrl}/nonprofits/elm.atom`,
  });
  expect(feed.items).toHaveLength(50);
  expect(feed.items.map(({ link }) => link)).toEqual(items.map(({ link }) => link));
});

test("pages name their feed, to readers and to their programs", async () => {
  for (const [key, feed] of [
    ["page home", "/feed.atom"],
    ["list-page cause:education 1", "/causes/education.atom"],
    ["list-page country:KE 1", "/countries/ke.atom"],
    ["profile 1", "/nonprofits/oak.atom"],
  ] as const) {
    const { $ } = await site.page(key);
    expect($('link[type="application/atom+xml"]').attr("href")).toBe(feed);
    expect($(`main a[href="${feed}"]`).text().trim()).toBe("Follow changes in a feed reader");
  }
  expect((await site.page("page about")).$('link[type="application/atom+xml"]')).toHaveLength(0);
});
