import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Keypair, type PublicKey, SystemProgram } from "@solana/web3.js";
import { createTokenAccount, tokenAccount, transferChecked } from "#api/chain/transfer.ts";
import { usdcMint } from "#scripts/chain/svm.ts";
import type { PaymentRequirements, Settlement } from "#content/contract/donation.ts";
import { aContract } from "#test/support/contract.ts";
import { aDonatingService, type DonatingService, paymentHeader } from "#test/support/donating.ts";
import type { Paying } from "#test/support/paying.ts";
import type { Donor } from "#test/support/donor.ts";
import { aNonprofit } from "#test/support/records.ts";

let at: DonatingService;
let sponsor: string;
let other: string;
const own = Keypair.generate();
const contract = aContract("https://almoner.example");
const path = "/api/donate/well";

beforeAll(async () => {
  at = await aDonatingService({
    records: (chain) => {
      other = chain.wallet();
      return [aNonprofit({ slug: "other", usdc_wallet: other })];
    },
  });
  sponsor = at.chain.sponsor.publicKey.toBase58();
});
afterAll(() => at.stop());

/** A payment as a stock client makes it: sponsored unless the test says otherwise. */
const payment = (
  demand: PaymentRequirements,
  how: Partial<Paying> = {},
  donor: Donor = at.chain.donor(),
) =>
  donor.pay({
    to: demand.recipient,
    usdc: String(demand.amount),
    memo: demand.memo,
    feePayer: sponsor,
    ...how,
  });

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
const donationsOf = async (slug = "well") =>
  ((await (await at.service.get(`/api/donations/${slug}`)).json()) as { donation_count: number })
    .donation_count;

describe("a signed payment is broadcast, recorded and answered", () => {
  const ways: [string, Sending, boolean][] = ([1, 2] as const).flatMap((version) =>
    (["GET", "POST"] as const).flatMap((method) =>
      [true, false].map((sponsored): [string, Sending, boolean] => [
        `version ${version} by ${method}, ${sponsored ? "sponsored" : "self-paid"}`,
        { version, method },
        sponsored,
      ]),
    ),
  );

  test.each(ways)("%s", async (_, sending, sponsored) => {
    const donor = at.chain.donor();
    const url = `${path}?amount=2.5${sponsored ? "" : `&payer=${donor.address}`}`;
    const demand = await at.demand(url);
    const feePayer = demand.accepts[0]?.extra.feePayer ?? "";
    expect(feePayer).toBe(sponsored ? sponsor : donor.address);
    const before = at.chain.usdcOf(at.wallet);
    const lamports = at.chain.lamportsOf(sponsor);
    const { status, body, headers } = await send(payment(demand, { feePayer }, donor), {
      ...sending,
      url,
    });
    expect([status, body.amount, at.chain.usdcOf(at.wallet) - before]).toEqual([
      200,
      2.5,
      2_500_000n,
    ]);
    expect(lamports - at.chain.lamportsOf(sponsor)).toBe(sponsored ? 10_001 : 0);
    const result = { success: true, transaction: body.tx_signature, payer: donor.address };
    expect(decoded(headers.get("payment-response"))).toEqual({
      ...result,
      network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1", // As it was offered: devnet's.
    });
    expect(decoded(headers.get("x-payment-response"))).toEqual({
      ...result,
      network: "solana-devnet",
    });
  });

  test("once: the same payment again gets the same answer, and pays nothing", async () => {
    const signed = payment(await at.demand());
    const first = await send(signed);
    const before = at.chain.usdcOf(at.wallet);
    const again = await Promise.all([
      send(signed),
      send(signed, { version: 1 }),
      send(signed, { method: "POST" }),
    ]);
    for (const { status, body } of again) expect([status, body]).toEqual([200, first.body]);
    expect(at.chain.usdcOf(at.wallet)).toBe(before);
  });

  test("once, when it is handed in many times at the same moment", async () => {
    const [signed, before] = [payment(await at.demand()), await donationsOf()];
    const all = await Promise.all(Array.from({ length: 30 }, () => send(signed)));
    expect(new Set(all.map(({ status, body }) => `${status} ${body.donation_id}`)).size).toBe(1);
    expect(await donationsOf()).toBe(before + 1);
  });

  test("also when the client broadcast it alone before, or proves it by its signature afterwards", async () => {
    const donor = at.chain.donor();
    const signed = payment(
      await at.demand(`${path}?payer=${donor.address}`),
      { feePayer: donor.address },
      donor,
    );
    at.chain.land(signed);
    expect((await send(signed)).status).toBe(200);
    expect((await at.prove(path, signed.signature)).status).toBe(200);
  });

  test("of a client that dropped our memo, or wrote another: the address says the amount", async () => {
    for (const memo of [[], ["0123456789abcdef0123456789abcdef"]]) {
      const url = `${path}?amount=0.7`;
      const { status, body } = await send(payment(await at.demand(url), { memo }), { url });
      expect([status, body.amount]).toEqual([200, 0.7]);
    }
  });

  test("of a donor who makes the account, at own cost", async () => {
    const donor = at.chain.donor();
    const url = `${path}?payer=${donor.address}`;
    const signed = payment(
      await at.demand(url),
      { feePayer: donor.address, makeAccount: true },
      donor,
    );
    expect((await send(signed, { url })).status).toBe(200);
  });

  test("of a client of an earlier system: with a nonce, and a fee of its own that no one asked for", async () => {
    const donor = at.chain.donor();
    const { recipient, memo } = await at.demand();
    const { base64: transaction } = donor.pay({ to: recipient, memo, legacy: true, plain: true });
    const value = {
      x402Version: 1,
      scheme: "exact",
      network: "solana-devnet",
      payload: { transaction, nonce: "7f3a" },
    };
    expect((await at.send(path, { "x-payment": btoa(JSON.stringify(value)) }, "POST")).status).toBe(
      200,
    );
  });

  test("under the other header's name, as some clients send it", async () => {
    const { bytes } = payment(await at.demand());
    const [text] = Object.values(paymentHeader(bytes, 2, at.service.context.chain.caip2));
    expect((await at.send(path, { "x-payment": text ?? "" })).status).toBe(200);
  });
});

describe("no money moves, and 402 asks again, for", () => {
  const aside = (from: PublicKey, amount = 1_000n) =>
    transferChecked({
      source: tokenAccount(from, usdcMint),
      mint: usdcMint,
      destination: tokenAccount(own.publicKey, usdcMint),
      authority: from,
      amount,
      decimals: 6,
    });

  const attacks: [
    string,
    string,
    (demand: PaymentRequirements, donor: Donor) => Partial<Paying>,
  ][] = [
    ["a lower amount", "wrong_amount", () => ({ usdc: "0.999999" })],
    ["a higher amount", "wrong_amount", () => ({ usdc: "1.000001" })],
    ["another recipient", "wrong_recipient", () => ({ to: other })],
    [
      "two recipients",
      "other_instructions",
      () => ({
        to: [
          { to: at.wallet, usdc: "1" },
          { to: other, usdc: "1" },
        ],
      }),
    ],
    ["no transfer", "no_transfer", (_, { address }) => ({ to: [], feePayer: address })],
    [
      "a second transfer beside it",
      "other_instructions",
      () => ({ also: [aside(at.chain.sponsor.publicKey)] }),
    ],
    [
      "a transfer that drains the sponsor's SOL",
      "other_instructions",
      () => ({
        also: [
          SystemProgram.transfer({
            fromPubkey: at.chain.sponsor.publicKey,
            toPubkey: own.publicKey,
            lamports: 1_000_000,
          }),
        ],
      }),
    ],
    [
      "making an account at the sponsor's cost",
      "other_instructions",
      () => ({
        also: [
          createTokenAccount(at.chain.sponsor.publicKey, Keypair.generate().publicKey, usdcMint),
        ],
      }),
    ],
    [
      "the sponsor as authority",
      "wrong_fee_payer",
      (_, { address }) => ({ authority: sponsor, feePayer: address }),
    ],
    ["the sponsor as authority and payer", "sponsor_spends", () => ({ authority: sponsor })],
    [
      "a priority-fee bomb",
      "fee_too_high",
      () => ({ computeUnits: 200_000, unitPrice: 10_000_000 }),
    ],
    [
      "a bomb without a limit of units",
      "fee_too_high",
      () => ({ computeUnits: null, unitPrice: 1_000_000_000 }),
    ],
    ["too many units", "fee_too_high", () => ({ computeUnits: 1_400_000, unitPrice: null })],
    ["an extra signer", "extra_signer", () => extraSigner()],
    [
      "another relay as fee payer",
      "wrong_fee_payer",
      () => ({ feePayer: own.publicKey.toBase58(), signers: [own] }),
    ],
    ["two memos of ours", "foreign_memo", ({ memo }) => ({ memo: [memo, memo] })],
    ["an expired blockhash", "payment_fails", () => ({ blockhash: expired })],
    ["a donor without that much USDC", "payment_fails", () => ({})],
    ["a foreign memo", "foreign_memo", () => ({ memo: foreign })],
    ["a token of the donor's own making", "wrong_token", () => ({ mint: usdcTwin })],
  ];
  const extraSigner = (): Partial<Paying> => {
    const third = Keypair.generate();
    const keys = [{ pubkey: third.publicKey, isSigner: true, isWritable: false }];
    const also = SystemProgram.transfer({
      fromPubkey: third.publicKey,
      toPubkey: third.publicKey,
      lamports: 0,
    });
    return { also: [Object.assign(also, { keys })], signers: [third] };
  };
  let expired: string;
  let foreign: string;
  let usdcTwin: PublicKey;
  let poor: Donor;
  beforeAll(async () => {
    const { slots } = at.chain.chain.ledger;
    expired = slots.blockhash(slots.now());
    at.chain.pass(120_000);
    foreign = (await at.demand("/api/donate/other")).memo;
    at.chain.chain.ensure([own.publicKey]);
    poor = at.chain.donor({ usdc: "0.5" });
    usdcTwin = poor.fakeMint(at.wallet);
  });

  test.each(attacks)("%s: %s", async (name, code, how) => {
    const demand = await at.demand();
    const before = [at.chain.usdcOf(at.wallet), at.chain.lamportsOf(sponsor), await donationsOf()];
    const payer = /own making|that much/.test(name) ? poor : at.chain.donor();
    const { status, body, headers } = await send(payment(demand, how(demand, payer), payer));
    expect([status, body.code]).toEqual([402, code]);
    expect(body.error).toContain("No money has moved.");
    expect(body.memo).not.toBe(demand.memo);
    expect(decoded(headers.get("payment-required"))).toMatchObject({
      error: body.error,
      accepts: [{ amount: "1000000" }],
    });
    expect([at.chain.usdcOf(at.wallet), at.chain.lamportsOf(sponsor), await donationsOf()]).toEqual(
      before,
    );
  });

  const donorSignature = [1 + 64, 1 + 64 + 64] as const; // The sponsor's stands first.
  test("a signature of another message: bad_signature", async () => {
    const bytes = Uint8Array.from(payment(await at.demand()).bytes);
    bytes[donorSignature[0]] = (bytes[donorSignature[0]] ?? 0) ^ 1;
    expect((await send({ bytes })).body.code).toBe("bad_signature");
  });

  test("no signature of the donor: not_signed", async () => {
    const bytes = Uint8Array.from(payment(await at.demand()).bytes);
    bytes.fill(0, ...donorSignature);
    expect((await send({ bytes })).body.code).toBe("not_signed");
  });

  test("another network or scheme", async () => {
    const { bytes } = payment(await at.demand());
    const code = async (header: Record<string, string>) =>
      ((await (await at.send(path, header)).json()) as { code: string }).code;
    expect(await code(paymentHeader(bytes, 1, "solana"))).toBe("wrong_network");
    expect(await code(paymentHeader(bytes, 2, "eip155:8453"))).toBe("wrong_network");
    const upto = {
      x402Version: 1,
      scheme: "upto",
      network: "solana-devnet",
      payload: { transaction: "AAAA" },
    };
    expect((await at.send(path, { "x-payment": btoa(JSON.stringify(upto)) })).status).toBe(400);
  });

  test("the nonprofit's own wallet: self_donation", async () => {
    const nonprofit = at.chain.donor();
    await at.service.add(aNonprofit({ slug: "self", usdc_wallet: nonprofit.address }));
    const url = "/api/donate/self";
    const { status, body } = await send(payment(await at.demand(url), {}, nonprofit), { url });
    expect([status, body.code]).toEqual([402, "self_donation"]);
  });

  test("less than is sponsored: sponsored_too_little", async () => {
    const url = `${path}?amount=0.005`;
    const { status, body } = await send(payment(await at.demand(url)), { url });
    expect([status, body.code]).toEqual([402, "sponsored_too_little"]);
  });

  test("nothing of all this is left to be swept", async () => {
    const { rows } = await at.service.store.raw.execute(
      "SELECT count(*) AS count FROM donation_intents WHERE status = 'waiting'",
    );
    expect(rows[0]?.["count"]).toBe(0);
  });
});

describe("of the requests that one client may make in a minute", () => {
  let few: DonatingService;
  beforeAll(async () => {
    few = await aDonatingService({ env: { ALMONER_DONATE_PER_MINUTE: "3" } });
  });
  afterAll(() => few.stop());
  const caip2 = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"; // As it is offered: devnet's.
  const from = (client: string) => ({ "x-forwarded-for": client });
  const ask = async (client: string) => (await few.service.get(path, from(client))).status;
  const pay = async (client: string, { bytes }: { bytes: Uint8Array }) =>
    (await few.service.get(path, { ...from(client), ...paymentHeader(bytes, 2, caip2) })).status;
  /** A payment of what is asked for, by a donor who pays the fee. */
  const paymentOf = async (usdc = "1") => {
    const donor = few.chain.donor();
    const { recipient, memo } = await few.demand();
    return donor.pay({ to: recipient, memo, usdc, feePayer: donor.address });
  };

  test("those count that ask, and no payment that is taken or was taken before", async () => {
    const client = "192.0.2.1";
    const [first, second] = [await paymentOf(), await paymentOf()];
    for (let time = 0; time < 3; time++) expect(await ask(client)).toBe(402);
    expect(await ask(client)).toBe(429);
    for (let time = 0; time < 4; time++) expect(await pay(client, first)).toBe(200);
    expect(await pay(client, second)).toBe(200);
    const { signature: tx_signature } = first;
    for (let time = 0; time < 4; time++) {
      const proven = await few.service.post(path, { tx_signature }, from(client));
      expect(proven.status).toBe(200);
    }
    expect(await ask(client)).toBe(429);
  });

  test("those count whose payment cannot be used, and proofs that are none", async () => {
    const [payer, prover, poster] = ["192.0.2.2", "192.0.2.3", "192.0.2.4"] as const;
    const unusable = await paymentOf("0.5");
    for (let time = 0; time < 3; time++) expect(await pay(payer, unusable)).toBe(402);
    expect([await pay(payer, unusable), await ask(payer)]).toEqual([429, 429]);
    const post = async (client: string, body: object) =>
      (await few.service.post(path, body, from(client))).status;
    const unknown = { tx_signature: unusable.signature };
    for (let time = 0; time < 3; time++) expect(await post(prover, unknown)).toBe(202);
    expect([await post(prover, unknown), await ask(prover)]).toEqual([429, 429]);
    for (let time = 0; time < 2; time++) expect(await post(poster, {})).toBe(402);
    expect(await post(poster, { tx_signature: "?" })).toBe(400);
    expect([await post(poster, {}), await ask(poster)]).toEqual([429, 429]);
  });
});
