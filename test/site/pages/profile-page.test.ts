import { describe, expect, test } from "bun:test";
import { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { sourceFrom } from "#content/nonprofit/record.ts";
import { aRichNonprofit, theSite, siteBaseUrl } from "#test/support/compiled-site.ts";
import { expectPage, type PageRow } from "#test/support/page-table.ts";
import { aNonprofit, anEin, aRegisterRecord } from "#test/support/records.ts";

const org_id = "US-EIN-530196606";
const thin = aNonprofit({
  slug: "thin",
  mission: "To help.",
  registrations: [anEin("53-0196606")],
  register_records: [
    aRegisterRecord({
      org_id,
      facts: {
        subsection: "03",
        deductibility: "1",
        foundation: "15",
        ruling: "1994-07",
        tax_period: "2024-12",
        income: 3_312_400,
      },
    }),
    aRegisterRecord({
      org_id: "GB-CHC-210183",
      register: "ukcat",
      state: "gone",
      facts: {
        registered: "1990-08-02",
        objects: "To help…",
        merged_into: "GB-CHC-210184",
        merged_into_name: "<i>The Greater Trust</i>",
      },
    }),
  ],
  provenance: {
    causes: sourceFrom("register", 0, { source: "irs-bmf", rule: "NTEE B20 → Education (high)" }),
  },
});

const site = await theSite();
await site.save([
  aRichNonprofit(), // 1
  aNonprofit({ slug: "bare", name: "Bare" }), // 2
  aRichNonprofit({
    slug: "gone",
    status: "withdrawn",
    registrations: [],
    register_records: [
      aRegisterRecord({
        org_id: "GB-CHC-210184",
        register: "ukcat",
        state: "removed",
        facts: { removed: "2021-05-03" },
      }),
    ],
  }), // 3
  thin, // 4
  aNonprofit({
    slug: "twice",
    mission: "To teach, and to help.",
    tagline: "Taught",
    description: "To teach and to help. In Kisumu.",
    programs: [
      ["Classes in the evening…", "Classes in the evening, for all ages."],
      ["Meals", "At noon."],
    ].map(([name = "", description = ""]) => ({
      name,
      description,
      beneficiaries_per_year: null,
      location: null,
    })),
  }), // 5
  aNonprofit({
    slug: "drawn",
    mission: "\u{1F30D} \u2014 \u2026",
    tagline: "Drawn",
    city: "Belfast",
    provenance: { city: sourceFrom("register", 0, { source: "ukcat", rule: "from postcode BT1" }) },
  }), // 6
  aNonprofit({
    slug: "long",
    mission: "To teach and to help. ".repeat(9).trim(),
    description: "To teach and to help. ".repeat(11).trim(),
  }), // 7
  aNonprofit({ slug: "moved", status: "withdrawn", merged_into: "bare" }), // 8
]);

const jsonLdOf = async (key: string) => {
  const { $ } = await site.page(key);
  return JSON.parse($('script[type="application/ld+json"]').text());
};

/** What registers say, as the page and the markdown have it. */
const inBoth = [
  "501(c)(3): tax-exempt",
  "Deductible from US tax",
  "July 1994",
  "2 August 1990",
  "In the register as of 14 April 2026",
  "No longer in the register as of 14 April 2026",
  "NTEE B20 → Education (high)",
];
const record = "https://apps.irs.gov/app/eos/detailsPage?ein=530196606";

const tables: [title: string, key: string, rows: PageRow[]][] = [
  [
    "shows figures and links as people read them",
    "profile 1",
    [
      ["main", /12,345.*US\$ 250,000.*1 person/],
      ["main", "Kisumu · 300 people a year"],
      ["main", "1,200 children"],
      ['a[href="https://www.lantern-school.example/"]', ["lantern-school.example"]],
      ['.marks a[href="/causes/education"]', ["Education"]],
      ['link[rel="canonical"]@href', [`${siteBaseUrl}/nonprofits/lantern-school`]],
      ['link[rel="alternate"][type="application/json"]@href', ["/api/nonprofits/lantern-school"]],
    ],
  ],
  [
    "says in one sentence what the organisation is, and leads to its like",
    "profile 1",
    [
      [
        ".sentence",
        ["Education organisation in Kisumu, founded in 1998, reaching 12,345 people a year."],
      ],
      [".nearby li a", ["Education in Kisumu", "All nonprofits in Kenya"]],
      [
        ".nearby li a@href",
        ["/browse?cause=education&country=KE&region=Nyanza&city=Kisumu", "/countries/ke"],
      ],
      [".nearby li a@rel", ["nofollow", undefined]],
    ],
  ],
  [
    "does not say the mission where the description begins with it, nor a name that only begins a text",
    "profile 5",
    [
      ["main", "To teach and to help. In Kisumu."],
      ["main", /^(?!.*To teach, and)/],
      [
        "[data-field=programs] :is(h3, p)",
        ["Classes in the evening, for all ages.", "Meals", "At noon."],
      ],
    ],
  ],
  ["says a mission without a letter", "profile 6", [["[data-field=mission]", "\u{1F30D}"]]],
  ["says that a town is known by its postcode", "profile 6", [["button.from", ["from postcode"]]]],
  ["marks no shortened mission as the mission", "profile 7", [["header [data-field=mission]", 0]]],
  [
    "has beside each value a mark that opens its source, without a script",
    "profile 1",
    [
      ["button.from", ["register", "register", "organisation", "2 agents"]],
      ["button.from@popovertarget", ["from-1", "from-1", "from-2", "from-3"]],
      ['button.from:not([tabindex="-1"])', 0],
      ["details.sources + .origins > li", 3],
      ["#from-1", "Business Master File (register.example), 1 October 2026"],
      ["#from-1 .note", ["city, name"]],
      ["#from-3[popover]", "Agreement of agents: “scout”, “lamp”"],
    ],
  ],
  [
    "says what is missing and how to add it",
    "profile 2",
    [
      [
        ".ending",
        "Missing: description, website, city, region, mission, founding year or contact e-mail address.",
      ],
      [
        ".asks a@href",
        ["/corrections?profile=bare", "/onboard?claim=bare", "/agents.md", "/nonprofits/bare.atom"],
      ],
    ],
  ],
  [
    "of a withdrawn nonprofit stays, says so and asks for nothing",
    "profile 3",
    [
      ['meta[name="robots"]@content', ["noindex"]],
      [".notice", "Withdrawn"],
      [
        ".notice",
        "no longer in the register that listed it (Charity Commission for England and Wales, 3 May 2021), so it is in no list",
      ],
      [".give", 0],
    ],
  ],
  [
    "of one that was merged leads to its successor, and search engines, too",
    "profile 8",
    [
      ['meta[http-equiv="refresh"]@content', ["0; url=/nonprofits/bare"]],
      ['link[rel="canonical"]@href', [`${siteBaseUrl}/nonprofits/bare`]],
    ],
  ],
  [
    "says what registers say, with the date, the public record and the licence",
    "profile 4",
    [
      ...inBoth.map((words) => ["main", words] as const),
      ["main", "Our reading of NTEE B20 → Education (high) (IRS Business Master File)"],
      [".size", "US$ 3.3 million, year to December 2024"],
      ["main", "Licence: Public domain"],
      // The objects are the mission of this profile already.
      ["main", /^(?!.*Objects in the governing document)/],
      [`a[href="${record}"]`, 1],
    ],
  ],
  [
    "answers what givers ask, each with register and date; what no one knows is not shown of others",
    "profile 4",
    [
      ['[data-answer="daf"] dd', [/^yes By its IRS code .*4966\(c\)\)\.$/]],
      // Its register's section has the date of all that stands in it, and each answer once.
      ['section:has([data-answer="daf"]) .state', ["In the register as of 14 April 2026"]],
      ["dt:contains(Latest return)", 1],
      ['[data-answer="latest_return"] dd', /December 2024 It ended 16 months before/],
      ['[data-answer="filing"] dd', [/^not known No register/]],
      [
        '[data-answer="merged_into"] dd',
        ["<i>The Greater Trust</i> Its register says that it merged into this one."],
      ],
      ['[data-answer="merged_into"] a@href', ["/organisations/GB-CHC-210184"]],
    ],
  ],
];

describe("a profile", () => {
  test.each(tables)("%s", async (_, key, rows) => {
    expectPage((await site.page(key)).$, rows);
  });

  test("has a page and the same as JSON and markdown, none with an e-mail address", async () => {
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
    expect(Object.values(files).join("\n")).not.toContain("desk@lantern-school.example");
  });

  test("has no mission in markdown, either, with which its description begins, and no such heading", async () => {
    const { "nonprofits/twice.md": text = "" } = await site.files("profile 5");
    expect(text).toContain("To teach and to help. In Kisumu.");
    expect(text).not.toContain("## Mission");
    expect(text).toContain("- Classes in the evening, for all ages.\n- **Meals**: At noon.\n");
  });

  test("that registers describe has their codes and records in JSON-LD, and no record of ours", async () => {
    const described = await jsonLdOf("profile 4");
    expect(described).toMatchObject({
      taxID: "530196606",
      nonprofitStatus: "https://schema.org/Nonprofit501c3",
      sameAs: [expect.stringContaining("charity-details/?regid=210183"), record],
    });
    expect(described).not.toHaveProperty("subjectOf");
    // The other facts: test/site/documents/profile-forms.test.ts.
    expect(await jsonLdOf("profile 1")).toMatchObject({
      "@type": "NGO",
      areaServed: ["Kisumu"],
      potentialAction: [
        { "@type": "DonateAction", target: "https://lantern-school.example/give" },
        { target: `${siteBaseUrl}/donate/lantern-school` },
      ],
    });
  });

  test("has what registers say in markdown, in few words, and in JSON, apart from what is derived", async () => {
    const files = await site.files("profile 4");
    const markdown = (files["nonprofits/thin.md"] ?? "").replaceAll("\\", "");
    const said = [
      "US$ 3,312,400, year to December 2024",
      `<${record}>`,
      "Gift from a donor-advised fund: yes",
    ];
    for (const words of [...inBoth, ...said]) expect(markdown).toContain(words);
    const json: unknown = JSON.parse(files["api/nonprofits/thin.json"] ?? "");
    const { giver_answers, provenance } = NonprofitDetail.parse(json);
    const daf = { org_id, question: "daf", value: "yes", code: "15" };
    expect(giver_answers).toContainEqual(expect.objectContaining(daf));
    const rule = "NTEE B20 → Education (high)";
    expect(provenance["causes"]).toMatchObject({ source: "derived:irs-bmf", rule });
  });

  test("that is not in the store is no document", async () => {
    expect(await site.files("profile 99")).toEqual({});
  });
});
