import { describe, expect, test } from "bun:test";
import bs58 from "bs58";
import { writeMemo } from "#content/giving/memo.ts";
import { micro } from "#content/contract/base/money.ts";
import type { DonationHistory, Settlement } from "#content/contract/donation.ts";
import { aContract } from "#test/support/contract.ts";
import { aDonatingService, theDonatingService } from "#test/support/donating.ts";
import type { Paying } from "#test/support/paying.ts";
import { aNonprofit } from "#test/support/records.ts";

let other: string;
let former: string;
const contract = aContract("https://almoner.example");

const at = await theDonatingService({
  records: (chain) => {
    other = chain.wallet();
    former = chain.wallet();
    return [
      aNonprofit({ slug: "other", usdc_wallet: other }),
      aNonprofit({ slug: "twin", usdc_wallet: other }),
      aNonprofit({ slug: "poor" }),
    ];
  },
});

const path = "/api/donate/well";

/** Pays on chain, not asked by us unless a memo is named. */
function paid(paying: Partial<Paying> = {}): string {
  const payment = at.chain.donor().pay({ to: at.wallet, ...paying });
  at.chain.land(payment);
  return payment.signature;
}

/** Hands a signature in. Answers status, and the refusal's code or what was recorded, as the contract says. */
async function proven(signature: string, url = path) {
  const response = await at.prove(url, signature);
  expect(await contract.problemsOf("POST", url, response.clone())).toEqual([]);
  const { code, amount } = (await response.json()) as Partial<Settlement> & { code?: string };
  return [response.status, code ?? amount ?? null];
}
const memoOf = async (url = path) => (await at.demand(url)).memo;
const history = async (slug = "well") =>
  (await at.service.json(`/api/donations/${slug}`)) as DonationHistory;

describe("a transfer that was asked for", () => {
  test("is recorded once, however often it is proven, and counts in history and numbers", async () => {
    const donor = at.chain.donor();
    const signature = at.paid(await at.demand(`${path}?amount=2.5`), { donor });
    const response = await at.prove(path, signature);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const text = await response.text();
    const { donation_id, ...settlement } = JSON.parse(text) as Settlement;
    const answer = { success: true, amount: 2.5, currency: "USDC", tx_signature: signature };
    expect(settlement).toMatchObject(answer);
    const again = Array.from({ length: 20 }, async () => (await at.prove(path, signature)).text());
    expect(new Set(await Promise.all(again))).toEqual(new Set([text]));
    const { total_donated_usdc, donation_count, recent_donations } = await history();
    expect([total_donated_usdc, donation_count]).toEqual([2.5, 1]);
    expect(recent_donations[0]).toMatchObject({
      id: donation_id,
      amount_usdc: 2.5,
      tx_hash: signature,
      donor: donor.address,
      settled_at: "2026-06-01T12:00:00Z",
    });
    expect(await at.service.json("/api/stats")).toMatchObject({ total_donations: 1 });
  });

  test("goes to the wallet that was in effect when it was asked for", async () => {
    const { context, live } = at.service;
    const seal = { key: context.secrets.donationMemoKey, network: context.chain.caip2 };
    const issued_at_s = Math.floor(at.chain.clock().getTime() / 1_000);
    const { id: nonprofit_id } = await live("well");
    const demand = { nonprofit_id, amount: micro(1_000_000n), issued_at_s, nonce: 1 };
    const memo = writeMemo(demand, former, seal);
    expect(await proven(paid({ to: former, memo }))).toEqual([200, 1]);
    expect(await proven(paid({ to: former }))).toEqual([422, "wrong_recipient"]);
  });
});

test("a transfer without our memo counts for an hour, when it is at least what was asked for", async () => {
  expect(await proven(paid({ usdc: "3" }), `${path}?amount=2`)).toEqual([200, 3]);
  const little = paid({ usdc: "0.5" });
  expect(await proven(little)).toEqual([422, "underpaid"]);
  expect(await proven(little, `${path}?amount=0.5`)).toEqual([200, 0.5]);
  const input = { slug: "well", tx_signature: paid({ usdc: "0.4" }), amount: 0.4 };
  const params = { name: "prove_donation", arguments: input };
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const { result } = await (await at.service.post("/mcp", call)).json();
  expect(result.structuredContent).toMatchObject({ success: true, amount: 0.4 });
  const late = paid();
  const tooLate = paid();
  at.chain.pass(3_600_000);
  expect(await proven(late)).toEqual([200, 1]);
  at.chain.pass(1_000);
  expect(await proven(tooLate)).toEqual([422, "too_old"]);
});

describe("one transaction", () => {
  const others = "/api/donate/other";
  const twins = "/api/donate/twin";

  test("that pays two nonprofits is credited to each, once", async () => {
    const to = [
      { to: at.wallet, usdc: "1" },
      { to: other, usdc: "2" },
    ];
    const signature = paid({ to, memo: [await memoOf(), await memoOf(others)] });
    expect(await proven(signature)).toEqual([200, 1]);
    expect(await proven(signature, others)).toEqual([200, 2]);
    expect(await proven(signature)).toEqual([200, 1]);
  });

  test("is credited to one of two nonprofits that share a wallet", async () => {
    const signature = paid({ to: other });
    expect(await proven(signature, others)).toEqual([200, 1]);
    expect(await proven(signature, twins)).toEqual([409, "recorded_elsewhere"]);
    const named = paid({ to: other, memo: await memoOf(others) });
    expect(await proven(named, twins)).toEqual([422, "foreign_memo"]);
    expect(await proven(named, others)).toEqual([200, 1]);
    expect(await proven(named, twins)).toEqual([409, "recorded_elsewhere"]);
  });

  test("proves nothing for a nonprofit that it does not pay, or that has no wallet", async () => {
    const signature = paid();
    expect(await proven(signature, "/api/donate/poor")).toEqual([422, "wrong_recipient"]);
    expect(await proven(signature)).toEqual([200, 1]);
    expect(await proven(signature, others)).toEqual([409, "recorded_elsewhere"]);
  });
});

describe("what the chain does not show", () => {
  test("yet is 202, and 200 once it does", async () => {
    const payment = at.chain.donor().pay({ to: at.wallet, memo: await memoOf() });
    const { signature: tx_signature } = payment;
    const response = await at.prove(path, tx_signature);
    expect(response.headers.get("retry-after")).toBe("2");
    const pending = { status: "pending", tx_signature, retry_after_s: 2 };
    expect(await response.json()).toMatchObject(pending);
    expect(await proven(tx_signature)).toEqual([202, null]);
    at.chain.land(payment);
    expect(await proven(tx_signature)).toEqual([200, 1]);
  });

  test("of a made-up signature is 202 as well, ever less often: one look ends no wait", async () => {
    const signature = bs58.encode(crypto.getRandomValues(new Uint8Array(64)));
    expect(await proven(signature)).toEqual([202, null]);
    at.chain.pass(100_000);
    expect(await (await at.prove(path, signature)).json()).toMatchObject({ retry_after_s: 5 });
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
