import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aRichNonprofit, aSite, siteBaseUrl, type TestSite } from "#test/support/compiled-site.ts";
import { sourceFrom } from "#content/nonprofit/record.ts";
import { aNonprofit } from "#test/support/records.ts";

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

let sites: Record<"local" | "solana-devnet" | "solana", TestSite>;
beforeAll(async () => {
  const nonprofits = [
    aRichNonprofit(), // 1
    aNonprofit({
      slug: "link-only",
      donation_url: "https://link.example/give",
      provenance: { donation_url: sourceFrom("organisation", 0) },
    }), // 2
    aNonprofit({ slug: "neither" }), // 3
    aRichNonprofit({ slug: "gone", status: "withdrawn", registrations: [] }), // 4
    aRichNonprofit({ slug: "hostile", name: attack, city: attack, registrations: [] }), // 5
    ...badWallets.map((usdc_wallet, at) => aNonprofit({ slug: `bad-${at}`, usdc_wallet })), // 6…
    aRichNonprofit({
      slug: "taxed",
      registrations: [
        {
          country_code: "US",
          type: "EIN",
          registration_number: "990305781",
          org_id: "US-EIN-990305781",
        },
      ],
      register_records: [
        {
          org_id: "US-EIN-990305781",
          register: "irs-bmf",
          name: "Taxed",
          as_of: "2026-11-10",
          scope: "NV",
          finances: [],
          state: "registered",
          facts: { deductibility: "1" },
        },
      ],
    }),
    aNonprofit({
      slug: "agreed",
      website: "https://agreed.example",
      provenance: {
        website: sourceFrom("consensus", Date.parse("2026-10-01"), { agents: ["scout", "lamp"] }),
      },
    }),
    aNonprofit({
      slug: "registered",
      website: "https://charity.example",
      provenance: { website: sourceFrom("register", 0, { source: "ukcat" }) },
    }),
  ];
  const open = async (network: "local" | "solana-devnet" | "solana") => {
    const site = await aSite([], { network });
    await site.save(nonprofits);
    return site;
  };
  sites = {
    local: await open("local"),
    "solana-devnet": await open("solana-devnet"),
    solana: await open("solana"),
  };
});
afterAll(() => {
  for (const site of Object.values(sites)) site.close();
});

/** A page's text with white space folded. */
const textOf = ({ $ }: Awaited<ReturnType<TestSite["page"]>>, selector = "main") =>
  $(selector).text().replaceAll(/\s+/g, " ");

describe("a nonprofit with a wallet", () => {
  test("has a page for donations that says all that is needed without a script", async () => {
    const page = await sites.solana.page("profile 1", "donate/");
    const { $ } = page;
    expect($("h1").text()).toBe("Give to Lantern School");
    expect($(".wallet").text()).toBe(wallet);
    const text = textOf(page);
    for (const words of [
      "Network: Solana (mainnet). Token: USDC.",
      "The directory takes no share",
      `curl -X POST "${siteBaseUrl}/api/donate/lantern-school?amount=5"`,
      `curl -i "${siteBaseUrl}/api/donate/lantern-school?amount=5"`,
    ]) {
      expect(text).toContain(words);
    }
    expect($('a[href="https://lantern-school.example/give"]').length).toBe(1);
    expect($('a[href="/nonprofits/lantern-school"]').length).toBe(1);
    expect($('meta[name="robots"]').length).toBe(0);
    expect($('link[rel="canonical"]').attr("href")).toBe(`${siteBaseUrl}/donate/lantern-school`);
  });

  test("shows what needs a script only with one", async () => {
    const { $ } = await sites.solana.page("profile 1", "donate/");
    for (const part of [".ask", ".tell", ".copy", ".payment", ".done"]) {
      expect($(`.giving ${part}.scripted`).length).toBe(1);
    }
    expect($(".found").attr("role")).toBe("status");
    expect($("script[src]").attr("type")).toBe("module");
  });

  test("says of tax what a register says, with its date, and else that none does", async () => {
    const text = textOf(await sites.solana.page("profile 1", "donate/"));
    expect(text).toContain("a record of a transfer, not a tax receipt");
    expect(text).toContain("None of our sources says whether gifts to it are deductible");
    const taxed = textOf(await sites.solana.page(`profile ${badWallets.length + 6}`, "donate/"));
    expect(taxed).toContain(
      "IRS Business Master File says of gifts to it, as of 10 November 2026: Deductible from US tax",
    );
  });

  test("is told where USDC comes from: it is bought only where it is worth money", async () => {
    const told = async (site: TestSite) => textOf(await site.page("profile 1", "donate/"), "aside");
    expect(await told(sites.solana)).toContain("Buy USDC");
    for (const [network, source] of [
      ["solana-devnet", "faucet.circle.com"],
      ["local", "bun run chain faucet"],
    ] as const) {
      const words = await told(sites[network]);
      expect(words).toContain(source);
      expect(words).not.toContain("Buy USDC");
    }
  });

  test("is given to from its profile by an amount, without a script; #give leads there", async () => {
    const { $ } = await sites.solana.page("profile 1");
    expect($("#give form").attr("action")).toBe("/donate/lantern-school#pay");
    expect($("#give button[name=amount]").first().attr("value")).toBe("5");
    expect($("#give .wallet").text()).toBe(wallet);
    expect($('#give a[href="https://lantern-school.example/give"]').length).toBe(1);
    expect($("script[src]").not(".nearby script").length).toBe(0);
  });
});

describe("a nonprofit without a wallet", () => {
  test("has no page for donations; its profile shows its own donation page", async () => {
    const files = await sites.solana.files("profile 2");
    expect(files["donate/link-only.html"]).toBeNull();
    const page = await sites.solana.page("profile 2");
    expect(page.$('#give a[href="https://link.example/give"]').text().trim()).toBe(
      "Give on its website",
    );
    expect(page.$(".giving, script[src]").not(".nearby script").length).toBe(0);
  });

  test("and without a donation page says so", async () => {
    expect(textOf(await sites.solana.page("profile 3"), "#give")).toContain(
      "No donation page known.",
    );
  });

  test("and with an address that agents agreed on has a plain link with its source, and no button", async () => {
    const { $ } = await sites.solana.page(`profile ${badWallets.length + 7}`);
    expect($("#give .button").length).toBe(0);
    expect($("#give").text()).toContain(
      "Unconfirmed address: agreed.example (Agreement of agents: “scout”, “lamp”, 1 October 2026)",
    );
  });

  test("and with a website of a register leads there, and says what to look for", async () => {
    const { $ } = await sites.solana.page(`profile ${badWallets.length + 8}`);
    expect($("#give .button").attr("href")).toBe("https://charity.example");
    expect(textOf({ $ } as never, "#give")).toContain("charity.example; look for “Donate” there");
  });

  test("is what a withdrawn one is: nothing invites to give", async () => {
    const files = await sites.solana.files("profile 4");
    expect(files["donate/gone.html"]).toBeNull();
    const { $, html } = await sites.solana.page("profile 4");
    expect($("#give, .giving").length).toBe(0);
    expect(html).not.toContain(wallet);
  });

  test.each(badWallets.map((bad, at) => [bad.slice(0, 30), at] as const))(
    "is what one with the text %p for a wallet is",
    async (_, at) => {
      const files = await sites.solana.files(`profile ${6 + at}`);
      expect(files[`donate/bad-${at}.html`]).toBeNull();
      expect(files[`nonprofits/bad-${at}.html`]).not.toContain('class="giving"');
    },
  );
});

describe("a hostile name", () => {
  test.each(["", "donate/"])("stays text on the page in %p", async (folder) => {
    const { $, html } = await sites.local.page("profile 5", folder);
    expect($("img, iframe, style, [onerror], [onload], [onclick]").length).toBe(0);
    expect($("h1").text()).toContain(attack.slice(0, 30));
    expect(html).not.toContain("<img src=x");
    for (const script of $("script").toArray()) {
      expect($(script).attr("src") ?? $(script).attr("type")).toMatch(
        /^(\/_astro\/|application\/ld)/,
      );
    }
  });
});

describe("whether money is real", () => {
  const shown = ["profile 1", "profile 1 donate/", "page receipt", "page widget"];
  const notices = async (site: TestSite, name: string) => {
    const [, key = name, folder] = /^(.+) (donate\/)$/.exec(name) ?? [];
    return (await site.page(key, folder)).$("main .notice").text().replaceAll(/\s+/g, " ").trim();
  };
  test.each(shown)("is said on %s when it is not", async (name) => {
    expect(await notices(sites.local, name)).toMatch(/^Test network\. .*no real money moves/);
    expect(await notices(sites["solana-devnet"], name)).toMatch(/^Test network\. .*Solana devnet/);
  });
  test.each(shown)("is no matter on %s of mainnet", async (name) => {
    expect(await notices(sites.solana, name)).toBe("");
  });
  test.each([
    ["local", "a local test chain"],
    ["solana-devnet", "Solana devnet, a test network"],
    ["solana", "Solana (mainnet)"],
  ] as const)("is said in markdown and JSON-LD of %s, where a wallet is", async (network, name) => {
    const isTest = network !== "solana";
    const files = await sites[network].files("profile 1");
    const markdown = files["nonprofits/lantern-school.md"] ?? "";
    expect(markdown).toContain(`USDC wallet: ${wallet} on ${name}`);
    const ours = markdown.slice(markdown.indexOf("</third-party-data>"));
    expect(/\*\*Test network\.\*\* .*Never send real USDC/.test(ours)).toBe(isTest);
    const { $ } = await sites[network].page("profile 1");
    const ways = JSON.parse($('script[type="application/ld+json"]').text()).potentialAction;
    expect(ways.at(-1).instrument.name).toBe(`USDC on ${name}`);
    expect("description" in ways.at(-1).instrument).toBe(isTest);
    const without = (await sites[network].files("profile 6"))["nonprofits/bad-0.md"] ?? "";
    expect(without).not.toMatch(/Test network|How to pay/);
  });
});
