import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { aRichNonprofit, aSite, siteBaseUrl, type TestSite } from "#test/support/compiled-site.ts";
import { aNonprofit } from "#test/support/records.ts";

const nearby = (place: string) => `/browse?cause=education&country=KE${place}`;

let site: TestSite;
beforeAll(async () => {
  site = await aSite();
  await site.save([
    aRichNonprofit(), // 1
    aNonprofit({ slug: "bare", name: "Bare" }), // 2
    aRichNonprofit({
      slug: "gone",
      status: "withdrawn",
      registrations: [],
      register_records: [
        {
          org_id: "GB-CHC-210184",
          register: "ukcat",
          name: "Gone",
          as_of: "2026-04-14",
          scope: "GB-CHC",
          finances: [],
          state: "removed",
          facts: { removed: "2021-05-03" },
        },
      ],
    }), // 3
  ]);
});
afterAll(() => site.close());

let thinSite: TestSite;
beforeAll(async () => {
  thinSite = await aSite();
});
afterAll(() => thinSite.close());

describe("what registers say", () => {
  const facts = {
    subsection: "03",
    deductibility: "1",
    foundation: "15",
    ruling: "1994-07",
    tax_period: "2024-12",
    income: 3_312_400,
  };
  const org_id = "US-EIN-530196605";
  const thin = aNonprofit({
    slug: "thin",
    mission: "To help.",
    registrations: [{ country_code: "US", type: "EIN", registration_number: "53-0196605", org_id }],
    register_records: [
      {
        org_id,
        register: "irs-bmf",
        name: "Thin",
        as_of: "2026-04-14",
        scope: "NV",
        finances: [],
        state: "registered",
        facts,
      },
      {
        org_id: "GB-CHC-210183",
        register: "ukcat",
        name: "Thin",
        as_of: "2026-04-14",
        scope: "GB-CHC",
        finances: [],
        state: "gone",
        facts: {
          ...{ registered: "1990-08-02", objects: "To help…" },
          ...{ merged_into: "GB-CHC-210184", merged_into_name: "<i>The Greater Trust</i>" },
        },
      },
    ],
    provenance: {
      causes: {
        set_by: "register",
        source: "irs-bmf",
        source_url: null,
        rule: "NTEE B20 → Education (high)",
        agents: [],
        applied_at: 0,
      },
    },
  });
  const said = [
    "501(c)(3): tax-exempt",
    "Deductible from US tax",
    "July 1994",
    "US$ 3.3 million, year to December 2024",
    "In the register as of 14 April 2026",
    "No longer in the register as of 14 April 2026",
    "2 August 1990",
    "NTEE B20 → Education (high)",
  ];
  beforeAll(() => thinSite.save([thin]));

  test("stands on the page, with the date, the public record and the licence", async () => {
    const { $ } = await thinSite.page("profile 1");
    const text = $("main").text().replaceAll(/\s+/g, " ");
    for (const words of said) expect(text).toContain(words);
    expect(text).toContain("Our reading of NTEE B20 → Education (high) (IRS Business Master File)");
    expect($(".size").text()).toContain("US$ 3.3 million, year to December 2024");
    expect(text).toContain("Licence: Public domain");
    // The objects are the mission of this profile already.
    expect(text).not.toContain("Objects in the governing document");
    expect($('a[href="https://apps.irs.gov/app/eos/detailsPage?ein=530196605"]')).toHaveLength(1);
  });

  test("answers what givers ask, each with register and date; what no one knows is not shown of others", async () => {
    const { $ } = await thinSite.page("profile 1");
    const answer = (question: string) =>
      $(`[data-answer="${question}"] dd`)
        .toArray()
        .map((one) => $(one).text().replaceAll(/\s+/g, " "));
    expect(answer("daf")).toEqual([expect.stringMatching(/^yes By its IRS code .*4966\(c\)\)\.$/)]);
    // Its register's section has the date of all that stands in it, and each answer once.
    expect($('[data-answer="daf"]').closest("section").find(".state").text()).toBe(
      "In the register as of 14 April 2026",
    );
    expect($("dt:contains(Latest return)")).toHaveLength(1);
    expect(answer("latest_return")[0]).toMatch(/^December 2024 It ended 16 months before/);
    expect(answer("filing")).toEqual([expect.stringMatching(/^not known No register/)]);
    expect(answer("merged_into")).toEqual([
      "<i>The Greater Trust</i> Its register says that it merged into this one.",
    ]);
    expect($('[data-answer="merged_into"] a').attr("href")).toBe("/organisations/GB-CHC-210184");
    const files = await thinSite.files("profile 1");
    const { giver_answers } = NonprofitDetail.parse(
      JSON.parse(files["api/nonprofits/thin.json"] ?? ""),
    );
    expect(giver_answers).toContainEqual(
      expect.objectContaining({ org_id, question: "daf", value: "yes", code: "15" }),
    );
    expect(files["nonprofits/thin.md"]).toContain("daf: yes");
  });

  test("stands in the markdown, in few words", async () => {
    const files = await thinSite.files("profile 1");
    const text = files["nonprofits/thin.md"] ?? "";
    for (const words of said.filter((one) => !one.includes("million"))) {
      expect(text.replaceAll("\\", "")).toContain(words);
    }
    expect(text).toContain("US$ 3,312,400, year to December 2024");
    expect(text).toContain("<https://apps.irs.gov/app/eos/detailsPage?ein=530196605>");
  });

  test("is told to search engines", async () => {
    const { $ } = await thinSite.page("profile 1");
    const described = JSON.parse($('script[type="application/ld+json"]').text());
    expect(described).toMatchObject({
      taxID: "530196605",
      nonprofitStatus: "https://schema.org/Nonprofit501c3",
      sameAs: [
        expect.stringContaining("charity-details/?regid=210183"),
        "https://apps.irs.gov/app/eos/detailsPage?ein=530196605",
      ],
    });
    // No record of this directory's own where it has nothing to say.
    expect(described).not.toHaveProperty("subjectOf");
  });

  test("is told apart from what this directory derives from it", async () => {
    const files = await thinSite.files("profile 1");
    const detail = JSON.parse(files["api/nonprofits/thin.json"] ?? "");
    expect(NonprofitDetail.parse(detail).provenance["causes"]).toMatchObject({
      source: "derived:irs-bmf",
      rule: "NTEE B20 → Education (high)",
    });
  });
});

describe("a profile", () => {
  test("has a page and the same as JSON and markdown", async () => {
    const files = await site.files("profile 1");
    expect(Object.keys(files)).toEqual([
      "nonprofits/lantern-school.html",
      "api/nonprofits/lantern-school.json",
      "donate/lantern-school.html",
      "nonprofits/lantern-school.md",
    ]);
    const json = files["api/nonprofits/lantern-school.json"] ?? "";
    expect(json.endsWith("}\n")).toBe(true);
    expect(JSON.parse(json)).toMatchObject({
      slug: "lantern-school",
      identifiers: ["US-EIN-530196605"],
      has_contact_email: true,
    });
  });

  test("shows what the directory knows", async () => {
    const { $ } = await site.page("profile 1");
    expect($("h1").text()).toBe("Lantern School");
    $(".from").remove();
    const text = $("main").text().replaceAll(/ +/g, " ");
    for (const shown of [
      "Evening classes for working children",
      "We teach children who work by day.",
      "Today there are nine classes.",
      "Kisumu, Nyanza, Kenya",
      "12,345",
      "US$ 250,000",
      "1 person",
      "Night classes",
      "Kisumu · 300 people a year",
      "1,200 children",
      "530196605",
      "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T",
      "Agreement of agents: “scout”, “lamp”",
      "US Internal Revenue Service, Business Master File",
    ]) {
      expect(text).toContain(shown);
    }
    expect($('a[href="https://www.lantern-school.example/"]').text()).toBe(
      "lantern-school.example",
    );
    expect($('.marks a[href="/causes/education"]').text().trim()).toBe("Education");
  });

  test("says in one sentence what the organisation is, and leads to its like", async () => {
    const { $ } = await site.page("profile 1");
    expect($(".sentence").text()).toBe(
      "Education organisation in Kisumu, founded in 1998, reaching 12,345 people a year.",
    );
    const links = $(".nearby li a")
      .toArray()
      .map((a) => [$(a).text().trim(), $(a).attr("href"), $(a).attr("rel")]);
    expect(links).toEqual([
      ["Education in Kisumu", nearby("&region=Nyanza&city=Kisumu"), "nofollow"],
      ["All nonprofits in Kenya", "/countries/ke", undefined],
    ]);
  });

  test("has beside each value a mark that opens its source, without a script", async () => {
    const { $ } = await site.page("profile 1");
    const marks = $("button.from")
      .toArray()
      .map((one) => [$(one).text(), $(one).attr("popovertarget")]);
    expect(marks).toEqual([
      ["register", "from-1"],
      ["register", "from-1"],
      ["organisation", "from-2"],
      ["2 agents", "from-3"],
    ]);
    expect($('button.from:not([tabindex="-1"])').length).toBe(0);
    expect($("details.sources + .origins > li").length).toBe(3);
    expect($("#from-1").text()).toContain(
      "Business Master File (register.example), 1 October 2026",
    );
    expect($("#from-1 .note").text()).toBe("city, name");
    expect($("#from-3[popover]").text()).toContain("Agreement of agents: “scout”, “lamp”");
  });

  test("never shows an e-mail address", async () => {
    for (const body of Object.values(await site.files("profile 1"))) {
      expect(body).not.toContain("desk@lantern-school.example");
    }
  });

  test("is described to search engines as an NGO", async () => {
    const { $ } = await site.page("profile 1");
    expect(JSON.parse($('script[type="application/ld+json"]').text())).toMatchObject({
      "@type": "NGO",
      name: "Lantern School",
      url: "https://www.lantern-school.example/",
      foundingDate: "1998",
      address: { addressLocality: "Kisumu", addressCountry: "KE" },
      identifier: [
        { "@type": "PropertyValue", propertyID: "EIN", value: "530196605" },
        { propertyID: "org-id", value: "US-EIN-530196605" },
      ],
      numberOfEmployees: { "@type": "QuantitativeValue", value: 1 },
      areaServed: ["Kisumu"],
      potentialAction: [
        { "@type": "DonateAction", target: "https://lantern-school.example/give" },
        {
          target: `${siteBaseUrl}/donate/lantern-school`,
          instrument: { name: "USDC on a local test chain" },
        },
      ],
    });
    expect($('link[rel="canonical"]').attr("href")).toBe(
      `${siteBaseUrl}/nonprofits/lantern-school`,
    );
    expect($('link[rel="alternate"][type="application/json"]').attr("href")).toBe(
      "/api/nonprofits/lantern-school",
    );
  });

  test("says what is missing and how to add it", async () => {
    const { $ } = await site.page("profile 2");
    const text = $(".ending").text().replaceAll(/\s+/g, " ");
    expect(text).toContain(
      "Missing: description, website, city, region, mission, founding year or contact e-mail address.",
    );
    const links = $(".asks a").toArray();
    expect(links.map((a) => $(a).attr("href"))).toEqual([
      "/corrections?profile=bare",
      "/onboard?claim=bare",
      "/agents.md",
      "/nonprofits/bare.atom",
    ]);
  });

  test("of a withdrawn nonprofit stays, says so and asks for nothing", async () => {
    const { $ } = await site.page("profile 3");
    expect($('meta[name="robots"]').attr("content")).toBe("noindex");
    expect($(".notice").text()).toContain("Withdrawn");
    expect($(".notice").text().replaceAll(/\s+/g, " ")).toContain(
      "no longer in the register that listed it (Charity Commission for England and Wales, 3 May 2021), so it is in no list",
    );
    expect($(".give").length).toBe(0);
    const files = await site.files("profile 3");
    expect(JSON.parse(files["api/nonprofits/gone.json"] ?? "").status).toBe("withdrawn");
    expect((await site.page("profile 1")).$('meta[name="robots"]').length).toBe(0);
  });

  test("that is not in the store is no document", async () => {
    expect(await site.files("profile 99")).toEqual({});
  });
});
