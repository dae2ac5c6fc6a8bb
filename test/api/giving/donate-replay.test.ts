import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type GivingWorld, givingWorld } from "#content/giving/world.ts";
import { donate, type DonateOutcome } from "#content/giving/donate.ts";
import { sweepDonations } from "#content/giving/sweep.ts";
import { micro } from "#content/contract/base/money.ts";
import type { PaymentRequirements, Settlement } from "#content/contract/donation.ts";
import { fail } from "#content/contract/base/result.ts";
import type { Paying } from "#test/support/paying.ts";
import type { BuiltTransaction } from "#scripts/chain/instructions.ts";
import { aContract } from "#test/support/contract.ts";
import { aDonatingService, type DonatingService, paymentHeader } from "#test/support/donating.ts";
import type { Donor } from "#test/support/donor.ts";
import { aNonprofit } from "#test/support/records.ts";
import type { OpenChain } from "#api/chain/open-chain.ts";

let at: DonatingService;
let other: string;
const contract = aContract("https://almoner.example");

beforeAll(async () => {
  at = await aDonatingService({
    records: (chain) => {
      other = chain.wallet();
      return [aNonprofit({ slug: "other", usdc_wallet: other })];
    },
  });
});
afterAll(() => at.stop());

const sponsor = () => at.chain.sponsor.publicKey.toBase58();

/** A nonprofit of its own, so that its wallet can change. */
let made = 0;
async function aTarget() {
  const slug = `target-${made++}`;
  await at.service.add(aNonprofit({ slug, usdc_wallet: at.chain.wallet() }));
  return { slug, path: `/api/donate/${slug}` };
}
const moveTo = (slug: string, wallet: string | null) =>
  at.service.store.write((tx) =>
    tx.raw.execute({
      sql: "UPDATE nonprofits SET usdc_wallet = ? WHERE slug = ?",
      args: [wallet, slug],
    }),
  );

const pay = (
  demand: PaymentRequirements,
  how: Partial<Paying> = {},
  donor: Donor = at.chain.donor(),
) =>
  donor.pay({
    to: demand.recipient,
    usdc: String(demand.amount),
    memo: demand.memo,
    feePayer: sponsor(),
    ...how,
  });

async function send({ bytes }: BuiltTransaction, path: string) {
  const response = await at.send(path, paymentHeader(bytes, 2, at.service.context.chain.caip2));
  expect(await contract.problemsOf("GET", path, response.clone())).toEqual([]);
  const body = (await response.json()) as Settlement & { code?: string };
  return { status: response.status, code: body.code ?? null, body };
}

describe("a payment that was recorded", () => {
  const recordedOnce = async (how: Partial<Paying> = {}) => {
    const { slug, path } = await aTarget();
    const payment = pay(await at.demand(path), how);
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

  test("gets it, whatever amount the address names now", async () => {
    const { path, payment, first } = await recordedOnce({ memo: [] });
    expect(await send(payment, `${path}?amount=7`)).toEqual(first);
  });

  test.each([
    ["with our memo", {}],
    ["without it", { memo: [] }],
  ])("is 409 for another nonprofit, %s", async (_, how) => {
    const { payment } = await recordedOnce(how);
    expect(await send(payment, "/api/donate/other")).toMatchObject({
      status: 409,
      code: "recorded_elsewhere",
    });
  });
});

describe("a payment that the donor sent alone", () => {
  const sentAlone = async (how: Partial<Paying>) => {
    const { path } = await aTarget();
    const donor = at.chain.donor();
    const demand = await at.demand(`${path}?payer=${donor.address}`);
    const payment = pay(demand, { feePayer: donor.address, ...how }, donor);
    at.chain.land(payment);
    return send(payment, path);
  };

  test("counts with what it paid, though less was asked for", async () => {
    expect(await sentAlone({ usdc: "0.5" })).toMatchObject({ status: 200, body: { amount: 0.5 } });
  });

  test("is 422, never 402, when it does not count", async () => {
    expect(await sentAlone({ to: other })).toMatchObject({ status: 422, code: "wrong_recipient" });
    const foreign = (await at.demand("/api/donate/other")).memo;
    expect(await sentAlone({ memo: foreign })).toMatchObject({ status: 422, code: "foreign_memo" });
    expect(await sentAlone({ memo: [], usdc: "0.5" })).toMatchObject({
      status: 422,
      code: "underpaid",
    });
  });

  test("may have been sent when the chain does not answer: 503, never 402", async () => {
    const { path } = await aTarget();
    const donor = at.chain.donor();
    const payment = pay(await at.demand(path), { feePayer: donor.address, usdc: "0.5" }, donor);
    at.chain.chain.chaos.set({ errors: 100 });
    expect(await send(payment, path)).toMatchObject({ status: 503, code: "chain_unclear" });
    at.chain.chain.chaos.set({});
    expect(await send(payment, path)).toMatchObject({ status: 402, code: "wrong_amount" });
  });
});

/** As if in a process of its own: it has this chain, and nothing else in memory. */
function processWith(change: (real: OpenChain) => Partial<OpenChain>): GivingWorld {
  const real = at.service.context.chain;
  const context = givingWorld({ ...at.service.context, chain: { ...real, ...change(real) } });
  return { ...context, pause: (ms) => Bun.sleep(ms / 20) };
}

async function handIn(
  context: GivingWorld,
  slug: string,
  { bytes }: BuiltTransaction,
): Promise<string> {
  const transaction = Buffer.from(bytes).toString("base64");
  const payment = { scheme: "exact", network: context.chain.caip2, transaction };
  const outcome = await donate(context, {
    slug,
    amount: micro(1_000_000n),
    payer: null,
    network: "n",
    proof: { kind: "payment", payment },
  });
  return outcome.ok ? kindOf(outcome.value) : outcome.failure.kind;
}
const kindOf = (outcome: DonateOutcome) =>
  outcome.kind === "demanded" ? outcome.demand.body.code : outcome.kind;

/** A process that dies while it sends a payment, and when it does; the chain has it only if it `reaches` it. */
function dyingProcess({ reaches }: { reaches: boolean }) {
  const sent = Promise.withResolvers<void>();
  const context = processWith((real) => ({
    send: async (one) => {
      if (reaches) await real.send(one);
      sent.resolve();
      return Promise.withResolvers<never>().promise;
    },
  }));
  return { context, sent: sent.promise };
}

const refuses = () =>
  Promise.resolve(fail({ kind: "payment_fails" as const, why: "BlockhashNotFound" }));

describe("the same payment in two processes at once", () => {
  test("is sent by the one that kept it; the other never says that no money moves", async () => {
    const { slug, path } = await aTarget();
    const payment = pay(await at.demand(path));
    const mayLand = Promise.withResolvers<void>();
    const sending = Promise.withResolvers<void>();
    const keeper = processWith((real) => ({
      send: async (one) => {
        sending.resolve();
        await mayLand.promise;
        return real.send(one);
      },
    }));
    // Its node lags: of this payment it knows nothing but that it cannot land.
    const late = processWith(() => ({ simulate: refuses, send: refuses }));
    const first = handIn(keeper, slug, payment);
    await sending.promise;
    const second = handIn(late, slug, payment);
    await Bun.sleep(100);
    mayLand.resolve();
    expect(await Promise.all([first, second])).toEqual(["recorded", "recorded"]);
  });

  test("hears from the one that kept it that it cannot land", async () => {
    const { slug, path } = await aTarget();
    const payment = pay(await at.demand(path));
    const sending = Promise.withResolvers<void>();
    const keeper = processWith(() => ({
      send: () => {
        sending.resolve();
        return Bun.sleep(100).then(refuses);
      },
    }));
    const first = handIn(keeper, slug, payment);
    await sending.promise;
    const second = handIn(
      processWith(() => ({})),
      slug,
      payment,
    );
    expect(await Promise.all([first, second])).toEqual(["payment_fails", "payment_fails"]);
  });

  test("nor when it was tried before the other kept it", async () => {
    const { slug, path } = await aTarget();
    const payment = pay(await at.demand(path));
    const kept = Promise.withResolvers<void>();
    const keeper = processWith((real) => ({
      send: async (one) => {
        kept.resolve();
        await Bun.sleep(100);
        return real.send(one);
      },
    }));
    const late = processWith(() => ({ simulate: () => kept.promise.then(refuses), send: refuses }));
    const second = handIn(late, slug, payment);
    expect(await Promise.all([handIn(keeper, slug, payment), second])).toEqual([
      "recorded",
      "recorded",
    ]);
  });
});

test("while it is under way, another nonprofit hears 202, and 409 once it has landed", async () => {
  const { slug, path } = await aTarget();
  const payment = pay(await at.demand(path));
  const dying = dyingProcess({ reaches: false });
  void handIn(dying.context, slug, payment);
  await dying.sent;
  expect(await send(payment, "/api/donate/other")).toMatchObject({ status: 202 });
  at.chain.pass(20_000);
  const context = givingWorld(at.service.context);
  await sweepDonations(context);
  at.chain.pass(20_000);
  await sweepDonations(context);
  expect(await send(payment, path)).toMatchObject({ status: 200 });
  expect(await send(payment, "/api/donate/other")).toMatchObject({ status: 409 });
});

describe("sponsored payments of the same money", () => {
  const twoPayments = async () => {
    const { slug, path } = await aTarget();
    const donor = at.chain.donor({ usdc: "1.5" });
    const first = pay(await at.demand(path), {}, donor);
    const second = pay(await at.demand(path), {}, donor);
    return { slug, first, second };
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
      const before = at.chain.lamportsOf(sponsor());
      const outcomes = await Promise.all([handIn(one, slug, first), handIn(another, slug, second)]);
      expect(outcomes.toSorted()).toEqual(["payment_fails", "recorded"]);
      // The one that comes second is tried again once the first has landed.
      expect(seen.lastIndexOf("tried")).toBeGreaterThan(seen.indexOf("landed"));
      expect(before - at.chain.lamportsOf(sponsor())).toBe(10_001);
    },
  );

  test("wait for one whose process has died, until the sweep has found it", async () => {
    const { slug, first, second } = await twoPayments();
    const dying = dyingProcess({ reaches: true });
    void handIn(dying.context, slug, first);
    await dying.sent;
    const living = processWith(() => ({}));
    expect(await handIn(living, slug, second)).toBe("earlier_payment");
    at.chain.pass(20_000);
    await sweepDonations(living);
    expect(await handIn(living, slug, second)).toBe("payment_fails");
  });
});

test("a wallet that changes while a payment without our memo lands is paid all the same, and credited", async () => {
  const { slug, path } = await aTarget();
  const payment = pay(await at.demand(path), { memo: [] });
  const dying = dyingProcess({ reaches: true });
  void handIn(dying.context, slug, payment);
  await dying.sent;
  await moveTo(slug, other);
  at.chain.pass(20_000);
  await sweepDonations(givingWorld(at.service.context));
  const history = await (await at.service.get(`/api/donations/${slug}`)).json();
  expect(history).toMatchObject({ donation_count: 1, total_donated_usdc: 1 });
});
