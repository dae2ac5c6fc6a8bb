import { describe, expect, test } from "bun:test";
import { load } from "cheerio";
import type { ComparedProfiles } from "#content/find/answer.ts";
import { openTexts } from "#content/language/texts.ts";
import es from "#content/editorial/texts/es.json";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { renderView } from "#site/documents/list-page.ts";
import { compareView } from "#site/profile/compare-view.ts";
import { aRichNonprofit, theSite, textOf } from "#test/support/compiled-site.ts";
import { filed } from "#test/support/filed.ts";
import { expectPage } from "#test/support/page-table.ts";
import { aNonprofit, aRegisterRecord } from "#test/support/records.ts";

const site = await theSite();

const stored = (parts: Partial<NonprofitRecord>, base = aNonprofit): NonprofitRecord => ({
  ...base(parts),
  id: 1,
  created_at: 0,
  updated_at: 0,
});
const thin = stored({ slug: "thin", name: "<b>Thin</b> & Co" });
const drawn = async (found: Partial<ComparedProfiles>, drawing: object = {}) => {
  const records = found.records ?? [];
  const slugs = found.slugs ?? records.map(({ slug }) => slug);
  const from = { ...site, ...drawing };
  const compared = { slugs, records, not_found: found.not_found ?? [] };
  return load(
    textOf(await renderView(from, "/compare", compareView(compared, from), { markdown: false })),
  );
};

describe("organisations side by side", () => {
  test("are a table whose rows and columns have headers, with the same facts of each", async () => {
    const $ = await drawn({ records: [stored({}, aRichNonprofit), thin] });
    const cellsOf = (label: string) => `.compared tr:has(th:contains("${label}")) td`;
    const rows = $(".compared tr:has(th[scope=row])").length;
    expectPage($, [
      [".compared th[scope=col]", ["Lantern School", "<b>Thin</b> & Co"]],
      [".compared tr:has(th[scope=row]) td", 2 * rows],
      [cellsOf("Place"), ["Kisumu, Nyanza, Kenya", "Kenya"]],
      [cellsOf("Website"), ["lantern-school.example", "not known"]],
      [cellsOf("Mission"), "We teach children who work by day."],
      [cellsOf("Sources"), "1 October 2026"],
      [cellsOf("Standing"), "Not found in any register"],
      [".compared b", 0],
      ['link[type="application/json"]@href', [/\/api\/compare\?orgs=lantern-school,thin$/]],
      ["meta[name=robots]@content", ["noindex"]],
    ]);
  });

  test("show the money of the newest period, from a return as from a register", async () => {
    const figures = { period_start: "2022-07-01", revenue: 1_200_000, expenses: 900_000 };
    const finances = [filed("2023-06-30", figures)];
    const return990 = aRegisterRecord({ register: "irs-990-xml", state: "filed", finances });
    const $ = await drawn({ records: [stored({ register_records: [return990] }), thin] });
    expectPage($, [['.compared tr:has(th:contains("Money"))', /US\$ 1\.2 million.*June 2023/]]);
  });

  test("leave out rows that would say nothing of any", async () => {
    const $ = await drawn({ records: [thin] });
    expect($(".compared").text()).not.toContain("Website");
  });

  test("are said in the language of the reader, with links that stay in it", async () => {
    const t = openTexts("es", es);
    const records = [thin, stored({}, aRichNonprofit)];
    const scheme = "US-EIN";
    const url = "https://service.example/{number}";
    const givingLinks = [
      { scheme, label: "Service", url, currency: "USD", fee: "", tax_receipt: true },
    ];
    const $ = await drawn({ records }, { t, givingLinks });
    expect($("h1").text()).toBe("Comparar organizaciones");
    expect($(".compared th[scope=col] a").attr("href")).toBe("/es/nonprofits/thin");
    const ways = '.compared tr:has(th:contains("Donar")) a';
    expectPage($, [
      [ways, ["Donar en su sitio web", "Donación en USDC", "Service"]],
      [
        `${ways}@href`,
        [
          "https://lantern-school.example/give",
          "/es/donate/lantern-school",
          "https://service.example/530196605",
        ],
      ],
    ]);
  });
});

test("none are a form that says what to name, as the file of the bundle is", async () => {
  expectPage(load((await site.files("page compare"))["compare.html"] ?? ""), [
    ["form[action='/compare'] input@name", ["orgs"]],
    ["label[for=orgs]", /: \S/],
    [".compared, meta[name=robots]", 0],
  ]);
});

test("more than four, and what is not found, are said, with links to what may be meant", async () => {
  const not_found = [
    { slug: '"><script>', nearest: [{ slug: "elm", name: "<i>Elm</i>" }] },
    { slug: "zz", nearest: [] },
  ];
  const $ = await drawn({ records: [thin], slugs: ["thin", "b", "c", "d", "e"], not_found });
  const nearest = 'No profile is called “"><script>”. Nearest names: <i>Elm</i>';
  expectPage($, [
    [".notice", [/^At most 4 /, nearest, "No profile is called “zz”."]],
    [".notice a@href", ["/compare?orgs=thin,elm"]],
    [".notice script, .notice i", 0],
  ]);
});
