import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Keypair } from "@solana/web3.js";
import bs58 from "bs58";
import { programs } from "#api/chain/transfer.ts";
import { writeMemo } from "#content/giving/memo.ts";
import { micro } from "#content/contract/base/money.ts";
import type { DonationHistory, Settlement } from "#content/contract/donation.ts";
import { aContract } from "#test/support/contract.ts";
import { aDonatingService, type DonatingService } from "#test/support/donating.ts";
import type { Paying } from "#test/support/paying.ts";
import { ownTransfer } from "#test/support/own-transfer.ts";
import { aNonprofit } from "#test/support/records.ts";

let at: DonatingService;
let other: string;
let former: string;
const own = Keypair.generate();
const contract = aContract("https://almoner.example");

beforeAll(async () => {
  at = await aDonatingService({
    records: (chain) => {
      other = chain.wallet();
      former = chain.wallet();
      return [
        aNonprofit({ slug: "other", usdc_wallet: other }),
        aNonprofit({ slug: "twin", usdc_wallet: other }),
        aNonprofit({ slug: "own", usdc_wallet: own.publicKey.toBase58() }),
        aNonprofit({ slug: "poor" }),
        aNonprofit({ slug: "late", usdc_wallet: chain.wallet({ account: false }) }),
      ];
    },
  });
});
afterAll(() => at.stop());

const path = "/api/donate/well";

/** Pays on chain, not asked by us unless a memo is named. */
function paid(paying: Partial<Paying> = {}): string {
  const payment = at.chain.donor().pay({ to: at.wallet, ...paying });
  at.chain.land(payment);
  return payment.signature;
}

/** Status and code of an answer that fits the description. */
async function answered(response: Response, url = path, method = "POST") {
  const copy = response.clone();
  expect(await contract.problemsOf(method, url, copy)).toEqual([]);
  const body = (await response.json()) as { code?: string; status?: unknown };
  return [response.status, body.code ?? null] as const;
}

const history = async (slug = "well") =>
  (await (await at.service.get(`/api/donations/${slug}`)).json()) as DonationHistory;

describe("a transfer that was asked for", () => {
  test("is verified, recorded, and counts in the history and the numbers of the directory", async () => {
    const demand = await at.demand(`${path}?amount=2.5`);
    const donor = at.chain.donor();
    const signature = at.paid(demand, { donor });
    const response = await at.prove(path, signature);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const settlement = (await response.clone().json()) as Settlement;
    expect(await answered(response)).toEqual([200, null]);
    expect(settlement).toMatchObject({
      success: true,
      amount: 2.5,
      currency: "USDC",
      tx_signature: signature,
    });
    const { total_donated_usdc, donation_count, recent_donations } = await history();
    expect([total_donated_usdc, donation_count]).toEqual([2.5, 1]);
    expect(recent_donations[0]).toMatchObject({
      id: settlement.donation_id,
      amount_usdc: 2.5,
      tx_hash: signature,
      donor: donor.address,
      settled_at: "2026-06-01T12:00:00Z",
    });
    expect(await (await at.service.get("/api/stats")).json()).toMatchObject({ total_donations: 1 });
  });

  test("gets the same 200 for the same proof, however often", async () => {
    const signature = at.paid(await at.demand());
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => (await at.prove(path, signature)).text()),
    );
    expect(new Set(answers).size).toBe(1);
    expect(JSON.parse(answers[0] ?? "")).toMatchObject({ success: true });
  });

  test("is recorded with the amount that arrived, less or more", async () => {
    for (const usdc of ["0.000001", "7"]) {
      const { memo } = await at.demand(`${path}?amount=5`);
      const response = await at.prove(path, paid({ usdc, memo }));
      expect(((await response.json()) as Settlement).amount).toBe(Number(usdc));
    }
  });

  test("counts however late it is proven", async () => {
    const signature = at.paid(await at.demand());
    at.chain.pass(30 * 86_400_000);
    expect((await at.prove(path, signature)).status).toBe(200);
  });

  test("goes to the wallet that was in effect when it was asked for", async () => {
    const { store, context } = at.service;
    const seal = { key: context.secrets.donationMemoKey, network: context.chain.caip2 };
    const issued_at_s = Math.floor(at.chain.clock().getTime() / 1_000);
    const { rows } = await store.raw.execute("SELECT id FROM nonprofits WHERE slug = 'well'");
    const memo = writeMemo(
      { nonprofit_id: Number(rows[0]?.["id"]), amount: micro(1_000_000n), issued_at_s, nonce: 1 },
      former,
      seal,
    );
    expect((await at.prove(path, paid({ to: former, memo }))).status).toBe(200);
    expect(await answered(await at.prove(path, paid({ to: former })))).toEqual([
      422,
      "wrong_recipient",
    ]);
  });

  test("may make the nonprofit's account first", async () => {
    const demand = await at.demand("/api/donate/late");
    expect(demand.accepts[0]?.extra.feePayer).toBeUndefined();
    const signature = paid({ to: demand.recipient, memo: demand.memo, makeAccount: true });
    expect((await at.prove("/api/donate/late", signature)).status).toBe(200);
  });

  test("may come from a legacy transaction, an old memo program, a plain transfer", async () => {
    for (const how of [
      { legacy: true },
      { plain: true },
      { references: [own.publicKey.toBase58()] },
    ]) {
      const { memo } = await at.demand();
      expect((await at.prove(path, paid({ memo, ...how }))).status).toBe(200);
    }
  });
});

describe("a transfer without our memo", () => {
  test("counts for an hour, when it is at least what was asked for", async () => {
    expect((await at.prove(path, paid())).status).toBe(200);
    expect((await at.prove(`${path}?amount=2`, paid({ usdc: "3" }))).status).toBe(200);
    const [late, tooLate] = [paid(), paid()];
    at.chain.pass(3_600_000);
    expect((await at.prove(path, late)).status).toBe(200);
    at.chain.pass(1_000);
    expect(await answered(await at.prove(path, tooLate))).toEqual([422, "too_old"]);
  });

  test("of less than was asked for is refused, and may be asked for with its amount", async () => {
    const signature = paid({ usdc: "0.5" });
    expect(await answered(await at.prove(path, signature))).toEqual([422, "underpaid"]);
    expect((await at.prove(`${path}?amount=0.5`, signature)).status).toBe(200);
  });
});

describe("earns no credit", () => {
  const fake = (program: typeof programs.token): string => {
    const donor = at.chain.donor();
    const mint = donor.fakeMint(at.wallet, program);
    const payment = donor.pay({ to: at.wallet, usdc: "100", mint, program });
    at.chain.land(payment);
    return payment.signature;
  };
  const refusals: [string, string, () => string | Promise<string>][] = [
    ["another recipient", "wrong_recipient", () => paid({ to: other })],
    ["no transfer at all", "wrong_recipient", () => paid({ to: [] })],
    ["a token of the donor's own making", "wrong_token", () => fake(programs.token)],
    ["one of the newer token program", "wrong_token", () => fake(programs.token2022)],
    ["a transaction that failed on chain", "failed_on_chain", () => paid({ usdc: "1001" })],
    [
      "a memo of another nonprofit",
      "foreign_memo",
      async () => paid({ memo: (await at.demand("/api/donate/other")).memo }),
    ],
  ];

  test.each(refusals)("%s: 422 %s", async (_, code, make) => {
    const before = await history();
    expect(await answered(await at.prove(path, await make()))).toEqual([422, code]);
    expect(await history()).toEqual(before);
  });

  test("the nonprofit's own wallet: 422 self_donation", async () => {
    at.chain.chain.ensure([own.publicKey]);
    const { memo, recipient } = await at.demand("/api/donate/own");
    const signature = ownTransfer(at.chain, own, memo);
    expect(at.chain.usdcOf(recipient)).toBe(5_000_000n);
    expect(await answered(await at.prove("/api/donate/own", signature))).toEqual([
      422,
      "self_donation",
    ]);
    expect((await history("own")).donation_count).toBe(0);
  });
});

describe("one transaction", () => {
  test("that pays two nonprofits is credited to each, once", async () => {
    const [mine, theirs] = [await at.demand(), await at.demand("/api/donate/other")];
    const donor = at.chain.donor();
    const payment = donor.pay({
      to: [
        { to: at.wallet, usdc: "1" },
        { to: other, usdc: "2" },
      ],
      memo: [mine.memo, theirs.memo],
    });
    at.chain.land(payment);
    const settled = async (url: string) =>
      (await (await at.prove(url, payment.signature)).json()) as Settlement;
    expect((await settled(path)).amount).toBe(1);
    expect((await settled("/api/donate/other")).amount).toBe(2);
    expect((await settled(path)).amount).toBe(1);
  });

  test("is credited to one of two nonprofits that share a wallet", async () => {
    const signature = paid({ to: other });
    expect((await at.prove("/api/donate/other", signature)).status).toBe(200);
    expect(await answered(await at.prove("/api/donate/twin", signature))).toEqual([
      409,
      "recorded_elsewhere",
    ]);
    const named = paid({ to: other, memo: (await at.demand("/api/donate/other")).memo });
    expect(await answered(await at.prove("/api/donate/twin", named))).toEqual([
      422,
      "foreign_memo",
    ]);
    expect((await at.prove("/api/donate/other", named)).status).toBe(200);
    expect(await answered(await at.prove("/api/donate/twin", named))).toEqual([
      409,
      "recorded_elsewhere",
    ]);
  });

  test("that is recorded for another nonprofit and pays this one nothing is 409", async () => {
    const signature = paid();
    expect((await at.prove(path, signature)).status).toBe(200);
    expect(await answered(await at.prove("/api/donate/other", signature))).toEqual([
      409,
      "recorded_elsewhere",
    ]);
  });

  test("proves nothing for a nonprofit without a wallet", async () => {
    expect(await answered(await at.prove("/api/donate/poor", paid()))).toEqual([
      422,
      "wrong_recipient",
    ]);
  });
});

describe("what the chain does not show", () => {
  test("yet is 202, and 200 once it does", async () => {
    const demand = await at.demand();
    const payment = at.chain.donor().pay({ to: at.wallet, memo: demand.memo });
    const response = await at.prove(path, payment.signature);
    expect(response.headers.get("retry-after")).toBe("2");
    expect(await response.clone().json()).toMatchObject({
      status: "pending",
      tx_signature: payment.signature,
      retry_after_s: 2,
    });
    expect(await answered(response)).toEqual([202, null]);
    at.chain.land(payment);
    expect((await at.prove(path, payment.signature)).status).toBe(200);
  });

  test("of a made-up signature is 202 as well, ever less often: one look ends no wait", async () => {
    const made = bs58.encode(crypto.getRandomValues(new Uint8Array(64)));
    expect((await at.prove(path, made)).status).toBe(202);
    at.chain.pass(100_000);
    expect(await (await at.prove(path, made)).json()).toMatchObject({ retry_after_s: 5 });
  });
});

test("finalized, when the directory waits for that", async () => {
  const slow = await aDonatingService({ env: { ALMONER_COMMITMENT: "finalized" } });
  const signature = slow.paid(await slow.demand());
  expect((await slow.prove(path, signature)).status).toBe(202);
  slow.chain.pass(14_000);
  expect((await slow.prove(path, signature)).status).toBe(200);
  await slow.stop();
});
