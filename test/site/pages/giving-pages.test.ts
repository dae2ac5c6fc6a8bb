import { afterAll, describe, expect, test } from "bun:test";
import { sourceFrom } from "#content/nonprofit/record.ts";
import { aRichNonprofit, aSite, siteBaseUrl, type TestSite } from "#test/support/compiled-site.ts";
import { expectPage, type PageRow, textsAt } from "#test/support/page-table.ts";
import { aNonprofit, aRegisterRecord } from "#test/support/records.ts";

const wallet = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";
const attack = `</script><img src=x onerror=alert(2)>"' onload='x' & \u2028 <!-- ]]> {{x}}`;
const badWallets = [
  attack,
  `${wallet}" onclick="x`,
  "javascript:alert(1)",
  "0OIl",
  "",
  wallet.repeat(2),
];

const nonprofits = {
  rich: aRichNonprofit(),
  "link-only": aNonprofit({
    donation_url: "https://link.example/give",
    provenance: { donation_url: sourceFrom("organisation", 0) },
  }),
  neither: aNonprofit(),
  gone: aRichNonprofit({ status: "withdrawn", registrations: [] }),
  hostile: aRichNonprofit({ name: attack, city: attack, registrations: [] }),
  taxed: aRichNonprofit({
    registrations: [],
    register_records: [aRegisterRecord({ as_of: "2026-11-10", facts: { deductibility: "1" } })],
  }),
  agreed: aNonprofit({
    website: "https://agreed.example",
    provenance: {
      website: sourceFrom("consensus", Date.parse("2026-10-01"), { agents: ["scout", "lamp"] }),
    },
  }),
  registered: aNonprofit({
    website: "https://charity.example",
    provenance: { website: sourceFrom("register", 0, { source: "ukcat" }) },
  }),
  ...Object.fromEntries(
    badWallets.map((usdc_wallet, at) => [`bad-${at}`, aNonprofit({ usdc_wallet })]),
  ),
};
const slugs = Object.keys(nonprofits);
type Network = "local" | "solana-devnet" | "solana";

const siteOn = async (network: Network) => {
  const site = await aSite([], { network });
  await site.save(Object.entries(nonprofits).map(([slug, record]) => ({ ...record, slug })));
  return site;
};
const sites: Record<Network, TestSite> = {
  local: await siteOn("local"),
  "solana-devnet": await siteOn("solana-devnet"),
  solana: await siteOn("solana"),
};
afterAll(() => {
  for (const site of Object.values(sites)) site.close();
});

const keyOf = (slug: string) => `profile ${slugs.indexOf(slug) + 1}`;
/** A page of the site on a network: of a profile, its page for donations as "donate/rich", or one that stands alone. */
const open = async (page: string, network: Network = "solana") => {
  const slug = page.replace("donate/", "");
  const key = slugs.includes(slug) ? keyOf(slug) : page;
  return (await sites[network].page(key, page === slug ? "" : "donate/")).$;
};

/** On the main network unless it says otherwise. */
const pages: [title: string, page: string, rows: PageRow[]][] = [
  [
    "one with a wallet has a page for donations that says all without a script",
    "donate/rich",
    [
      ["h1", ["Give to Lantern School"]],
      [".wallet", [wallet]],
      ["main", "Network: Solana (mainnet). Token: USDC."],
      ["main", "The directory takes no share"],
      ["main", `curl -X POST "${siteBaseUrl}/api/donate/rich?amount=5"`],
      ["main", `curl -i "${siteBaseUrl}/api/donate/rich?amount=5"`],
      ['a[href="https://lantern-school.example/give"]', 1],
      ['a[href="/nonprofits/rich"]', 1],
      ['meta[name="robots"]', 0],
      ['link[rel="canonical"]@href', [`${siteBaseUrl}/donate/rich`]],
    ],
  ],
  [
    "it shows what needs a script only with one",
    "donate/rich",
    [
      ...[".ask", ".tell", ".copy", ".payment", ".done"].map(
        (part) => [`.giving ${part}.scripted`, 1] as const,
      ),
      [".found@role", ["status"]],
      ["script[src]@type", /module/],
    ],
  ],
  [
    "it says that no register says anything of tax",
    "donate/rich",
    [
      ["main", "a record of a transfer, not a tax receipt"],
      ["main", "None of our sources says whether gifts to it are deductible"],
    ],
  ],
  [
    "or what a register says of it, with its date",
    "donate/taxed",
    [
      [
        "main",
        "IRS Business Master File says of gifts to it, as of 10 November 2026: Deductible from US tax",
      ],
    ],
  ],
  [
    "it is given to from its profile by an amount, without a script; #give leads there",
    "rich",
    [
      ["#give form@action", ["/donate/rich#pay"]],
      ["#give button[name=amount]:first@value", ["5"]],
      ["#give .wallet", [wallet]],
      ['#give a[href="https://lantern-school.example/give"]', 1],
      ["script[src]:not(.nearby script)", 0],
    ],
  ],
  [
    "one without a wallet shows its own donation page",
    "link-only",
    [
      ['#give a[href="https://link.example/give"]', ["Give on its website"]],
      [".giving, script[src]:not(.nearby script)", 0],
    ],
  ],
  ["one without a donation page says so", "neither", [["#give", "No donation page known."]]],
  [
    "one with an address that agents agreed on has a plain link with its source, and no button",
    "agreed",
    [
      ["#give .button", 0],
      [
        "#give",
        "Unconfirmed address: agreed.example (Agreement of agents: “scout”, “lamp”, 1 October 2026)",
      ],
    ],
  ],
  [
    "one with a website of a register leads there, and says what to look for",
    "registered",
    [
      ["#give .button@href", ["https://charity.example"]],
      ["#give", "charity.example; look for “Donate” there"],
    ],
  ],
  [
    "nothing invites to give to a withdrawn one",
    "gone",
    [
      ["#give, .giving", 0],
      ["main", /^(?!.*4Nd1mBQtrMJVYVf)/],
    ],
  ],
  // Its profile: test/site/documents/hostile-text.test.ts.
  [
    "a hostile name stays text",
    "donate/hostile",
    [
      ["img, iframe, style, [onerror], [onload], [onclick]", 0],
      ["h1", attack.slice(0, 30)],
      ["script[src]@src", /^script\[src\]@src: (?:\/_astro\/\S+ ?)*$/],
      ['script:not([src]):not([type="application/ld+json"])', 0],
    ],
  ],
];

test.each(pages)("%s", async (_, page, rows) => {
  expectPage(await open(page), rows);
});

test.each(["link-only", "gone", ...badWallets.map((_, at) => `bad-${at}`)])(
  "%s has no page for donations, and no way to give in USDC",
  async (slug) => {
    const files = await sites.solana.files(keyOf(slug));
    expect(files[`donate/${slug}.html`]).toBeNull();
    expect(files[`nonprofits/${slug}.html`]).not.toContain('class="giving"');
  },
);

test.each([
  ["solana", /Buy USDC/],
  ["solana-devnet", /^(?!.*Buy USDC).*faucet\.circle\.com/],
  ["local", /^(?!.*Buy USDC).*bun run chain faucet/],
] as const)(
  "where USDC comes from is said on %s: it is bought where it is worth money",
  async (network, words) => {
    expect(textsAt(await open("donate/rich", network), "aside").join(" ")).toMatch(words);
  },
);

describe("whether money is real", () => {
  test.each(["rich", "donate/rich", "page receipt", "page widget"])(
    "is said on %s when it is not, and is no matter on mainnet",
    async (page) => {
      const notice = async (network: Network) =>
        textsAt(await open(page, network), "main .notice").join(" ");
      expect(await notice("local")).toMatch(/^Test network\. .*no real money moves/);
      expect(await notice("solana-devnet")).toMatch(/^Test network\. .*Solana devnet/);
      expect(await notice("solana")).toBe("");
    },
  );

  test.each([
    ["local", "a local test chain"],
    ["solana-devnet", "Solana devnet, a test network"],
    ["solana", "Solana (mainnet)"],
  ] as const)("is said in markdown and JSON-LD of %s, where a wallet is", async (network, name) => {
    const isTest = network !== "solana";
    const markdown = (await sites[network].files(keyOf("rich")))["nonprofits/rich.md"] ?? "";
    expect(markdown).toContain(`USDC wallet: ${wallet} on ${name}`);
    const ours = markdown.slice(markdown.indexOf("</third-party-data>"));
    expect(/\*\*Test network\.\*\* .*Never send real USDC/.test(ours)).toBe(isTest);
    const $ = await open("rich", network);
    const ways = JSON.parse($('script[type="application/ld+json"]').text()).potentialAction;
    expect(ways.at(-1).instrument.name).toBe(`USDC on ${name}`);
    expect("description" in ways.at(-1).instrument).toBe(isTest);
    const without = (await sites[network].files(keyOf("bad-0")))["nonprofits/bad-0.md"] ?? "";
    expect(without).not.toMatch(/Test network|How to pay/);
  });
});
