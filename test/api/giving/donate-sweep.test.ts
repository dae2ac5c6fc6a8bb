import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import bs58 from "bs58";
import { type GivingWorld, givingWorld } from "#content/giving/world.ts";
import { donate, type DonateCall } from "#content/giving/donate.ts";
import { type SweepCounts, sweepDonations } from "#content/giving/sweep.ts";
import { saveForSweep } from "#content/giving/proof.ts";
import { closeIntent, isAnyDue } from "#content/giving/intent-store.ts";
import { fail, ok } from "#content/contract/base/result.ts";
import { donationDefault } from "#content/contract/base/money.ts";
import {
  type DonationStatus,
  type PaymentRequirements,
  unknownSignature,
} from "#content/contract/donation.ts";
import type { Store } from "#content/store/open.ts";
import { doAll } from "#content/store/query.ts";
import { aContract } from "#test/support/contract.ts";
import { theDonatingService, paymentHeader } from "#test/support/donating.ts";
import type { OpenChain } from "#api/chain/open-chain.ts";

const at = await theDonatingService();
let slug = "";
let path = "";
let wallet = "";
beforeEach(async () => {
  ({ slug, path, wallet } = await at.target());
});
afterEach(() => at.settle());

const contract = aContract("https://almoner.example");

let stopped = Promise.withResolvers<void>();
/** Where a process stops, as if it died there. */
const never = <Value>() => {
  stopped.resolve();
  return Promise.withResolvers<Value>().promise;
};

/** The process that comes after: it has the same store and chain, and nothing in memory. */
const nextProcess = (): GivingWorld => givingWorld(at.service.context);

/** Sweeps as time goes by, as the service does, until nothing has happened for a while. */
async function sweepFor(
  seconds: number,
  { everyS = Math.min(seconds, 10), context = nextProcess() } = {},
) {
  const all: SweepCounts = { looked: 0, recorded: 0, unclear: 0 };
  for (let passed = 0; passed < seconds; passed += everyS) {
    at.chain.pass(everyS * 1_000);
    const { looked, recorded, unclear } = await sweepDonations(context);
    all.looked += looked;
    all.recorded += recorded;
    all.unclear += unclear;
  }
  return all;
}

const intents = () => at.service.rows("SELECT * FROM donation_intents ORDER BY id");
const aSignature = () => bs58.encode(crypto.getRandomValues(new Uint8Array(64)));
const breaks = () => at.chain.chain.chaos.set({ errors: 100 });
const mends = () => at.chain.chain.chaos.set({});

/** A payment of 3 USDC that the sponsor is to sign. */
const aPayment = async (usdc = "1000") =>
  at.payment(await at.demand(`${path}?amount=3`), {}, at.chain.donor({ usdc }));

type Stopping = { chain?: (real: OpenChain) => OpenChain; store?: (real: Store) => Store };

/** Hands in a payment to a service whose chain or store stops at a point, as if the process died there. */
async function handInAndStop(context: Stopping) {
  const { chain, store } = at.service.context;
  const dying = donatingOn(context.chain?.(chain) ?? chain, context.store?.(store) ?? store);
  const payment = await aPayment();
  stopped = Promise.withResolvers<void>();
  await Promise.race([dying(inHeader(payment)), stopped.promise]);
  return payment;
}

function donatingOn(chain: OpenChain, store: Store) {
  const context = givingWorld({ ...at.service.context, chain, store });
  return (proof: DonateCall["proof"]) =>
    donate(context, { slug, amount: donationDefault, payer: null, network: "n", proof });
}

const inHeader = ({ base64 }: { base64: string }) => ({
  kind: "payment" as const,
  payment: { scheme: "exact", network: at.service.context.chain.caip2, transaction: base64 },
});

async function expectUnclear(response: Response, method: "GET" | "POST", url: string) {
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  expect(await contract.problemsOf(method, url, response)).toEqual([]);
}

const neverSends: Stopping = { chain: (real) => ({ ...real, send: () => never() }) };
const neverHears: Stopping = {
  chain: (real) => ({ ...real, send: (payment) => real.send(payment).then(() => never()) }),
};
const neverLooks: Stopping = {
  chain: (real) => ({ ...real, landed: (signature) => real.landed(signature).then(() => never()) }),
};
/** It keeps the payment, and stops when it is to record it. */
const neverRecords = (): Stopping => {
  let writes = 0;
  return {
    store: (real) => ({ ...real, write: (work) => (++writes === 1 ? real.write(work) : never()) }),
  };
};

describe("a process that stops while it settles a payment loses nothing", () => {
  test("before the payment was kept: the chain never saw it, and nothing is owed", async () => {
    await handInAndStop({ store: (real) => ({ ...real, write: () => never() }) });
    expect(await intents()).toEqual([]);
    expect([at.chain.usdcOf(wallet), (await sweepFor(60)).looked]).toEqual([0n, 0]);
  });

  test.each<[string, Stopping, bigint]>([
    ["after it was kept, before it was sent", neverSends, 0n],
    ["after it was sent, before anybody heard of it", neverHears, 3_000_000n],
    ["after it had landed, before it was recorded", neverLooks, 3_000_000n],
    ["while it was being recorded", neverRecords(), 3_000_000n],
  ])("%s", async (_, context, usdc) => {
    await handInAndStop(context);
    expect(await intents()).toMatchObject([{ kind: "payment", status: "waiting" }]);
    expect([at.chain.usdcOf(wallet), await at.donationCount(slug)]).toEqual([usdc, 0]);
    expect((await sweepFor(60)).recorded).toBe(1);
    expect([at.chain.usdcOf(wallet), await at.donationCount(slug)]).toEqual([3_000_000n, 1]);
    expect(await intents()).toMatchObject([{ status: "settled", payment: null }]);
  });

  test("and the client that hands it in again gets the donation", async () => {
    const { bytes } = await handInAndStop(neverLooks);
    const header = paymentHeader(bytes, 2, at.service.context.chain.caip2);
    expect((await at.send(path, header)).status).toBe(200);
    await sweepFor(60);
    expect([at.chain.usdcOf(wallet), await at.donationCount(slug)]).toEqual([3_000_000n, 1]);
  });
});

describe("a payment that never lands", () => {
  test("lapses once its blockhash cannot land any more; then no money has moved, and 402 says so", async () => {
    const { chain } = at.service.context;
    const { bytes } = await handInAndStop(neverSends);
    expect(await intents()).toMatchObject([{ sponsored_lamports: expect.any(Number) }]);
    // Every attempt of the sweep is lost on its way.
    const lost = { ...chain, send: () => Promise.resolve(ok(null)) };
    await sweepFor(400, {
      everyS: 20,
      context: givingWorld({ ...at.service.context, chain: lost }),
    });
    const lapsed = { status: "lapsed", payment: null, sponsored_lamports: null };
    expect(await intents()).toMatchObject([lapsed]);
    const response = await at.send(path, paymentHeader(bytes, 2, chain.caip2));
    expect([response.status, (await response.json()).code]).toEqual([402, "payment_fails"]);
  });

  test("is not given up while the chain gives no answers", async () => {
    await handInAndStop(neverSends);
    breaks();
    expect((await sweepFor(8)).unclear).toBe(0); // The request itself may still be at it.
    at.chain.pass(600_000);
    expect((await sweepFor(4)).unclear).toBeGreaterThan(0);
    expect(await intents()).toMatchObject([{ status: "waiting" }]);
    mends();
    await sweepFor(60);
    // One node that has forgotten it is not enough.
    expect(await intents()).toMatchObject([{ status: "waiting" }]);
    await sweepFor(200, { everyS: 20 });
    expect(await intents()).toMatchObject([{ status: "lapsed" }]);
  });
});

describe("the fee of a payment that the sponsor signed", () => {
  test("stays spent when it failed on chain", async () => {
    const payment = await aPayment("1");
    const { chain, store } = at.service.context;
    const simulate = () => Promise.resolve(ok(null));
    const send: OpenChain["send"] = (signed) => {
      at.chain.land(signed);
      return Promise.resolve(ok(null));
    };
    const outcome = await donatingOn({ ...chain, simulate, send }, store)(inHeader(payment));
    expect(outcome).toMatchObject({ ok: false, failure: { kind: "failed_on_chain" } });
    const spent = { outcome: "failed_on_chain", sponsored_lamports: expect.any(Number) };
    expect(await intents()).toMatchObject([spent]);
  });

  test("is free again when the chain did not take it", async () => {
    const { chain, store } = at.service.context;
    const send = () => Promise.resolve(fail({ kind: "payment_fails" as const, why: "no" }));
    const outcome = await donatingOn({ ...chain, send }, store)(inHeader(await aPayment()));
    expect(outcome).toMatchObject({ ok: true, value: { kind: "demanded" } });
    const free = { status: "refused", outcome: "payment_fails", sponsored_lamports: null };
    expect(await intents()).toMatchObject([free]);
  });
});

test("made-up proofs do not keep payments waiting", async () => {
  const world = nextProcess();
  const target = await at.service.live(slug);
  const made = { kind: "proof", amount_micro_usdc: donationDefault, network: null } as const;
  const save = () => saveForSweep(world, target, { ...made, proof: aSignature() }, 0);
  await Promise.all(Array.from({ length: 200 }, save));
  await handInAndStop(neverHears);
  at.chain.pass(20_000);
  const payment = (await intents()).find(({ kind }) => kind === "payment");
  // What the sweep asks for, whatever a busy chain answers in time.
  let asked: readonly string[] = [];
  const known: OpenChain["known"] = (signatures) => {
    asked = signatures;
    return Promise.resolve(fail({ kind: "chain_unclear", why: "busy" }));
  };
  const { context } = at.service;
  await sweepDonations(givingWorld({ ...context, chain: { ...context.chain, known } }));
  expect([asked.length, asked.includes(String(payment?.["proof"]))]).toEqual([200, true]);
});

describe("a donor who named a signature once and left", () => {
  const demandAndSign = async () => {
    const demand = await at.demand(path);
    const payment = at.chain.donor().pay({ to: wallet, memo: demand.memo });
    expect((await at.prove(path, payment.signature)).status).toBe(202);
    return payment;
  };

  test("is credited when it lands", async () => {
    const payment = await demandAndSign();
    // Also by a clock that was set back by an hour meanwhile.
    const hourBefore = new Date(at.chain.clock().getTime() - 3_600_000);
    expect(await isAnyDue(at.service.store, hourBefore)).toBe(true);
    await sweepFor(20);
    at.chain.land(payment);
    expect((await sweepFor(30)).recorded).toBe(1);
    expect(await at.donationCount(slug)).toBe(1);
  });

  test("hears that it cannot land at the first ask after two minutes, as all texts say", async () => {
    const { signature } = await demandAndSign();
    await sweepFor(unknownSignature.waitMs / 1_000 - 2, { everyS: 2 });
    const waitText = expect.stringContaining(unknownSignature.waitText);
    const before = await at.prove(path, signature);
    expect([before.status, (await before.json()).message]).toEqual([202, waitText]);
    at.chain.pass(2_000);
    for (let n = 0; n < 2; n++) {
      const { code, detail } = await (await at.prove(path, signature)).json();
      expect([code, detail]).toEqual(["signature_not_found", waitText]);
    }
    const page = await Bun.file(join(import.meta.dirname, "../../../docs/donations.md")).text();
    expect(page).toContain(`${unknownSignature.waitText} after it was first named`);
  });

  test("hears nothing of the kind while no node answers, nor before many answers", async () => {
    const { signature } = await demandAndSign();
    breaks();
    at.chain.pass(unknownSignature.waitMs + 60_000);
    await sweepDonations(nextProcess());
    expect((await at.prove(path, signature)).status).toBe(503);
    mends();
    expect((await at.prove(path, signature)).status).toBe(202);
    await sweepFor(200, { everyS: 20 });
    expect((await at.prove(path, signature)).status).toBe(422);
  });

  test("is credited when the chain was out of reach, 503, with Retry-After", async () => {
    const signature = at.paid(await at.demand(path));
    breaks();
    await expectUnclear(await at.prove(path, signature), "POST", path);
    mends();
    await sweepFor(30);
    expect(await at.donationCount(slug)).toBe(1);
  });

  test("is refused by the sweep as anybody would be", async () => {
    const payment = at.chain.donor().pay({ to: wallet, usdc: "0.5" });
    await at.prove(path, payment.signature);
    at.chain.land(payment);
    await sweepFor(30);
    expect(await intents()).toMatchObject([{ status: "refused", outcome: "underpaid" }]);
    expect((await at.prove(`${path}?amount=0.5`, payment.signature)).status).toBe(200);
  });

  test("is given up after a quarter of an hour, and the row forgotten after a week", async () => {
    await at.prove(path, aSignature());
    await sweepFor(14 * 60, { everyS: 20 });
    expect(await intents()).toMatchObject([{ status: "waiting" }]);
    await sweepFor(5 * 60, { everyS: 20 });
    expect(await intents()).toMatchObject([{ status: "lapsed" }]);
    at.chain.pass(8 * 86_400_000);
    await demandAndSign();
    await sweepFor(10);
    expect(await intents()).toMatchObject([{ status: "waiting" }]);
  });

  test("hears 503 with its own reason while the chain does not say when it landed", async () => {
    const signature = at.paid({ ...(await at.demand(path)), memo: "mine" });
    const { chain, store } = at.service.context;
    const landed: OpenChain["landed"] = async (...named) => {
      const answer = await chain.landed(...named);
      return answer.ok && answer.value !== null
        ? ok({ ...answer.value, block_time: null })
        : answer;
    };
    const proof = { kind: "signature" as const, tx_signature: signature };
    const why = "the chain does not say when it was";
    const unclear = fail({ kind: "chain_unclear", why, tx_signature: signature } as const);
    expect(await donatingOn({ ...chain, landed }, store)(proof)).toEqual(unclear);
    expect(await intents()).toMatchObject([{ status: "waiting", outcome: null }]);
    expect((await sweepFor(30)).recorded).toBe(1);
  });

  test("hears what it was after it had lapsed, and that it lapsed stays noted", async () => {
    const payment = at.chain.donor().pay({ to: wallet, usdc: "0.5" });
    const named = { nonprofit_id: (await at.service.live(slug)).id, proof: payment.signature };
    expect((await at.prove(path, payment.signature)).status).toBe(202);
    await at.service.store.write((tx) => doAll(tx, [closeIntent(named, "lapsed")]));
    at.chain.land(payment);
    expect((await (await at.prove(path, payment.signature)).json()).code).toBe("underpaid");
    expect(await intents()).toMatchObject([{ status: "lapsed", outcome: "lapsed" }]);
  });

  test("a transfer that is proven late counts from when it was first named", async () => {
    const signature = at.paid({ ...(await at.demand(path)), memo: "mine" });
    breaks();
    expect((await at.prove(path, signature)).status).toBe(503);
    at.chain.pass(5 * 3_600_000);
    mends();
    await sweepFor(30);
    expect(await at.donationCount(slug)).toBe(1);
  });
});

describe("the status of a memo", () => {
  /** Asked again after the 3 s that the answer names. */
  const status = async ({ memo }: PaymentRequirements) => {
    at.chain.pass(3_000);
    const answer = await at.service.get(`${path}/status?memo=${memo}`);
    return (await answer.json()) as DonationStatus;
  };
  const byReference = ({ memo, reference }: PaymentRequirements, to = wallet) => {
    const payment = at.chain.donor().pay({ to, memo, references: [reference] });
    at.chain.land(payment);
    return payment.signature;
  };

  test("turns to received when a transfer names its reference, and records it", async () => {
    const demand = await at.demand(path);
    const pending = { status: "pending", memo: demand.memo, retry_after_s: 3, settlement: null };
    expect(await status(demand)).toEqual(pending as DonationStatus);
    const settlement = { tx_signature: byReference(demand), amount: 1 };
    for (let time = 0; time < 2; time++) {
      const answer = await status(demand);
      expect(answer).toMatchObject({ status: "received", settlement });
      expect(answer).not.toHaveProperty("retry_after_s");
    }
    expect(await at.donationCount(slug)).toBe(1);
  });

  test("is found by the sweep when the page was closed", async () => {
    const demand = await at.demand(path);
    await status(demand);
    byReference(demand);
    expect((await sweepFor(60)).recorded).toBe(1);
    expect(await at.donationCount(slug)).toBe(1);
    expect(await intents()).toMatchObject([{ kind: "watch", status: "settled" }]);
  });

  test("is not deceived by others that name the reference", async () => {
    const demand = await at.demand(path);
    byReference(demand, at.chain.wallet());
    byReference({ ...demand, memo: "mine" });
    expect(await status(demand)).toMatchObject({ status: "pending" });
    byReference(demand);
    expect(await status(demand)).toMatchObject({ status: "received" });
    expect(await at.donationCount(slug)).toBe(1);
  });

  test("is 503 while the chain gives no answer", async () => {
    const url = `${path}/status?memo=${(await at.demand(path)).memo}`;
    breaks();
    await expectUnclear(await at.service.get(url), "GET", url);
  });
});
