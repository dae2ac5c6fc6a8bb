import { describe, expect, test } from "bun:test";
import type { StoredProvenance } from "#content/nonprofit/record.ts";
import { aRichNonprofit, theSite, siteBaseUrl } from "#test/support/compiled-site.ts";
import { textsAt } from "#test/support/page-table.ts";

const attack = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"' onload='x' & \u2028\u2029 <!-- ]]> {{x}}`;
const badLinks = [
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  " javascript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "vbscript:x",
  "//evil.example/",
  "https://good.example@evil.example/",
  'https://a.example/" onclick="x',
  "https://a.example/\u202Efdp",
  "java\nscript:alert(1)",
];

type Origin = Pick<StoredProvenance, "set_by" | "source" | "source_url">;
const provenance = (source: Origin, agents: string[] = []) => ({
  name: { ...source, agents, applied_at: 0 },
});

const site = await theSite();
await site.save([
  aRichNonprofit({
    name: attack,
    tagline: attack,
    mission: attack,
    description: attack,
    city: attack,
    region: attack,
    usdc_wallet: attack,
    wallet_challenge: attack,
    wallet_signature: attack,
    programs: [{ name: attack, description: attack, beneficiaries_per_year: 1, location: attack }],
    impact_metrics: [{ name: attack, value: attack, unit: attack, period: attack }],
    registrations: [
      { country_code: "US", type: attack, registration_number: attack, org_id: attack },
    ],
    provenance: provenance({ set_by: "consensus", source: attack, source_url: attack }, [attack]),
  }),
  ...badLinks.map((link, at) =>
    aRichNonprofit({
      slug: `links-${at}`,
      website: link,
      donation_url: link,
      logo_url: link,
      registrations: [],
      provenance: provenance({ set_by: "register", source: "irs-bmf", source_url: link }),
    }),
  ),
]);

describe("hostile text", () => {
  test.each(["profile 1", "list-page cause:education 1", "list-page country:KE 1"])(
    "stays text on %s",
    async (key) => {
      const { $, html } = await site.page(key);
      // The only script beside our own files is the JSON-LD, and nothing a stranger wrote became markup.
      expect($("script:not([src^='/_astro/'])").length).toBe(1);
      expect($("script").attr("type")).toBe("application/ld+json");
      expect($("img, iframe, object, embed, style, [onerror], [onload], [onclick]").length).toBe(0);
      expect($("main").text()).toContain("<script>alert(1)</script>");
      expect(html).not.toContain("<script>alert");
    },
  );

  test("stays text in the markdown of lists", async () => {
    const text = (await site.files("list-page cause:education 1"))["causes/education.md"] ?? "";
    const [, theirs = "", ours = ""] = text.split(/<\/?third-party-data>/);
    expect(theirs).toContain(String.raw`\</script\>\<script\>alert(1)`);
    expect(theirs).not.toMatch(/(?<!\\)<|javascript:.*\n/);
    expect(theirs).toContain("](https://almoner.example/nonprofits/lantern-school.md): claimed · ");
    expect(ours).not.toContain("alert");
  });

  test("stays text in JSON-LD, and comes out of it and of the JSON unharmed", async () => {
    const { $ } = await site.page("profile 1");
    const jsonLd = $("script").text();
    expect(jsonLd).not.toMatch(/[<>&\u2028\u2029]/);
    const address = { addressLocality: attack };
    expect(JSON.parse(jsonLd)).toMatchObject({ name: attack, address });
    const files = await site.files("profile 1");
    expect(JSON.parse(files["api/nonprofits/lantern-school.json"] ?? "").mission).toBe(attack);
  });
});

test.each(badLinks.map((link, at) => [JSON.stringify(link), at] as const))(
  "the link %s never becomes one",
  async (_, at) => {
    const { $ } = await site.page(`profile ${at + 2}`);
    const links = textsAt($, "a[href]@href");
    expect(links.filter((href) => !/^(\/(?!\/)|#)/.test(href ?? ""))).toEqual([]);
    const { potentialAction } = JSON.parse($("script").text());
    expect(potentialAction).toMatchObject([{ target: `${siteBaseUrl}/donate/links-${at}` }]);
  },
);
