import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import bs58 from "bs58";
import { type GivingWorld, givingWorld } from "#content/giving/world.ts";
import { donate, type DonateCall } from "#content/giving/donate.ts";
import { type SweepCounts, sweepDonations } from "#content/giving/sweep.ts";
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
import { aDonatingService, type DonatingService, paymentHeader } from "#test/support/donating.ts";
import type { OpenChain } from "#api/chain/open-chain.ts";

let at: DonatingService;
beforeEach(async () => {
  at = await aDonatingService();
});
afterEach(() => at.stop());

const path = "/api/donate/well";
const never = <Value>() => Promise.withResolvers<Value>().promise;

/** The process that comes after: it has the same store and chain, and nothing in memory. */
const nextProcess = (): GivingWorld => givingWorld(at.service.context);

/** Sweeps as time goes by, as the service does, until nothing has happened for a while. */
async function sweepFor(seconds: number, context = nextProcess()): Promise<SweepCounts> {
  const all: SweepCounts = { looked: 0, recorded: 0, unclear: 0 };
  for (let passed = 0; passed < seconds; passed += 2) {
    at.chain.pass(2_000);
    const { looked, recorded, unclear } = await sweepDonations(context);
    all.looked += looked;
    all.recorded += recorded;
    all.unclear += unclear;
  }
  return all;
}

type Row = {
  kind: string;
  status: string;
  outcome: string | null;
  payment: string | null;
  sponsored_lamports: number | null;
};
const intents = async (): Promise<Row[]> =>
  (await at.service.store.raw.execute("SELECT * FROM donation_intents ORDER BY id")).rows as never;
const donationCount = async () =>
  ((await (await at.service.get("/api/donations/well")).json()) as { donation_count: number })
    .donation_count;

const sponsored = (demand: PaymentRequirements, usdc = "1000") =>
  at.chain.donor({ usdc }).pay({
    to: demand.recipient,
    usdc: String(demand.amount),
    memo: demand.memo,
    feePayer: demand.accepts[0]?.extra.feePayer ?? "",
  });

/** Hands in a payment to a service whose chain or store stops at a point, as if the process died there. */
async function handInAndStop(context: {
  chain?: (real: OpenChain) => OpenChain;
  store?: (real: Store) => Store;
}) {
  const { chain, store } = at.service.context;
  const dying = donatingOn(context.chain?.(chain) ?? chain, context.store?.(store) ?? store);
  const payment = sponsored(await at.demand(`${path}?amount=3`));
  const request = dying(inHeader(payment));
  await Promise.race([request, Bun.sleep(400)]);
  return payment;
}

function donatingOn(chain: OpenChain, store: Store) {
  const context = givingWorld({ ...at.service.context, chain, store });
  return (proof: DonateCall["proof"]) =>
    donate(context, { slug: "well", amount: donationDefault, payer: null, network: "n", proof });
}

const inHeader = ({ base64 }: { base64: string }) => ({
  kind: "payment" as const,
  payment: { scheme: "exact", network: at.service.context.chain.caip2, transaction: base64 },
});

describe("a process that stops while it settles a payment loses nothing", () => {
  test("before the payment was kept: the chain never saw it, and nothing is owed", async () => {
    await handInAndStop({ store: (real) => ({ ...real, write: () => never() }) });
    expect(await intents()).toEqual([]);
    expect([at.chain.usdcOf(at.wallet), (await sweepFor(60)).looked]).toEqual([0n, 0]);
  });

  test("after it was kept, before it was sent: it is sent, and recorded", async () => {
    await handInAndStop({ chain: (real) => ({ ...real, send: () => never() }) });
    expect(await intents()).toMatchObject([{ kind: "payment", status: "waiting" }]);
    expect(at.chain.usdcOf(at.wallet)).toBe(0n);
    await sweepFor(60);
    expect([at.chain.usdcOf(at.wallet), await donationCount()]).toEqual([3_000_000n, 1]);
    expect(await intents()).toMatchObject([{ status: "settled", payment: null }]);
  });

  test("after it was sent, before anybody heard of it", async () => {
    await handInAndStop({
      chain: (real) => ({ ...real, send: (payment) => real.send(payment).then(() => never()) }),
    });
    expect([at.chain.usdcOf(at.wallet), await donationCount()]).toEqual([3_000_000n, 0]);
    expect((await sweepFor(60)).recorded).toBe(1);
    expect([at.chain.usdcOf(at.wallet), await donationCount()]).toEqual([3_000_000n, 1]);
  });

  test("after it had landed, before it was recorded", async () => {
    await handInAndStop({
      chain: (real) => ({
        ...real,
        landed: (signature) => real.landed(signature).then(() => never()),
      }),
    });
    expect((await sweepFor(60)).recorded).toBe(1);
    expect(await donationCount()).toBe(1);
  });

  test("while it was being recorded", async () => {
    let writes = 0;
    await handInAndStop({
      store: (real) => ({
        ...real,
        write: (work) => (++writes === 1 ? real.write(work) : never()),
      }),
    });
    expect([writes, await donationCount()]).toEqual([2, 0]);
    expect((await sweepFor(60)).recorded).toBe(1);
    expect(await donationCount()).toBe(1);
  });

  test("and the client that hands it in again gets the donation", async () => {
    const payment = await handInAndStop({
      chain: (real) => ({
        ...real,
        landed: (signature) => real.landed(signature).then(() => never()),
      }),
    });
    const header = paymentHeader(payment.bytes, 2, at.service.context.chain.caip2);
    expect((await at.send(path, header)).status).toBe(200);
    await sweepFor(60);
    expect([at.chain.usdcOf(at.wallet), await donationCount()]).toEqual([3_000_000n, 1]);
  });
});

describe("a payment that never lands", () => {
  test("lapses once its blockhash cannot land any more; then no money has moved, and 402 says so", async () => {
    const chain = at.service.context.chain;
    const payment = await handInAndStop({ chain: (real) => ({ ...real, send: () => never() }) });
    expect(await intents()).toMatchObject([{ sponsored_lamports: expect.any(Number) }]);
    // Every attempt of the sweep is lost on its way.
    await sweepFor(
      400,
      givingWorld({
        ...at.service.context,
        chain: { ...chain, send: () => Promise.resolve({ ok: true, value: null }) },
      }),
    );
    expect(await intents()).toMatchObject([
      { status: "lapsed", payment: null, sponsored_lamports: null },
    ]);
    const response = await at.send(path, paymentHeader(payment.bytes, 2, chain.caip2));
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      402,
      "payment_fails",
    ]);
  });

  test("is not given up while the chain gives no answers", async () => {
    await handInAndStop({ chain: (real) => ({ ...real, send: () => never() }) });
    at.chain.chain.chaos.set({ errors: 100 });
    expect((await sweepFor(8)).unclear).toBe(0); // The request itself may still be at it.
    at.chain.pass(600_000);
    expect((await sweepFor(4)).unclear).toBeGreaterThan(0);
    expect(await intents()).toMatchObject([{ status: "waiting" }]);
    at.chain.chain.chaos.set({});
    await sweepFor(60);
    // One node that has forgotten it is not enough.
    expect(await intents()).toMatchObject([{ status: "waiting" }]);
    await sweepFor(200);
    expect(await intents()).toMatchObject([{ status: "lapsed" }]);
  }, 240_000);
});

describe("the fee of a payment that the sponsor signed", () => {
  test("stays spent when it failed on chain", async () => {
    const payment = sponsored(await at.demand(`${path}?amount=3`), "1");
    const { chain, store } = at.service.context;
    const simulate = () => Promise.resolve(ok(null));
    const send: OpenChain["send"] = (signed) => {
      at.chain.land(signed);
      return Promise.resolve(ok(null));
    };
    const outcome = await donatingOn({ ...chain, simulate, send }, store)(inHeader(payment));
    expect(outcome).toMatchObject({ ok: false, failure: { kind: "failed_on_chain" } });
    expect(await intents()).toMatchObject([
      { outcome: "failed_on_chain", sponsored_lamports: expect.any(Number) },
    ]);
  });

  test("is free again when the chain did not take it", async () => {
    const payment = sponsored(await at.demand(`${path}?amount=3`));
    const { chain, store } = at.service.context;
    const send = () => Promise.resolve(fail({ kind: "payment_fails" as const, why: "no" }));
    const outcome = await donatingOn({ ...chain, send }, store)(inHeader(payment));
    expect(outcome).toMatchObject({ ok: true, value: { kind: "demanded" } });
    expect(await intents()).toMatchObject([
      { status: "refused", outcome: "payment_fails", sponsored_lamports: null },
    ]);
  });
});

test("made-up proofs do not keep payments waiting", async () => {
  const made = Array.from({ length: 250 }, () =>
    bs58.encode(crypto.getRandomValues(new Uint8Array(64))),
  );
  await at.service.store.write((tx) =>
    tx.raw.execute({
      sql: `INSERT INTO donation_intents (kind, nonprofit_id, proof, amount_micro_usdc, status, check_at, created_at)
            SELECT 'proof', 1, value, 1, 'waiting', key, key FROM json_each(?)`,
      args: [JSON.stringify(made)],
    }),
  );
  await handInAndStop({
    chain: (real) => ({ ...real, send: (payment) => real.send(payment).then(() => never()) }),
  });
  at.chain.pass(20_000);
  expect((await sweepDonations(nextProcess())).recorded).toBe(1);
});

describe("a donor who named a signature once and left", () => {
  const demandAndSign = async () => {
    const demand = await at.demand();
    const payment = at.chain.donor().pay({ to: at.wallet, memo: demand.memo });
    expect((await at.prove(path, payment.signature)).status).toBe(202);
    return payment;
  };

  test("is credited when it lands", async () => {
    const payment = await demandAndSign();
    // Also by a clock that was set back by an hour meanwhile.
    const { store, clock } = at.service.context;
    const hourBefore = new Date(clock().getTime() - 3_600_000);
    expect(await isAnyDue(store, hourBefore)).toBe(true);
    await sweepFor(20);
    at.chain.land(payment);
    expect((await sweepFor(30)).recorded).toBe(1);
    expect(await donationCount()).toBe(1);
  });

  test("hears that it cannot land at the first ask after two minutes, as all texts say", async () => {
    const { signature } = await demandAndSign();
    await sweepFor(unknownSignature.waitMs / 1_000 - 2);
    const before = await at.prove(path, signature);
    expect([before.status, (await before.json()).message]).toEqual([
      202,
      expect.stringContaining(unknownSignature.waitText),
    ]);
    at.chain.pass(2_000);
    for (let n = 0; n < 2; n++) {
      const { code, detail } = await (await at.prove(path, signature)).json();
      expect([code, detail]).toEqual([
        "signature_not_found",
        expect.stringContaining(unknownSignature.waitText),
      ]);
    }
    const page = await Bun.file(join(import.meta.dirname, "../../../docs/donations.md")).text();
    expect(page).toContain(`${unknownSignature.waitText} after it was first named`);
  });

  test("hears nothing of the kind while no node answers, nor before many answers", async () => {
    const { signature } = await demandAndSign();
    at.chain.chain.chaos.set({ errors: 100 });
    at.chain.pass(unknownSignature.waitMs + 60_000);
    await sweepDonations(nextProcess());
    expect((await at.prove(path, signature)).status).toBe(503);
    at.chain.chain.chaos.set({});
    expect((await at.prove(path, signature)).status).toBe(202);
    await sweepFor(200);
    expect((await at.prove(path, signature)).status).toBe(422);
  }, 240_000);

  test("is credited when the chain was out of reach, 503, with Retry-After", async () => {
    const demand = await at.demand();
    const signature = at.paid(demand);
    at.chain.chain.chaos.set({ errors: 100 });
    const response = await at.prove(path, signature);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(await aContract("https://almoner.example").problemsOf("POST", path, response)).toEqual(
      [],
    );
    at.chain.chain.chaos.set({});
    await sweepFor(30);
    expect(await donationCount()).toBe(1);
  });

  test("is refused by the sweep as anybody would be", async () => {
    const payment = at.chain.donor().pay({ to: at.wallet, usdc: "0.5" });
    await at.prove(path, payment.signature);
    at.chain.land(payment);
    await sweepFor(30);
    expect(await intents()).toMatchObject([{ status: "refused", outcome: "underpaid" }]);
    expect((await at.prove(`${path}?amount=0.5`, payment.signature)).status).toBe(200);
  });

  test("is given up after a quarter of an hour, and the row forgotten after a week", async () => {
    await at.prove(path, bs58.encode(crypto.getRandomValues(new Uint8Array(64))));
    await sweepFor(14 * 60);
    expect(await intents()).toMatchObject([{ status: "waiting" }]);
    await sweepFor(5 * 60);
    expect(await intents()).toMatchObject([{ status: "lapsed" }]);
    at.chain.pass(8 * 86_400_000);
    await demandAndSign();
    await sweepFor(10);
    expect(await intents()).toMatchObject([{ status: "waiting" }]);
  }, 240_000);

  test("hears 503 with its own reason while the chain does not say when it landed", async () => {
    const signature = at.paid({ ...(await at.demand()), memo: "mine" });
    const { chain, store } = at.service.context;
    const landed: OpenChain["landed"] = async (...named) => {
      const answer = await chain.landed(...named);
      return answer.ok && answer.value !== null
        ? ok({ ...answer.value, block_time: null })
        : answer;
    };
    const proof = { kind: "signature" as const, tx_signature: signature };
    expect(await donatingOn({ ...chain, landed }, store)(proof)).toEqual(
      fail({
        kind: "chain_unclear",
        why: "the chain does not say when it was",
        tx_signature: signature,
      }),
    );
    expect(await intents()).toMatchObject([{ status: "waiting", outcome: null }]);
    expect((await sweepFor(30)).recorded).toBe(1);
  });

  test("hears what it was after it had lapsed, and that it lapsed stays noted", async () => {
    const payment = at.chain.donor().pay({ to: at.wallet, usdc: "0.5" });
    const named = { nonprofit_id: 1, proof: payment.signature };
    expect((await at.prove(path, payment.signature)).status).toBe(202);
    await at.service.store.write((tx) => doAll(tx, [closeIntent(named, "lapsed")]));
    at.chain.land(payment);
    expect((await (await at.prove(path, payment.signature)).json()).code).toBe("underpaid");
    expect(await intents()).toMatchObject([{ status: "lapsed", outcome: "lapsed" }]);
  });

  test("a transfer that is proven late counts from when it was first named", async () => {
    const signature = at.paid({ ...(await at.demand()), memo: "mine" });
    at.chain.chain.chaos.set({ errors: 100 });
    expect((await at.prove(path, signature)).status).toBe(503);
    at.chain.pass(5 * 3_600_000);
    at.chain.chain.chaos.set({});
    await sweepFor(4);
    expect(await donationCount()).toBe(1);
  });
});

describe("the status of a memo", () => {
  /** Asked again after the 3 s that the answer names. */
  const status = async ({ slug, memo }: PaymentRequirements) => {
    at.chain.pass(3_000);
    const answer = await at.service.get(`/api/donate/${slug}/status?memo=${memo}`);
    return (await answer.json()) as DonationStatus;
  };
  const byReference = (demand: PaymentRequirements) => {
    const payment = at.chain
      .donor()
      .pay({ to: at.wallet, memo: demand.memo, references: [demand.reference] });
    at.chain.land(payment);
    return payment.signature;
  };

  test("turns to received when a transfer names its reference, and records it", async () => {
    const demand = await at.demand();
    expect(await status(demand)).toEqual({
      status: "pending",
      memo: demand.memo,
      retry_after_s: 3,
      settlement: null,
    });
    const signature = byReference(demand);
    expect(await status(demand)).toMatchObject({
      status: "received",
      settlement: { tx_signature: signature, amount: 1 },
    });
    expect(await status(demand)).toMatchObject({
      status: "received",
      settlement: { tx_signature: signature },
    });
    expect(await status(demand)).not.toHaveProperty("retry_after_s");
    expect(await donationCount()).toBe(1);
  });

  test("is found by the sweep when the page was closed", async () => {
    const demand = await at.demand();
    await status(demand);
    byReference(demand);
    expect((await sweepFor(60)).recorded).toBe(1);
    expect(await donationCount()).toBe(1);
    expect(await intents()).toMatchObject([{ kind: "watch", status: "settled" }]);
  });

  test("is not deceived by others that name the reference", async () => {
    const demand = await at.demand();
    const thief = at.chain.wallet();
    at.chain.land(
      at.chain.donor().pay({ to: thief, memo: demand.memo, references: [demand.reference] }),
    );
    at.chain.land(
      at.chain.donor().pay({ to: at.wallet, usdc: "1", references: [demand.reference] }),
    );
    expect(await status(demand)).toMatchObject({ status: "pending" });
    byReference(demand);
    expect(await status(demand)).toMatchObject({ status: "received" });
    expect(await donationCount()).toBe(1);
  });

  test("is given up after two hours", async () => {
    const demand = await at.demand();
    await status(demand);
    await sweepFor(20);
    at.chain.pass(2 * 3_600_000);
    await sweepFor(30 * 60);
    expect(await intents()).toMatchObject([{ kind: "watch", status: "lapsed" }]);
  });

  test("is 503 while the chain gives no answer", async () => {
    const { memo } = await at.demand();
    at.chain.chain.chaos.set({ errors: 100 });
    const url = `${path}/status?memo=${memo}`;
    const response = await at.service.get(url);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(await aContract("https://almoner.example").problemsOf("GET", url, response)).toEqual([]);
  });
});
