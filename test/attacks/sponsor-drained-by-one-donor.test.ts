import { afterEach, expect, test } from "bun:test";
import { Keypair } from "@solana/web3.js";
import bs58 from "bs58";
import { operatorHealth } from "#api/operator/health.ts";
import { aDonatingService, type DonatingService, paymentHeader } from "#test/support/donating.ts";
import { aNonprofit } from "#test/support/records.ts";
import type { Donor } from "#test/support/donor.ts";

// One gift costs the sponsor 10,001 lamports: two signatures, and the least priority fee.
const budgets = (day: number, donor: number, nonprofit: number) => ({
  ALMONER_SPONSOR_LAMPORTS_PER_DAY: String(day),
  ALMONER_SPONSOR_LAMPORTS_PER_DONOR: String(donor),
  ALMONER_SPONSOR_LAMPORTS_PER_NONPROFIT: String(nonprofit),
});

let at: DonatingService;
afterEach(() => at.stop());

const open = (env: Record<string, string>) =>
  aDonatingService({
    env,
    records: (chain) => [aNonprofit({ slug: "shed", usdc_wallet: chain.wallet() })],
  });

/** A sponsored gift; its status, and the code of a refusal. */
async function give(donor: Donor, slug = "well"): Promise<string> {
  const path = `/api/donate/${slug}`;
  const demand = await at.demand(path);
  const payment = donor.pay({
    to: demand.recipient,
    usdc: "1",
    memo: demand.memo,
    feePayer: at.chain.sponsor.publicKey.toBase58(),
  });
  const header = paymentHeader(payment.bytes, 2, at.service.context.chain.caip2);
  const answer = await at.send(path, header);
  const { code = "" } = (await answer.json()) as { code?: string };
  return `${answer.status} ${code}`.trim();
}

/** Whether a demand offers the sponsor, once what is known of it has been asked again. */
async function isOffered(slug: string): Promise<boolean> {
  at.chain.pass(10_000);
  await at.demand(`/api/donate/${slug}`);
  await Bun.sleep(50);
  return (await at.demand(`/api/donate/${slug}`)).accepts[0]?.extra.feePayer !== undefined;
}

test("one donor uses up its own budget, and no one else's", async () => {
  at = await open(budgets(1_000_000, 25_000, 1_000_000));
  const greedy = at.chain.donor();
  const other = at.chain.donor();
  const before = at.chain.lamportsOf(at.chain.sponsor.publicKey.toBase58());
  expect([await give(greedy), await give(greedy, "shed")]).toEqual(["200", "200"]);
  expect([await give(greedy), await give(greedy, "shed")]).toEqual([
    "402 sponsor_budget",
    "402 sponsor_budget",
  ]);
  expect(await give(other)).toBe("200");
  const after = at.chain.lamportsOf(at.chain.sponsor.publicKey.toBase58());
  expect(before - after).toBe(3 * 10_001);
  at.chain.pass(24 * 3_600_000 + 1);
  expect(await give(greedy)).toBe("200");
});

test("many donors of one nonprofit, and all together, use up theirs: then no demand offers the sponsor", async () => {
  at = await open(budgets(35_000, 25_000, 25_000));
  for (let n = 0; n < 2; n++) expect(await give(at.chain.donor())).toBe("200");
  expect(await give(at.chain.donor())).toBe("402 sponsor_budget");
  expect([await isOffered("well"), await isOffered("shed")]).toEqual([false, true]);
  expect(await give(at.chain.donor(), "shed")).toBe("200");
  expect(await give(at.chain.donor(), "shed")).toBe("402 sponsor_budget");
  const { sponsor, warnings } = await operatorHealth(at.service.context);
  expect(sponsor).toMatchObject({ spent_lamports: 30_003, refuses: "budget" });
  expect(warnings.join(" ")).toContain("its budget of 24 hours is used up");
});

test("payments that the chain refuses cost the sponsor nothing, and use up nothing", async () => {
  at = await open(budgets(1_000_000, 25_000, 1_000_000));
  const poor = at.chain.donor({ usdc: "0" });
  for (let n = 0; n < 4; n++) expect(await give(poor)).toBe("402 payment_fails");
});

test("a sponsor without money is not offered, and the operator hears of it", async () => {
  const empty = Keypair.generate();
  at = await open({ ALMONER_FEE_PAYER_KEY: bs58.encode(empty.secretKey) });
  await Bun.sleep(50);
  expect((await at.demand()).accepts[0]?.extra.feePayer).toBeUndefined(); // The first demand of all.
  expect(await isOffered("well")).toBe(false);
  const { sponsor, warnings } = await operatorHealth(at.service.context);
  expect(sponsor).toMatchObject({ balance_lamports: 0, refuses: "no_sol" });
  expect(warnings.join(" ")).toContain(`send some to ${empty.publicKey.toBase58()}`);
});
