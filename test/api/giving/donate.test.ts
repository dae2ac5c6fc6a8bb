import Ajv2020 from "ajv/dist/2020.js";
import { givingWorld } from "#content/giving/world.ts";
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { DonateParameters, type PaymentRequirements } from "#content/contract/donation.ts";
import { readMemo } from "#content/giving/memo.ts";
import { aContract } from "#test/support/contract.ts";
import { aDonatingService, type DonatingService } from "#test/support/donating.ts";
import { aNonprofit } from "#test/support/records.ts";

let at: DonatingService;
let bare: string;
const contract = aContract("https://almoner.example");
beforeAll(async () => {
  at = await aDonatingService({
    records: (chain) => {
      bare = chain.wallet({ account: false });
      return [
        aNonprofit({ slug: "bare", usdc_wallet: bare }),
        aNonprofit({ slug: "poor", donation_url: "https://poor.example/give" }),
        aNonprofit({ slug: "sly", donation_url: "javascript:alert(1)" }),
        aNonprofit({ slug: "gone", status: "withdrawn", usdc_wallet: chain.wallet() }),
      ];
    },
  });
});
afterAll(() => at.stop());

/** Stock clients know no other than this. */
const devnet = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";

const decoded = (header: string | null): Record<string, unknown> =>
  // As browsers' clients do it: byte by byte.
  JSON.parse(atob(header ?? "")) as Record<string, unknown>;

describe("the one 402", () => {
  test("has the contract's seven fields, and what x402 version 1 reads, in its body", async () => {
    const body = await at.demand("/api/donate/well?amount=2.5");
    const { sponsor, chain } = {
      sponsor: at.chain.sponsor.publicKey.toBase58(),
      chain: at.service.context.chain,
    };
    expect(body).toMatchObject({
      x402: true,
      recipient: at.wallet,
      amount: 2.5,
      currency: "USDC",
      network: "solana",
      nonprofit: "Well “Wasser” Trust",
      slug: "well",
      cluster: "local",
      mint: chain.mint,
      decimals: 6,
      amount_atomic: "2500000",
      code: "payment_required",
      x402Version: 1,
      accepts: [
        {
          scheme: "exact",
          network: "solana-devnet",
          maxAmountRequired: "2500000",
          asset: chain.mint,
          payTo: at.wallet,
          maxTimeoutSeconds: 300,
          resource: "https://almoner.example/api/donate/well?amount=2.5",
          mimeType: "application/json",
          extra: {
            feePayer: sponsor,
            fee_paid_by: "sponsor",
            memo: body.memo,
            decimals: 6,
            name: "Well “Wasser” Trust",
            slug: "well",
            asset_name: "USDC",
          },
        },
      ],
    });
  });

  test("says the same in PAYMENT-REQUIRED, in words of version 2", async () => {
    const response = await at.service.get("/api/donate/well?amount=2.5");
    const body = (await response.json()) as PaymentRequirements;
    const { mint } = at.service.context.chain;
    expect(decoded(response.headers.get("payment-required"))).toEqual({
      x402Version: 2,
      error: body.error,
      resource: {
        url: "https://almoner.example/api/donate/well?amount=2.5",
        description: "Donation of 2.5 USDC to well (local: no real money moves)",
        mimeType: "application/json",
      },
      accepts: [
        {
          scheme: "exact",
          network: devnet,
          amount: "2500000",
          asset: mint,
          payTo: at.wallet,
          maxTimeoutSeconds: 300,
          extra: body.accepts[0]?.extra,
        },
      ],
      extensions: { bazaar: expect.anything() },
    });
  });

  test("says it in X-PAYMENT-REQUIRED in words of the contract and of an earlier system", async () => {
    const response = await at.service.get("/api/donate/well");
    const body = (await response.json()) as PaymentRequirements;
    expect(decoded(response.headers.get("x-payment-required"))).toEqual({
      x402: true,
      recipient: at.wallet,
      amount: 1,
      currency: "USDC",
      network: "solana",
      nonprofit: "Well “Wasser” Trust",
      slug: "well",
      wallet: at.wallet,
      mint: body.mint,
      memo: body.memo,
      x402Version: 1,
      resource: "https://almoner.example/api/donate/well?amount=1",
      accepts: body.accepts,
    });
  });

  test("is kept by no cache, and scripts of other sites may read its headers", async () => {
    for (const response of [
      await at.service.get("/api/donate/well"),
      await at.service.post("/api/donate/well", {}),
    ]) {
      expect(response.status).toBe(402);
      expect(response.headers.get("cache-control")).toBe("no-store");
      const exposed = response.headers.get("access-control-expose-headers") ?? "";
      for (const name of [
        "PAYMENT-REQUIRED",
        "X-PAYMENT-REQUIRED",
        "PAYMENT-RESPONSE",
        "X-PAYMENT-RESPONSE",
        "Retry-After",
      ]) {
        expect(exposed).toContain(name);
      }
    }
  });

  test("says on the local chain where that is, and how to fill a wallet", async () => {
    const { local_chain } = await at.demand();
    expect(local_chain?.rpc_url).toBe(at.chain.url);
    const [, url = "", body = ""] =
      /^POST (\S+) with (\{.+?\})/.exec(local_chain?.test_money ?? "") ?? [];
    const wallet = at.chain.wallet();
    await fetch(url, { method: "POST", body: body.replace("<your wallet>", wallet) });
    expect(at.chain.usdcOf(wallet)).toBe(100_000_000n);
    const elsewhere = { ...at.service.context.chain, cluster: "devnet" } as const;
    expect(givingWorld({ ...at.service.context, chain: elsewhere }).localRpcUrl).toBeNull();
  });

  test("carries the intent in its memo, and stores nothing", async () => {
    const [one, two] = [await at.demand(), await at.demand()];
    expect(one.memo).not.toBe(two.memo);
    const seal = {
      key: at.service.context.secrets.donationMemoKey,
      network: at.service.context.chain.caip2,
    };
    expect(readMemo(one.memo, seal)).toMatchObject({
      amount: 1_000_000n,
      issued_at_s: at.chain.clock().getTime() / 1_000,
    });
    const { rows } = await at.service.store.raw.execute(
      "SELECT count(*) AS count FROM donation_intents",
    );
    expect(rows[0]?.["count"]).toBe(0);
  });

  test("links a wallet by Solana Pay, with memo and reference", async () => {
    const { solana_pay, memo, reference, mint } = await at.demand("/api/donate/well?amount=0.25");
    const link = new URL(solana_pay);
    expect([link.protocol, link.pathname]).toEqual(["solana:", at.wallet]);
    expect(Object.fromEntries(link.searchParams)).toMatchObject({
      amount: "0.25",
      "spl-token": mint,
      reference,
      memo,
    });
  });
});

describe("the catalogue entry of a 402", () => {
  const entryOf = async (path: string) => {
    const { headers } = await at.service.get(path);
    const bytes = [...headers].reduce((sum, pair) => sum + pair.join(": ").length + 2, 0);
    const { extensions } = decoded(headers.get("payment-required")) as {
      extensions: { bazaar: { info: { input: object }; schema: object; routeTemplate: string } };
    };
    return { bytes, ...extensions.bazaar };
  };

  test("fits its schema, which refuses what is no request for a gift", async () => {
    const { info, schema, routeTemplate } = await entryOf("/api/donate/well?amount=2.5");
    const fits = new Ajv2020().compile(schema);
    expect([fits(info), fits.errors]).toEqual([true, null]);
    const parameters = Object.keys(DonateParameters.shape);
    expect(schema).toMatchObject({
      properties: {
        input: {
          properties: {
            queryParams: {
              properties: Object.fromEntries(parameters.map((name) => [name, { type: "string" }])),
            },
          },
        },
      },
    });
    expect(info.input).toEqual({
      ...{ type: "http", method: "GET", pathParams: { slug: "well" } },
      queryParams: { amount: "2.5" },
    });
    expect(fits({ input: { ...info.input, method: "DELETE" } })).toBe(false);
    expect(fits({ input: { ...info.input, queryParams: { amount: 2.5 } } })).toBe(false);
    expect(routeTemplate).toMatch(/^\/[a-zA-Z0-9_/:.\-~%]+$/);
  });

  test("leaves room in the headers, however long the name", async () => {
    const name = "慈".repeat(200);
    await at.service.add(aNonprofit({ slug: "long", name, usdc_wallet: at.wallet }));
    expect((await entryOf("/api/donate/long")).bytes).toBeLessThan(12_000);
  });
});

describe("who pays the network fee", () => {
  const payer = "7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2";
  const feePayers = async (path: string) =>
    (await at.demand(path)).accepts.map(({ extra }) => extra.feePayer);

  test("is the wallet that the client names", async () => {
    expect(await feePayers(`/api/donate/well?payer=${payer}`)).toEqual([payer]);
    expect(await feePayers(`/api/donate/well?payer=${payer}&amount=0.000001`)).toEqual([payer]);
  });

  test("is our sponsor, from the least sponsored amount on", async () => {
    const sponsor = at.chain.sponsor.publicKey.toBase58();
    expect(await feePayers("/api/donate/well?amount=0.01")).toEqual([sponsor]);
    expect(await feePayers("/api/donate/well?amount=0.009999")).toEqual([undefined]);
  });

  test("is named in words where it is not the sponsor, with what to do", async () => {
    const { chain } = at.service.context;
    const said = async (path: string) => (await at.demand(path)).error;
    expect(await said("/api/donate/well?amount=0.01")).not.toContain("network fee");
    expect(await said("/api/donate/well?amount=0.005")).toContain("from 0.01 USDC on");
    expect(await said("/api/donate/well?amount=0.005")).toContain("ask again with ?payer=");
    expect(await said(`/api/donate/well?amount=0.005&payer=${payer}`)).not.toContain("fee");
    expect(await said("/api/donate/bare")).toContain("account is not on chain yet");
    const unclear = { ok: false, failure: { kind: "chain_unclear", why: "" } } as const;
    const account = spyOn(chain, "canReceive").mockResolvedValue(unclear);
    expect(await said("/api/donate/well?amount=0.09")).toContain("from 0.1 USDC on");
    expect(await said("/api/donate/well?amount=0.1")).not.toContain("network fee");
    account.mockRestore();
  });

  test("is no one where the nonprofit has no account to pay into yet", async () => {
    expect(await feePayers("/api/donate/bare")).toEqual([undefined]);
    expect(await feePayers(`/api/donate/bare?payer=${payer}`)).toEqual([undefined]);
    at.chain.chain.ensure([new (await import("@solana/web3.js")).PublicKey(bare)]);
    at.chain.pass(5_001);
    expect(await feePayers("/api/donate/bare")).not.toContain(undefined);
  });

  test("is the payer without sponsor and without a named wallet: what to pay is still there", async () => {
    const unsponsored = await aDonatingService({
      env: { ALMONER_SPONSORED_MINIMUM: "10000" },
    });
    const { accepts, memo, mint, recipient } = await unsponsored.demand(
      "/api/donate/well?amount=5",
    );
    expect(accepts).toMatchObject([
      { payTo: recipient, asset: mint, maxAmountRequired: "5000000", extra: { memo } },
    ]);
    expect(accepts[0]?.extra).toMatchObject({ fee_paid_by: "payer", slug: "well" });
    expect(accepts[0]?.extra.feePayer).toBeUndefined();
    await unsponsored.stop();
  });
});

test("a slug in other letters leads to the one that is meant, with all that was asked", async () => {
  const { status, headers } = await at.service.get("/api/donate/WELL?amount=5");
  expect([status, headers.get("location")]).toEqual([308, "/api/donate/well?amount=5"]);
});

test("an empty amount and an empty payer are as good as none", async () => {
  expect((await at.demand("/api/donate/well?amount=&payer=")).amount).toBe(1);
});

describe("refuses", () => {
  const refusals: [number, string, string][] = [
    ...[
      "1e3",
      "0",
      "%201",
      "+1",
      "-1",
      "0x1",
      "１",
      "1.0000001",
      "10000.000001",
      "NaN",
      "1,5",
      ".5",
      "1.",
      "01",
    ].map((amount): [number, string, string] => [
      400,
      "invalid_parameter",
      `/api/donate/well?amount=${amount}`,
    ]),
    [400, "invalid_parameter", "/api/donate/well?payer=0OIl"],
    [400, "invalid_parameter", "/api/donate/well?payer=7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSK"],
    [404, "nonprofit_not_found", "/api/donate/nobody"],
    [410, "nonprofit_withdrawn", "/api/donate/gone"],
    [422, "nonprofit_without_wallet", "/api/donate/poor"],
    [400, "memo_unknown", "/api/donate/well/status"],
    [400, "memo_unknown", `/api/donate/well/status?memo=${"A".repeat(32)}`],
    [404, "nonprofit_not_found", "/api/donate/nobody/status?memo=x"],
    [410, "nonprofit_withdrawn", "/api/donate/gone/status?memo=x"],
    [404, "nonprofit_not_found", "/api/donations/nobody"],
  ];

  test.each(refusals)("%i %s: %s", async (status, code, path) => {
    const response = await at.service.get(path, { "x-forwarded-for": "10.9.9.1" });
    const copy = response.clone();
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      status,
      code,
    ]);
    expect(await contract.problemsOf("GET", path, copy)).toEqual([]);
  });

  test("of a nonprofit without a wallet it names the donation page, if that is a link", async () => {
    const page = async (slug: string) =>
      ((await (await at.service.get(`/api/donate/${slug}`)).json()) as { donation_url: unknown })
        .donation_url;
    expect([await page("poor"), await page("sly")]).toEqual(["https://poor.example/give", null]);
  });

  const bodies: [string, unknown][] = [
    ["a list", []],
    ["a text", "sig"],
    ["null as signature", { tx_signature: null }],
    ["a number as signature", { tx_signature: 7 }],
    ["an empty signature", { tx_signature: "" }],
    ["32 bytes", { tx_signature: "7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2" }],
    ["65 bytes", { tx_signature: "1".repeat(65) }],
    ["hex", { tx_signature: "ab".repeat(64) }],
    ["a long text", { tx_signature: "1".repeat(60_000) }],
    ["a signature with a space", { tx_signature: ` ${"1".repeat(64)}` }],
  ];
  test.each(bodies)("400 %s", async (_, body) => {
    const response = await at.service.post("/api/donate/well", body);
    expect(response.status).toBe(400);
    expect(await contract.problemsOf("POST", "/api/donate/well", response)).toEqual([]);
  });

  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
  const headers: [string, string][] = [
    ["no base64", "{}"],
    ["no JSON", "AAAA"],
    ["no object", encoded("x")],
    ["nothing in it", encoded({})],
    [
      "another version",
      encoded({
        x402Version: 3,
        scheme: "exact",
        network: "solana",
        payload: { transaction: "AAAA" },
      }),
    ],
    [
      "no transaction",
      encoded({ x402Version: 1, scheme: "exact", network: "solana", payload: {} }),
    ],
    [
      "no bytes of a transaction",
      encoded({
        x402Version: 1,
        scheme: "exact",
        network: "solana-devnet",
        payload: { transaction: "AAAA" },
      }),
    ],
    [
      "no base64 in it",
      encoded({
        x402Version: 2,
        accepted: { scheme: "exact", network: "x" },
        payload: { transaction: "?" },
      }),
    ],
    ["more than 16 KiB", "A".repeat(17_000)],
    ["an empty header", ""],
    ["bytes that are no UTF-8", "gICAgA=="],
  ];
  test.each(headers)("400 a payment header with %s", async (_, value) => {
    for (const name of ["x-payment", "payment-signature"]) {
      const response = await at.send("/api/donate/well", { [name]: value });
      const { code } = (await response.clone().json()) as { code: string };
      expect([response.status, code]).toEqual([
        400,
        expect.stringMatching(/^payment(_header)?_malformed$/),
      ]);
      expect(await contract.problemsOf("GET", "/api/donate/well", response)).toEqual([]);
    }
  });
});

test("HEAD says what GET says; OPTIONS allows both methods", async () => {
  const head = await at.service.app.handle(
    new Request("http://localhost/api/donate/well", { method: "HEAD" }),
  );
  expect([head.status, await head.text()]).toEqual([402, ""]);
  expect(head.headers.get("payment-required")).not.toBeNull();
  const options = await at.service.app.handle(
    new Request("http://localhost/api/donate/well", { method: "OPTIONS" }),
  );
  expect(options.headers.get("allow")).toContain("POST");
});

test("60 requests a minute of one client are answered, the next is 429", async () => {
  const asked = { "x-forwarded-for": "10.200.0.1" };
  const statuses = [];
  for (let n = 0; n < 61; n++)
    statuses.push((await at.service.get("/api/donate/well", asked)).status);
  expect(statuses).toEqual([...Array<number>(60).fill(402), 429]);
});

test("a donation of nothing yet", async () => {
  const response = await at.service.get("/api/donations/well");
  expect(await response.json()).toEqual({
    nonprofit: "Well “Wasser” Trust",
    slug: "well",
    total_donated_usdc: 0,
    donation_count: 0,
    donor_count: 0,
    currency: "USDC",
    cluster: "local",
    recent_donations: [],
  });
});
