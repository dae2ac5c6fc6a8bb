import { expect, test } from "bun:test";
import { brotliCompressSync, constants } from "node:zlib";
import type { FoundHistory } from "#content/contract/enrichment-answers.ts";
import { load } from "cheerio";
import { openListIndex } from "#content/find/browse-store.ts";
import { english } from "#content/language/texts.ts";
import { renderView } from "#site/documents/list-page.ts";
import { profile, profileKey } from "#site/documents/profile.ts";
import { historyView } from "#site/profile/history-view.ts";
import { theSite, textOf } from "#test/support/compiled-site.ts";
import { attack, gallery, scripts } from "#test/support/gallery.ts";
import { anImporting } from "#test/support/importing.ts";
import { expectPage, textsAt } from "#test/support/page-table.ts";

const site = await theSite();
await site.save(gallery);

const brotliBytes = (text: string): number =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }).byteLength;

const profiles = gallery.map(({ slug, name }, at) => [slug, name, at + 1] as const);
test.each(profiles)("the profile %s is whole", async (slug, name, id) => {
  const { $, html } = await site.page(`profile ${id}`);
  expectPage($, [
    ["h1", 1],
    ["main .asks", 1],
    [`a[href="/history/${slug}"]`, 1],
    ["details[open] pre, pre:not(details pre)", 0],
  ]);
  expect($("h1").text()).toBe(name);
  expect(textsAt($, "h2")).not.toContain("");
  const ids = textsAt($, "[id]@id");
  expect(new Set(ids).size).toBe(ids.length);
  expect(textsAt($, "[popovertarget]@popovertarget").filter((one) => !ids.includes(one))).toEqual(
    [],
  );
  // Each origin can be opened, if only with all others: an address that is no safe link is not shown.
  expect($(".origins [popover]").length).toBe($("[popover]").length);
  expect(brotliBytes(html)).toBeLessThan(15_000);
  expectHarmless(html);
});

test("a name alone makes no sentence and no list", async () => {
  const { $ } = await site.page("profile 1");
  expect($(".sentence, .nearby, .facts, .from")).toHaveLength(0);
  expect($('meta[name="description"]').attr("content")).toStartWith("Bare. A profile in");
  expect((await site.page("profile 3")).$("[data-field=registrations] li")).toHaveLength(10);
});

test("a history tells who changed what, and from which to which value; nothing in it is markup", async () => {
  const change = { sequence: 2, fields: ["city", "causes", "provenance"], origin: "consensus" };
  const found: FoundHistory = {
    name: attack,
    history: {
      slug: "hostile",
      count: 2,
      changes: [
        {
          ...change,
          kind: "changed",
          by: "agents",
          changed_at: "2026-11-02T10:00:00Z",
          values: [{ field: "city", old: attack, new: scripts }],
          agreed: [
            { field: "city", value: attack, agent_name: attack, source_url: "https://a.example/x" },
          ],
        },
        {
          ...change,
          kind: "added",
          by: "register",
          origin: "import:irs-bmf",
          changed_at: "2026-11-01T10:00:00Z",
        },
      ],
    },
    contested: [
      {
        field: "founded_year",
        values: [
          { value: "1999", agents: [] },
          { value: attack, agents: ["ant"] },
        ],
      },
    ],
    gifts: null,
  };
  const view = historyView(found, english);
  const html = textOf(await renderView(site, "/history/[slug]", view, { markdown: false }));
  const $ = load(html);
  expectPage($, [
    ["h1", ["History"]],
    ["main", "2 November 2026"],
    ["main", "Agreement of agents"],
    ["main", "Also changed: causes"],
    ["main", "Added to the directory"],
    ["main", "US Internal Revenue Service, Business Master File"],
    ["main", "1999 on the profile"],
    ["main", "says “ant”"],
  ]);
  expect([$("del").text(), $("ins").text()]).toEqual([attack, scripts]);
  expectHarmless(html);
  const markdown = textOf(await renderView(site, "/history/[slug]", view, { markdown: true }));
  expect(markdown).toContain("# History");
  expect(markdown).not.toMatch(/(?<!\\)<(?!\/?third-party-data>)/);
});

const columns =
  "EIN,NAME,ICO,STREET,CITY,STATE,ZIP,GROUP,SUBSECTION,AFFILIATION,CLASSIFICATION,RULING,DEDUCTIBILITY,FOUNDATION,ACTIVITY,ORGANIZATION,STATUS,TAX_PERIOD,ASSET_CD,INCOME_CD,FILING_REQ_CD,PF_FILING_REQ_CD,ACCT_PD,ASSET_AMT,INCOME_AMT,REVENUE_AMT,NTEE_CD,SORT_NAME";
/** Typical rows as the IRS publishes them, without their streets: a club, one with figures, a team, and a church with a long name. */
const rows = [
  "475215574,GREENWICH BAY WOMENS CLUB,,,E GREENWICH,RI,02818,0000,03,3,1000,201602,1,16,000000000,5,01,202508,0,0,02,0,08,0,0,0,S81,",
  "933631582,SAGE AFGHANISTAN,,,CRANSTON,RI,02910,0000,03,3,2000,202311,1,15,000000000,1,01,202507,3,3,01,0,07,51672,59071,59071,Q30,",
  "050465634,RHODE ISLAND CISM TEAM,,,CRANSTON,RI,02920,0000,03,3,1000,199210,1,15,149000000,1,01,202412,0,0,02,0,12,0,0,0,B99Z,",
  "050258894,UNITED CHURCH OF CHRIST BENEFICENT CHURCH,,,PROVIDENCE,RI,02903,1665,03,9,7000,196406,1,10,601000000,5,01,202412,0,0,06,0,12,,,,,",
];

test("the page of which a register says all that is known weighs at most 8 kB", async () => {
  using importing = await anImporting();
  const { store } = importing;
  await importing.run("irs-bmf", [importing.file("eo_ri.csv", [columns, ...rows].join("\n"))]);
  const keys = rows.map((_, at) => profileKey(at + 1));
  const files = await profile.render(keys, { ...site, store, lists: openListIndex(store) });
  const pages = files.filter(({ path }) => /^nonprofits\/.*\.html$/.test(path));
  const heavy = pages.flatMap(({ path, body }) => {
    const bytes = Buffer.byteLength(textOf(body));
    return bytes > 8_000 ? [`${path}: ${bytes}`] : [];
  });
  expect([pages.length, heavy]).toEqual([rows.length, []]);
});

/** The only scripts are ours, and nothing that a stranger wrote became an element, a handler or a link. */
function expectHarmless(html: string): void {
  const $ = load(html);
  expectPage($, [
    ['script:not([src^="/_astro/"]):not([type="application/ld+json"])', 0],
    ["img, iframe, object, embed, style, math, base, [onerror], [onload], [onfocus]", 0],
  ]);
  const links = textsAt($, "a[href]@href");
  expect(links.filter((href) => !/^(?:\/(?!\/)|#|https:\/\/)/.test(href ?? ""))).toEqual([]);
}
