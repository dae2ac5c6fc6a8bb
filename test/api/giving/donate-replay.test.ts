import { describe, expect, test } from "bun:test";
import { type GivingWorld, givingWorld } from "#content/giving/world.ts";
import { donate } from "#content/giving/donate.ts";
import { sweepDonations } from "#content/giving/sweep.ts";
import { micro } from "#content/contract/base/money.ts";
import type { Settlement } from "#content/contract/donation.ts";
import { fail } from "#content/contract/base/result.ts";
import type { Paying } from "#test/support/paying.ts";
import type { BuiltTransaction } from "#scripts/chain/instructions.ts";
import { aContract } from "#test/support/contract.ts";
import { theDonatingService, paymentHeader } from "#test/support/donating.ts";
import { aNonprofit } from "#test/support/records.ts";
import { until } from "#test/support/until.ts";
import type { OpenChain } from "#api/chain/open-chain.ts";

let other: string;
const contract = aContract("https://almoner.example");

const at = await theDonatingService({
  records: (chain) => {
    other = chain.wallet();
    return [aNonprofit({ slug: "other", usdc_wallet: other })];
  },
});

const moveTo = (slug: string, usdc_wallet: string | null) =>
  at.service.change(slug, { usdc_wallet });

async function send({ bytes }: BuiltTransaction, path: string) {
  const response = await at.send(path, paymentHeader(bytes, 2, at.service.context.chain.caip2));
  expect(await contract.problemsOf("GET", path, response.clone())).toEqual([]);
  const body = (await response.json()) as Settlement & { code?: string };
  return { status: response.status, code: body.code ?? null, body };
}

describe("a payment that was recorded", () => {
  const recordedOnce = async (how: Partial<Paying> = {}) => {
    const { slug, path } = await at.target();
    const payment = at.payment(await at.demand(path), how);
    const first = await send(payment, path);
    expect(first.status).toBe(200);
    return { slug, path, payment, first };
  };

  test("gets the same 200 after the wallet has changed, or has gone", async () => {
    const { slug, path, payment, first } = await recordedOnce();
    for (const wallet of [other, null]) {
      await moveTo(slug, wallet);
      expect(await send(payment, path)).toEqual(first);
    }
  });

  test("gets it after the profile was withdrawn; what only landed is recorded, and nothing is sent", async () => {
    const { slug, path, payment, first } = await recordedOnce();
    const donor = at.chain.donor();
    const demands = [await at.demand(path), await at.demand(path), await at.demand(path)] as const;
    const late = at.payment(demands[0], { feePayer: donor.address }, donor);
    const signature = at.paid(demands[1]);
    at.chain.land(late);
    await at.service.change(slug, { status: "withdrawn" });
    expect(await send(payment, path)).toEqual(first);
    const proof = await at.prove(path, first.body.tx_signature);
    expect([proof.status, await proof.json()]).toEqual([200, first.body]);
    const statusOf = async ({ memo }: { memo: string }) =>
      (await at.service.get(`${path}/status?memo=${memo}`)).json();
    const error = expect.stringContaining("names the profile to use. If you have paid");
    expect(await statusOf(demands[1])).toMatchObject({ code: "nonprofit_withdrawn", error });
    expect(await send(late, path)).toMatchObject({ status: 200 });
    expect((await at.prove(path, signature)).status).toBe(200);
    for (const demand of [demands[0], demands[1]])
      expect(await statusOf(demand)).toMatchObject({ status: "received" });
    expect(await send(at.payment(demands[2]), path)).toMatchObject({
      status: 410,
      body: { error },
    });
    expect(await at.donationCount(slug)).toBe(3);
  });

  const elsewhere = { status: 409, code: "recorded_elsewhere" };
  test("gets it with our memo and without, whatever amount the address names now, and 409 for another nonprofit", async () => {
    const ways: Partial<Paying>[] = [{ memo: [] }, {}];
    for (const how of ways) {
      const { path, payment, first } = await recordedOnce(how);
      expect(await send(payment, `${path}?amount=7`)).toEqual(first);
      expect(await send(payment, "/api/donate/other")).toMatchObject(elsewhere);
    }
  });
});

describe("a payment that the donor sent alone", () => {
  test.each<[string, () => Partial<Paying>, object]>([
    ["counts with what it paid", () => ({ usdc: "0.5" }), { status: 200, body: { amount: 0.5 } }],
    ["to another wallet is 422", () => ({ to: other }), { status: 422, code: "wrong_recipient" }],
  ])("%s, never 402", async (_, how, answer) => {
    const { path } = await at.target();
    const donor = at.chain.donor();
    const demand = await at.demand(`${path}?payer=${donor.address}`);
    const payment = at.payment(demand, { feePayer: donor.address, ...how() }, donor);
    at.chain.land(payment);
    expect(await send(payment, path)).toMatchObject(answer);
  });

  test("may have been sent when the chain does not answer: 503, never 402", async () => {
    const { path } = await at.target();
    const donor = at.chain.donor();
    const how = { feePayer: donor.address, usdc: "0.5" };
    const payment = at.payment(await at.demand(path), how, donor);
    at.chain.chain.chaos.set({ errors: 100 });
    expect(await send(payment, path)).toMatchObject({ status: 503, code: "chain_unclear" });
    at.chain.chain.chaos.set({});
    // On a busy machine it takes a while until the chain answers in time again.
    let answer = await send(payment, path);
    await until("a clear answer", async () => {
      answer = await send(payment, path);
      return answer.code !== "chain_unclear";
    });
    expect(answer).toMatchObject({ status: 402, code: "wrong_amount" });
  });
});

/** As if in a process of its own: it has this chain, and nothing else in memory. */
function processWith(change: (real: OpenChain) => Partial<OpenChain>): GivingWorld {
  const real = at.service.context.chain;
  const context = givingWorld({ ...at.service.context, chain: { ...real, ...change(real) } });
  return { ...context, pause: (ms) => Bun.sleep(ms / 20) };
}

async function handIn(context: GivingWorld, slug: string, { base64 }: BuiltTransaction) {
  const payment = { scheme: "exact", network: context.chain.caip2, transaction: base64 };
  const proof = { kind: "payment" as const, payment };
  const amount = micro(1_000_000n);
  const outcome = await donate(context, { slug, amount, payer: null, network: "n", proof });
  if (!outcome.ok) return outcome.failure.kind;
  return outcome.value.kind === "demanded" ? outcome.value.demand.body.code : outcome.value.kind;
}

/** A process dies while it sends a payment; the chain has it only if it `reaches` it. */
async function dieSending(
  slug: string,
  payment: BuiltTransaction,
  { reaches }: { reaches: boolean },
) {
  const sent = Promise.withResolvers<void>();
  const dying = processWith((real) => ({
    send: async (signed) => {
      if (reaches) await real.send(signed);
      sent.resolve();
      return Promise.withResolvers<never>().promise;
    },
  }));
  void handIn(dying, slug, payment);
  await sent.promise;
}

const refuses = () =>
  Promise.resolve(fail({ kind: "payment_fails" as const, why: "BlockhashNotFound" }));

/** A target and a sponsored payment to it. */
const aPayment = async () => {
  const target = await at.target();
  return { ...target, payment: at.payment(await at.demand(target.path)) };
};

/** A process that has kept the payment, and how its sending ends. */
function keeperOf(sends: (real: OpenChain["send"]) => OpenChain["send"]) {
  const sending = Promise.withResolvers<void>();
  const context = processWith((real) => ({
    send: (payment) => {
      sending.resolve();
      return sends(real.send)(payment);
    },
  }));
  return { context, sending: sending.promise };
}

describe("the same payment in two processes at once", () => {
  test("is sent by the one that kept it; the other never says that no money moves", async () => {
    const { slug, payment } = await aPayment();
    const mayLand = Promise.withResolvers<void>();
    const keeper = keeperOf((real) => (signed) => mayLand.promise.then(() => real(signed)));
    // Its node lags: of this payment it knows nothing but that it cannot land.
    const late = processWith(() => ({ simulate: refuses, send: refuses }));
    const first = handIn(keeper.context, slug, payment);
    await keeper.sending;
    const second = handIn(late, slug, payment);
    await Bun.sleep(100);
    mayLand.resolve();
    expect(await Promise.all([first, second])).toEqual(["recorded", "recorded"]);
  });

  test("hears from the one that kept it that it cannot land", async () => {
    const { slug, payment } = await aPayment();
    const keeper = keeperOf(() => () => Bun.sleep(100).then(refuses));
    const first = handIn(keeper.context, slug, payment);
    await keeper.sending;
    const second = handIn(
      processWith(() => ({})),
      slug,
      payment,
    );
    expect(await Promise.all([first, second])).toEqual(["payment_fails", "payment_fails"]);
  });

  test("nor when it was tried before the other kept it", async () => {
    const { slug, payment } = await aPayment();
    const keeper = keeperOf((real) => (signed) => Bun.sleep(100).then(() => real(signed)));
    const simulate = () => keeper.sending.then(refuses);
    const second = handIn(
      processWith(() => ({ simulate, send: refuses })),
      slug,
      payment,
    );
    const first = handIn(keeper.context, slug, payment);
    expect(await Promise.all([first, second])).toEqual(["recorded", "recorded"]);
  });
});

test("while it is under way, another nonprofit hears 202, and 409 once it has landed", async () => {
  const { slug, path, payment } = await aPayment();
  await dieSending(slug, payment, { reaches: false });
  expect(await send(payment, "/api/donate/other")).toMatchObject({ status: 202 });
  for (let time = 0; time < 2; time++) {
    at.chain.pass(20_000);
    await sweepDonations(givingWorld(at.service.context));
  }
  expect(await send(payment, path)).toMatchObject({ status: 200 });
  expect(await send(payment, "/api/donate/other")).toMatchObject({ status: 409 });
});

describe("sponsored payments of the same money", () => {
  const twoPayments = async () => {
    const { slug, path } = await at.target();
    const donor = at.chain.donor({ usdc: "1.5" });
    const one = await at.demand(path);
    const another = await at.demand(path);
    return { slug, first: at.payment(one, {}, donor), second: at.payment(another, {}, donor) };
  };

  test.each(["one process", "two processes"])(
    "go one after the other in %s, so that none fails at the sponsor's cost",
    async (where) => {
      const seen: string[] = [];
      const bothTried = Promise.withResolvers<void>();
      const aProcess = () =>
        processWith((real) => ({
          simulate: async (one) => {
            const tried = await real.simulate(one);
            if (seen.push("tried") === 2) bothTried.resolve();
            await bothTried.promise;
            return tried;
          },
          landed: async (signature) => {
            const landed = await real.landed(signature);
            if (landed.ok && landed.value !== null) seen.push("landed");
            return landed;
          },
        }));
      const one = aProcess();
      const another = where === "one process" ? one : aProcess();
      const { slug, first, second } = await twoPayments();
      const sponsor = at.chain.sponsor.publicKey.toBase58();
      const before = at.chain.lamportsOf(sponsor);
      const outcomes = await Promise.all([handIn(one, slug, first), handIn(another, slug, second)]);
      expect(outcomes.toSorted()).toEqual(["payment_fails", "recorded"]);
      // The one that comes second is tried again once the first has landed.
      expect(seen.lastIndexOf("tried")).toBeGreaterThan(seen.indexOf("landed"));
      expect(before - at.chain.lamportsOf(sponsor)).toBe(10_001);
    },
  );

  test("wait for one whose process has died, until the sweep has found it", async () => {
    const { slug, first, second } = await twoPayments();
    await dieSending(slug, first, { reaches: true });
    const living = processWith(() => ({}));
    expect(await handIn(living, slug, second)).toBe("earlier_payment");
    at.chain.pass(20_000);
    await sweepDonations(living);
    expect(await handIn(living, slug, second)).toBe("payment_fails");
  });
});

test("a wallet that changes while a payment without our memo lands is paid all the same, and credited", async () => {
  const { slug, path } = await at.target();
  const payment = at.payment(await at.demand(path), { memo: [] });
  await dieSending(slug, payment, { reaches: true });
  await moveTo(slug, other);
  at.chain.pass(20_000);
  await sweepDonations(givingWorld(at.service.context));
  const history = await at.service.json(`/api/donations/${slug}`);
  expect(history).toMatchObject({ donation_count: 1, total_donated_usdc: 1 });
});
