import { PublicKey } from "@solana/web3.js";
import Ajv2020 from "ajv/dist/2020.js";
import { givingWorld } from "#content/giving/world.ts";
import { describe, expect, spyOn, test } from "bun:test";
import { operatorHealth } from "#api/operator/health.ts";
import { DonateParameters, type PaymentRequirements } from "#content/contract/donation.ts";
import { readMemo } from "#content/giving/memo.ts";
import { aContract } from "#test/support/contract.ts";
import { aDonatingService, paymentHeader, theDonatingService } from "#test/support/donating.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService } from "#test/support/service.ts";
import { until } from "#test/support/until.ts";

let bare: string;
const contract = aContract("https://almoner.example");
const at = await theDonatingService({
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

/** Status and code of a refusal that is as the contract says. */
async function problemIn(response: Response, path: string, method = "GET") {
  expect(await contract.problemsOf(method, path, response.clone())).toEqual([]);
  return [response.status, ((await response.json()) as { code: string }).code];
}

/** Stock clients know no other than this. */
const devnet = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";

const decoded = (header: string | null): Record<string, unknown> =>
  // As browsers' clients do it: byte by byte.
  JSON.parse(atob(header ?? "")) as Record<string, unknown>;

describe("the one 402", () => {
  test("says one demand in its body and in both headers, in the words of the contract and of each x402 version", async () => {
    const response = await at.service.get("/api/donate/well?amount=2.5");
    const body = (await response.json()) as PaymentRequirements;
    const { mint } = at.service.context.chain;
    const resource = "https://almoner.example/api/donate/well?amount=2.5";
    const description = "Donation of 2.5 USDC to well (local: no real money moves)";
    const mimeType = "application/json";
    const terms = { asset: mint, payTo: at.wallet, maxTimeoutSeconds: 300 };
    const nonprofit = { name: "Well “Wasser” Trust", slug: "well" };
    const feePayer = at.chain.sponsor.publicKey.toBase58();
    const fee = { feePayer, fee_paid_by: "sponsor" };
    const extra = { ...fee, memo: body.memo, decimals: 6, ...nonprofit, asset_name: "USDC" };
    const offer = { network: "solana-devnet", maxAmountRequired: "2500000", ...terms };
    const accepts = [{ scheme: "exact", ...offer, resource, description, mimeType, extra }];
    const contractFields = {
      x402: true,
      recipient: at.wallet,
      amount: 2.5,
      currency: "USDC",
      network: "solana",
      nonprofit: nonprofit.name,
      slug: "well",
    };
    expect(body).toMatchObject({
      ...contractFields,
      cluster: "local",
      mint,
      decimals: 6,
      amount_atomic: "2500000",
      code: "payment_required",
      x402Version: 1,
      accepts,
    });
    expect(decoded(response.headers.get("x-payment-required"))).toEqual({
      ...contractFields,
      wallet: at.wallet,
      mint,
      memo: body.memo,
      x402Version: 1,
      resource,
      accepts,
    });
    expect(decoded(response.headers.get("payment-required"))).toEqual({
      x402Version: 2,
      error: body.error,
      resource: { url: resource, description, mimeType },
      accepts: [{ scheme: "exact", network: devnet, amount: "2500000", ...terms, extra }],
      extensions: { bazaar: expect.anything() },
    });
  });

  test("is kept by no cache, and scripts of other sites may read its headers", async () => {
    for (const response of [
      await at.service.get("/api/donate/well"),
      await at.service.post("/api/donate/well", {}),
    ]) {
      expect([response.status, response.headers.get("cache-control")]).toEqual([402, "no-store"]);
      const exposed = response.headers.get("access-control-expose-headers")?.split(/, */);
      const names = ["PAYMENT-REQUIRED", "PAYMENT-RESPONSE"].flatMap((name) => [name, `X-${name}`]);
      expect(exposed).toEqual(expect.arrayContaining([...names, "Retry-After"]));
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
    const first = await at.demand();
    const second = await at.demand();
    expect(first.memo).not.toBe(second.memo);
    const { secrets, chain } = at.service.context;
    const seal = { key: secrets.donationMemoKey, network: chain.caip2 };
    const issued_at_s = at.chain.clock().getTime() / 1_000;
    expect(readMemo(first.memo, seal)).toMatchObject({ amount: 1_000_000n, issued_at_s });
    expect(await at.service.rows("SELECT id FROM donation_intents")).toEqual([]);
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
    const properties = Object.fromEntries(parameters.map((name) => [name, { type: "string" }]));
    const queryParams = { properties };
    expect(schema).toMatchObject({ properties: { input: { properties: { queryParams } } } });
    const request = { type: "http", method: "GET", pathParams: { slug: "well" } };
    expect(info.input).toEqual({ ...request, queryParams: { amount: "2.5" } });
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

  test("is the wallet that the client names, else our sponsor from the least amount on", async () => {
    const sponsor = at.chain.sponsor.publicKey.toBase58();
    for (const [query, feePayer] of [
      [`payer=${payer}`, payer],
      [`payer=${payer}&amount=0.000001`, payer],
      ["amount=0.01", sponsor],
      ["amount=0.009999", undefined],
    ]) {
      expect(await feePayers(`/api/donate/well?${query}`)).toEqual([feePayer]);
    }
  });

  test("is named in words where it is not the sponsor, with what to do", async () => {
    const errorOf = async (path: string) => (await at.demand(path)).error;
    expect(await errorOf("/api/donate/well?amount=0.01")).not.toContain("network fee");
    expect(await errorOf("/api/donate/well?amount=0.005")).toMatch(
      /from 0\.01 USDC on.*ask again with \?payer=/,
    );
    expect(await errorOf(`/api/donate/well?amount=0.005&payer=${payer}`)).not.toContain("fee");
    expect(await errorOf("/api/donate/bare")).toContain("account is not on chain yet");
    const unclear = { ok: false, failure: { kind: "chain_unclear", why: "" } } as const;
    const account = spyOn(at.service.context.chain, "canReceive").mockResolvedValue(unclear);
    expect(await errorOf("/api/donate/well?amount=0.09")).toContain("from 0.1 USDC on");
    expect(await errorOf("/api/donate/well?amount=0.1")).not.toContain("network fee");
    account.mockRestore();
  });

  test("is no one where the nonprofit has no account to pay into yet", async () => {
    expect(await feePayers("/api/donate/bare")).toEqual([undefined]);
    expect(await feePayers(`/api/donate/bare?payer=${payer}`)).toEqual([undefined]);
    at.chain.chain.ensure([new PublicKey(bare)]);
    at.chain.pass(5_001);
    expect(await feePayers("/api/donate/bare")).not.toContain(undefined);
  });

  test("is the payer without sponsor and without a named wallet: what to pay is still there", async () => {
    const unsponsored = await aDonatingService({ env: { ALMONER_SPONSORED_MINIMUM: "10000" } });
    const { accepts, ...body } = await unsponsored.demand("/api/donate/well?amount=5");
    const { memo, mint: asset, recipient: payTo } = body;
    const extra = { memo, fee_paid_by: "payer", slug: "well" };
    expect(accepts).toMatchObject([{ payTo, asset, maxAmountRequired: "5000000", extra }]);
    expect(accepts[0]?.extra.feePayer).toBeUndefined();
    await unsponsored.stop();
  });
});

describe("refuses", () => {
  test.each([
    [400, "invalid_parameter", "/api/donate/well?amount=10000.000001"],
    [400, "invalid_parameter", "/api/donate/well?payer=7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSK"],
    [404, "nonprofit_not_found", "/api/donate/nobody"],
    [410, "nonprofit_withdrawn", "/api/donate/gone"],
    [422, "nonprofit_without_wallet", "/api/donate/poor"],
    [400, "memo_unknown", "/api/donate/well/status"],
    [400, "memo_unknown", `/api/donate/well/status?memo=${"A".repeat(32)}`],
    [404, "nonprofit_not_found", "/api/donate/nobody/status?memo=x"],
    [410, "nonprofit_withdrawn", "/api/donate/gone/status?memo=x"],
    [404, "nonprofit_not_found", "/api/donations/nobody"],
  ])("%i %s: %s", async (status, code, path) => {
    const response = await at.service.get(path, { "x-forwarded-for": "10.9.9.1" });
    expect(await problemIn(response, path)).toEqual([status, code]);
  });

  test("of a nonprofit without a wallet it names the donation page, if that is a link", async () => {
    const page = async (slug: string) =>
      (await (await at.service.get(`/api/donate/${slug}`)).json()).donation_url;
    expect([await page("poor"), await page("sly")]).toEqual(["https://poor.example/give", null]);
  });

  test.each([
    ["a text", "sig"],
    ["a number as signature", { tx_signature: 7 }],
    ["32 bytes", { tx_signature: "7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2" }],
    ["65 bytes", { tx_signature: "1".repeat(65) }],
    ["a signature with a space", { tx_signature: ` ${"1".repeat(64)}` }],
    ...["txSignature", "signature", "tx_hash", "transaction", "txSig", "transactionHash"].map(
      (name) => [`a signature as ${name}`, { [name]: "?" }] as const,
    ),
    ["a signature in another member", { payment: [`/tx/${"5".repeat(87)}`] }],
    ["an amount, which belongs in the query", { amount: 5 }],
  ])("400 %s: the sender may have paid", async (_, body) => {
    const response = await at.service.post("/api/donate/well", body);
    expect((await problemIn(response, "/api/donate/well", "POST"))[0]).toBe(400);
  });

  test("402 an account, which is neither", async () => {
    expect((await at.service.post("/api/donate/well", { account: "?" })).status).toBe(402);
  });

  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
  const first = { x402Version: 1, scheme: "exact", network: "solana-devnet" };
  const accepted = { scheme: "exact", network: "x" };
  const payload = { transaction: "AAAA" };
  const unreadable = { transaction: "?" };
  test.each([
    ["no base64", "{}", "payment_header_malformed"],
    ["no JSON", "AAAA", "payment_header_malformed"],
    ["another version", encoded({ ...first, payload, x402Version: 3 }), "payment_header_malformed"],
    ["no transaction", encoded({ ...first, payload: {} }), "payment_header_malformed"],
    ["no bytes of a transaction", encoded({ ...first, payload }), "payment_malformed"],
    [
      "no base64 in it",
      encoded({ x402Version: 2, accepted, payload: unreadable }),
      "payment_malformed",
    ],
    ["more than 16 KiB", "A".repeat(17_000), "payment_header_malformed"],
    ["an empty header", "", "payment_header_malformed"],
    ["bytes that are no UTF-8", "gICAgA==", "payment_header_malformed"],
  ])("400 a payment header with %s", async (_, value, code) => {
    for (const name of ["x-payment", "payment-signature"]) {
      const response = await at.send("/api/donate/well", { [name]: value });
      expect(await problemIn(response, "/api/donate/well")).toEqual([400, code]);
    }
  });
});

describe("while no node of the chain answers", () => {
  test("no one is asked for money", async () => {
    const { chain } = at.service.context;
    using health = spyOn(chain, "health").mockResolvedValue({ why: "no answer", took_ms: 1 });
    const answer = await at.service.get("/api/donate/well");
    expect(answer.headers.get("retry-after")).toBe("2");
    expect(await problemIn(answer, "/api/donate/well")).toEqual([503, "chain_away"]);
    expect(health).toHaveBeenCalled();
  });

  test("what may have been paid is never answered 402, and counts when one does", async () => {
    const { path } = await at.target();
    const signature = at.paid(await at.demand(path));
    const { bytes } = at.payment(await at.demand(path));
    const header = paymentHeader(bytes, 2, at.service.context.chain.caip2);
    at.chain.chain.chaos.set({ errors: 100 });
    for (const answer of [await at.prove(path, signature), await at.send(path, header)])
      expect([answer.status, (await answer.json()).code]).toEqual([503, "chain_unclear"]);
    await at.settle();
    await until("the gift", async () => (await at.prove(path, signature)).status === 200);
  });

  test("because none is named, the health page says so", async () => {
    using service = await aService({ records: [aNonprofit({ slug: "well", usdc_wallet: bare })] });
    const answer = await service.get("/api/donate/well");
    expect(await problemIn(answer, "/api/donate/well")).toEqual([503, "chain_away"]);
    expect(await service.json("/readyz")).toMatchObject({ parts: { chain: "none" } });
    const { warnings } = await operatorHealth(service.context);
    expect(warnings.join(" ")).toContain("No node of the chain is named");
  });
});

test("a nonprofit that was given nothing has a history of nothing", async () => {
  const response = await at.service.get("/api/donations/well");
  const nothing = { total_donated_usdc: 0, donation_count: 0, donor_count: 0 };
  expect(await response.json()).toMatchObject({ slug: "well", ...nothing, recent_donations: [] });
});
