import { beforeAll, describe, expect, test } from "bun:test";
import { Keypair, type PublicKey, SystemProgram } from "@solana/web3.js";
import type { PaymentRequirements, Settlement } from "#content/contract/donation.ts";
import { aContract } from "#test/support/contract.ts";
import { aDonatingService, theDonatingService, paymentHeader } from "#test/support/donating.ts";
import type { Paying } from "#test/support/paying.ts";
import type { Donor } from "#test/support/donor.ts";
import { aNonprofit } from "#test/support/records.ts";
import { forTests } from "#test/support/at-file-top.ts";

let other: string;
const own = Keypair.generate();
const contract = aContract("https://almoner.example");
const path = "/api/donate/well";

const at = await theDonatingService({
  records: (chain) => {
    other = chain.wallet();
    return [aNonprofit({ slug: "other", usdc_wallet: other })];
  },
});
const sponsor = at.chain.sponsor.publicKey.toBase58();

type Sending = { url?: string; version?: 1 | 2; method?: "GET" | "POST" };

async function send({ bytes }: { bytes: Uint8Array }, sending: Sending = {}) {
  const { url = path, version = 2, method = "GET" } = sending;
  const { caip2, network } = at.service.context.chain;
  const response = await at.send(
    url,
    paymentHeader(bytes, version, version === 2 ? caip2 : network),
    method,
  );
  expect(await contract.problemsOf(method, url, response.clone())).toEqual([]);
  const body = (await response.json()) as Settlement & PaymentRequirements;
  return { status: response.status, body, headers: response.headers };
}

const decoded = (header: string | null) =>
  JSON.parse(atob(header ?? "")) as Record<string, unknown>;
describe("a signed payment is broadcast, recorded and answered", () => {
  test.each(
    ([1, 2] as const).flatMap((version) =>
      (["GET", "POST"] as const).flatMap((method) => [
        { version, method, sponsored: true },
        { version, method, sponsored: false },
      ]),
    ),
  )("version $version by $method, sponsored: $sponsored", async ({ sponsored, ...sending }) => {
    const donor = at.chain.donor();
    const url = `${path}?amount=2.5${sponsored ? "" : `&payer=${donor.address}`}`;
    const demand = await at.demand(url);
    const feePayer = demand.accepts[0]?.extra.feePayer ?? "";
    expect(feePayer).toBe(sponsored ? sponsor : donor.address);
    const before = at.chain.usdcOf(at.wallet);
    const lamports = at.chain.lamportsOf(sponsor);
    const signed = at.payment(demand, { feePayer }, donor);
    const { status, body, headers } = await send(signed, { ...sending, url });
    expect([status, body.amount, at.chain.usdcOf(at.wallet) - before]).toEqual([
      200,
      2.5,
      2_500_000n,
    ]);
    expect(lamports - at.chain.lamportsOf(sponsor)).toBe(sponsored ? 10_001 : 0);
    const result = { success: true, transaction: body.tx_signature, payer: donor.address };
    // Version 2 as it was offered: devnet's.
    for (const [header, network] of [
      ["payment-response", "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"],
      ["x-payment-response", "solana-devnet"],
    ] as const) {
      expect(decoded(headers.get(header))).toEqual({ ...result, network });
    }
  });

  test("once: the same payment at the same moment and again gets the same answer, and pays once", async () => {
    const signed = at.payment(await at.demand());
    const usdc = at.chain.usdcOf(at.wallet);
    const count = await at.donationCount();
    const answers = await Promise.all(Array.from({ length: 12 }, () => send(signed)));
    answers.push(await send(signed, { version: 1 }), await send(signed, { method: "POST" }));
    const texts = answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`);
    expect([...new Set(texts)]).toEqual([expect.stringMatching(/^200 \{"success":true/)]);
    expect(at.chain.usdcOf(at.wallet)).toBe(usdc + 1_000_000n);
    expect(await at.donationCount()).toBe(count + 1);
  });

  test("of a donor who pays the fee: broadcast alone before, proven afterwards, or with an account made", async () => {
    const donor = at.chain.donor();
    const url = `${path}?payer=${donor.address}`;
    const selfPaid = { feePayer: donor.address };
    const signed = at.payment(await at.demand(url), selfPaid, donor);
    at.chain.land(signed);
    expect((await send(signed)).status).toBe(200);
    expect((await at.prove(path, signed.signature)).status).toBe(200);
    const making = at.payment(await at.demand(url), { ...selfPaid, makeAccount: true }, donor);
    expect((await send(making, { url })).status).toBe(200);
  });

  test("of a client that dropped our memo, or wrote another: the address says the amount", async () => {
    for (const memo of [[], ["0123456789abcdef0123456789abcdef"]]) {
      const url = `${path}?amount=0.7`;
      const { status, body } = await send(at.payment(await at.demand(url), { memo }), { url });
      expect([status, body.amount]).toEqual([200, 0.7]);
    }
  });

  test("of a client of an earlier system: with a nonce, and a fee of its own that no one asked for", async () => {
    const donor = at.chain.donor();
    const { recipient, memo } = await at.demand();
    const { base64: transaction } = donor.pay({ to: recipient, memo, legacy: true, plain: true });
    const payload = { transaction, nonce: "7f3a" };
    const value = { x402Version: 1, scheme: "exact", network: "solana-devnet", payload };
    const header = { "x-payment": btoa(JSON.stringify(value)) };
    expect((await at.send(path, header, "POST")).status).toBe(200);
  });

  test("under the other header's name, as some clients send it", async () => {
    const { bytes } = at.payment(await at.demand());
    const [text] = Object.values(paymentHeader(bytes, 2, at.service.context.chain.caip2));
    expect((await at.send(path, { "x-payment": text ?? "" })).status).toBe(200);
  });
});

describe("no money moves, and 402 asks again, for", () => {
  let expired: string;
  let foreign: string;
  let usdcTwin: PublicKey;
  let poor: Donor;
  beforeAll(async () => {
    const { slots } = at.chain.chain.ledger;
    expired = slots.blockhash(slots.now());
    at.chain.pass(120_000);
    foreign = (await at.demand("/api/donate/other")).memo;
    poor = at.chain.donor({ usdc: "0.5" });
    usdcTwin = poor.fakeMint(at.wallet);
  });

  const state = async () => [
    at.chain.usdcOf(at.wallet),
    at.chain.lamportsOf(sponsor),
    await at.donationCount(),
  ];
  type How = (demand: PaymentRequirements) => Partial<Paying>;
  test.each<[string, string, How]>([
    ["a lower amount", "wrong_amount", () => ({ usdc: "0.999999" })],
    ["a transfer that drains the sponsor's SOL", "other_instructions", () => ({ also: [drain()] })],
    ["the sponsor as authority and payer", "sponsor_spends", () => ({ authority: sponsor })],
    ["two memos of ours", "foreign_memo", ({ memo }) => ({ memo: [memo, memo] })],
    ["an expired blockhash", "payment_fails", () => ({ blockhash: expired })],
    ["a donor without that much USDC", "payment_fails", () => ({})],
    ["a foreign memo", "foreign_memo", () => ({ memo: foreign })],
    ["a token of the donor's own making", "wrong_token", () => ({ mint: usdcTwin })],
  ])("%s: %s", async (name, code, how) => {
    const demand = await at.demand();
    const before = await state();
    const payer = /own making|that much/.test(name) ? poor : at.chain.donor();
    const { status, body, headers } = await send(at.payment(demand, how(demand), payer));
    expect([status, body.code]).toEqual([402, code]);
    expect(body.error).toContain("No money has moved.");
    expect(body.memo).not.toBe(demand.memo);
    const { error } = body;
    const accepts = [{ amount: "1000000" }];
    expect(decoded(headers.get("payment-required"))).toMatchObject({ error, accepts });
    expect(await state()).toEqual(before);
  });
  const drain = (lamports = 1_000_000) => {
    const { publicKey: fromPubkey } = at.chain.sponsor;
    return SystemProgram.transfer({ fromPubkey, toPubkey: own.publicKey, lamports });
  };
  test("another network: wrong_network; another scheme is no payment at all", async () => {
    const { bytes } = at.payment(await at.demand());
    const code = async (header: Record<string, string>) =>
      (await (await at.send(path, header)).json()).code;
    expect(await code(paymentHeader(bytes, 1, "solana"))).toBe("wrong_network");
    expect(await code(paymentHeader(bytes, 2, "eip155:8453"))).toBe("wrong_network");
    const payload = { transaction: "AAAA" };
    const upto = { x402Version: 1, scheme: "upto", network: "solana-devnet", payload };
    expect((await at.send(path, { "x-payment": btoa(JSON.stringify(upto)) })).status).toBe(400);
  });

  test("the nonprofit's own wallet, and less than is sponsored", async () => {
    const nonprofit = at.chain.donor();
    await at.service.add(aNonprofit({ slug: "self", usdc_wallet: nonprofit.address }));
    for (const [code, url, donor] of [
      ["self_donation", "/api/donate/self", nonprofit],
      ["sponsored_too_little", `${path}?amount=0.005`, at.chain.donor()],
    ] as const) {
      const { status, body } = await send(at.payment(await at.demand(url), {}, donor), { url });
      expect([status, body.code]).toEqual([402, code]);
    }
  });

  test("nothing of all this is left to be swept", async () => {
    const waiting = "SELECT id FROM donation_intents WHERE status = 'waiting'";
    expect(await at.service.rows(waiting)).toEqual([]);
  });
});

describe("of the requests that one client may make in a minute", () => {
  const few = forTests(() => aDonatingService({ env: { ALMONER_DONATE_PER_MINUTE: "3" } }));
  const caip2 = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"; // As it is offered: devnet's.
  const from = (client: string) => ({ "x-forwarded-for": client });
  const ask = async (client: string) => (await few.service.get(path, from(client))).status;
  const pay = async (client: string, { bytes }: { bytes: Uint8Array }) =>
    (await few.service.get(path, { ...from(client), ...paymentHeader(bytes, 2, caip2) })).status;
  const post = async (client: string, body: object) =>
    (await few.service.post(path, body, from(client))).status;
  /** A payment of what is asked for, by a donor who pays the fee. */
  const paymentOf = async (usdc = "1") => {
    const donor = few.chain.donor();
    const { recipient, memo } = await few.demand();
    return donor.pay({ to: recipient, memo, usdc, feePayer: donor.address });
  };

  const statuses = async (count: number, request: () => Promise<number>) => {
    const all = [];
    for (let time = 0; time < count; time++) all.push(await request());
    return all;
  };

  test("those count that ask, and no payment that is taken or was taken before", async () => {
    const client = "192.0.2.1";
    const first = await paymentOf();
    const second = await paymentOf();
    expect(await statuses(4, () => ask(client))).toEqual([402, 402, 402, 429]);
    expect(await statuses(4, () => pay(client, first))).toEqual([200, 200, 200, 200]);
    expect(await pay(client, second)).toBe(200);
    const body = { tx_signature: first.signature };
    expect(await statuses(4, () => post(client, body))).toEqual([200, 200, 200, 200]);
    expect(await ask(client)).toBe(429);
  });

  test("those count whose payment cannot be used, and proofs that are none", async () => {
    const [payer, prover, poster] = ["192.0.2.2", "192.0.2.3", "192.0.2.4"] as const;
    const unusable = await paymentOf("0.5");
    expect(await statuses(4, () => pay(payer, unusable))).toEqual([402, 402, 402, 429]);
    const unknown = { tx_signature: unusable.signature };
    expect(await statuses(4, () => post(prover, unknown))).toEqual([202, 202, 202, 429]);
    expect(await statuses(2, () => post(poster, {}))).toEqual([402, 402]);
    expect(await post(poster, { tx_signature: "?" })).toBe(400);
    expect(await post(poster, {})).toBe(429);
    for (const client of [payer, prover, poster]) expect(await ask(client)).toBe(429);
  });
});
