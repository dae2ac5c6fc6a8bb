import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { load } from "cheerio";
import type { ComparedProfiles } from "#content/find/compare.ts";
import { openTexts } from "#content/language/texts.ts";
import es from "#content/editorial/texts/es.json";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { drawnView } from "#site/documents/list-page.ts";
import { compareView } from "#site/profile/compare-view.ts";
import { aRichNonprofit, aSite, type TestSite, textOf } from "#test/support/compiled-site.ts";
import { aNonprofit } from "#test/support/records.ts";

let site: TestSite;
beforeAll(async () => {
  site = await aSite();
});
afterAll(() => site.close());

const stored = (parts: Partial<NonprofitRecord>, base = aNonprofit): NonprofitRecord => ({
  ...base(parts),
  ...{ id: 1, created_at: 0, updated_at: 0 },
});
const thin = stored({ slug: "thin", name: "<b>Thin</b> & Co" });
const drawn = async (found: Partial<ComparedProfiles>, drawing: object = {}) => {
  const records = found.records ?? [];
  const asked = found.asked ?? records.map(({ slug }) => slug);
  const from = { ...site, ...drawing };
  const compared = { asked, records, not_found: found.not_found ?? [] };
  return load(
    textOf(await drawnView(from, "/compare", compareView(compared, from), { markdown: false })),
  );
};

describe("organisations side by side", () => {
  test("are a table whose rows and columns have headers, with the same facts of each", async () => {
    const $ = await drawn({ records: [stored({}, aRichNonprofit), thin] });
    const columns = $(".compared th[scope=col]")
      .map((_, one) => $(one).text().trim())
      .get();
    expect(columns).toEqual(["Lantern School", "<b>Thin</b> & Co"]);
    const rows = $(".compared tr")
      .slice(1)
      .toArray()
      .map((row) => ({
        label: $(row).find("th[scope=row]").text(),
        cells: $(row)
          .find("td")
          .map((_, cell) => $(cell).text())
          .get(),
      }));
    const cellsOf = (label: string) => rows.find((row) => row.label === label)?.cells;
    expect(rows.every(({ cells }) => cells.length === 2)).toBe(true);
    expect(cellsOf("Place")).toEqual(["Kisumu, Nyanza, Kenya", "Kenya"]);
    expect(cellsOf("Website")).toEqual(["lantern-school.example", "not known"]);
    expect(cellsOf("Mission")?.[0]).toBe("We teach children who work by day.");
    expect(cellsOf("Sources")?.[0]).toContain("1 October 2026");
    expect(cellsOf("Standing")?.[1]).toStartWith("Not found in any register");
    expect($(".compared b")).toHaveLength(0);
    expect($('link[type="application/json"]').attr("href")).toEndWith(
      "/api/compare?orgs=lantern-school,thin",
    );
    expect($("meta[name=robots]").attr("content")).toBe("noindex");
  });

  test("show the money of the newest period, from a return as from a register", async () => {
    const period = {
      ...{ period_start: "2022-07-01", period_end: "2023-06-30", form: "990", currency: "USD" },
      ...{ revenue: 1_200_000, expenses: 900_000, assets: null, liabilities: null },
      ...{ net_assets: null, amended: false, filed_at: null, filing_url: null },
    };
    const register = { register: "irs-990-xml", org_id: "US-EIN-530196605", as_of: "2024-01-31" };
    const filed: NonprofitRecord["register_records"][number] = {
      ...{ ...register, name: "Thin", scope: "", state: "filed", facts: {} },
      finances: [period],
    };
    const $ = await drawn({ records: [stored({ register_records: [filed] }), thin] });
    const row = $(".compared tr").filter((_, one) => $(one).text().startsWith("Money"));
    expect(row.text()).toContain("US$ 1.2 million");
    expect(row.text()).toContain("June 2023");
  });

  test("leave out rows that would say nothing of any", async () => {
    const $ = await drawn({ records: [thin] });
    expect($(".compared").text()).not.toContain("Website");
  });

  test("are said in the language of the reader, with links that stay in it", async () => {
    const t = openTexts("es", es);
    const $ = await drawn({ records: [thin] }, { t });
    expect($("h1").text()).toBe("Comparar organizaciones");
    expect($(".compared th[scope=col] a").attr("href")).toBe("/es/nonprofits/thin");
  });
});

test("none are a form that says what to name, as the file of the bundle is", async () => {
  const $ = load((await site.files("page compare"))["compare.html"] ?? "");
  expect($("form[action='/compare'] input").attr("name")).toBe("orgs");
  expect($("label[for=orgs]").text()).not.toBe("");
  expect($(".compared")).toHaveLength(0);
  expect($("meta[name=robots]")).toHaveLength(0);
});

test("more than four, and what is not found, are said, with links to what may be meant", async () => {
  const not_found = [{ slug: '"><script>', nearest: [{ slug: "elm", name: "<i>Elm</i>" }] }];
  const $ = await drawn({ records: [thin], asked: ["thin", "b", "c", "d", "e"], not_found });
  const notices = $(".notice")
    .map((_, one) => $(one).text())
    .get();
  expect(notices[0]).toStartWith("At most 4 ");
  expect(notices[1]).toBe('No profile is called “"><script>”. Nearest names: <i>Elm</i>');
  expect($(".notice a").attr("href")).toBe("/compare?orgs=thin,elm");
  expect($(".notice script, .notice i")).toHaveLength(0);
});
