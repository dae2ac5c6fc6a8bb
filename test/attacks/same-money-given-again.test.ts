import { afterEach, expect, test } from "bun:test";
import type { PaymentRequirements } from "#content/contract/donation.ts";
import { donorCounts } from "#content/recommendation/pick-store.ts";
import { aDonatingService, type DonatingService, paymentHeader } from "#test/support/donating.ts";
import type { Donor } from "#test/support/donor.ts";
import { aNonprofit } from "#test/support/records.ts";

// The attacker holds the wallet of a nonprofit, and sends every gift back: to the wallet that gave it, or to a new one.
const path = "/api/donate/ring";
const feeLamports = 10_001; // Of a gift: two signatures, and the least priority fee.
const rounds = 4;

let at: DonatingService;
let ring: Donor;
const open = async (env: Record<string, string> = {}) => {
  at = await aDonatingService({
    env,
    records: (chain) => {
      ring = chain.donor({ usdc: "0" });
      return [aNonprofit({ slug: "ring", usdc_wallet: ring.address })];
    },
  });
};
afterEach(() => at.stop());

const sponsor = () => at.chain.sponsor.publicKey.toBase58();
const sponsorLamports = () => at.chain.lamportsOf(sponsor());

/** Pays what a demand asks for, with the fee payer that it names. */
async function pay(donor: Donor, { recipient, memo, accepts }: PaymentRequirements, place = path) {
  const feePayer = accepts[0]?.extra.feePayer ?? "";
  const { bytes } = donor.pay({ to: recipient, usdc: "1", memo, feePayer });
  return at.send(place, paymentHeader(bytes, 2, at.service.context.chain.caip2));
}

/** A refusal offers the donor to pay the fee. */
async function offeredToPay(answer: Response, { address }: Donor, code: string) {
  const refusal = (await answer.json()) as PaymentRequirements & { code: string };
  expect([answer.status, refusal.code]).toEqual([402, code]);
  const extra = { fee_paid_by: "payer", feePayer: address };
  expect(refusal.accepts).toMatchObject([{ extra }]);
  return refusal;
}

function sendBack(to: Donor): void {
  at.chain.land(ring.pay({ to: to.address, usdc: "1" }));
}

const totals = async () => at.service.json("/api/donations/ring");

test("the sponsor pays for a wallet's first gift of 24 hours to a nonprofit; the donor pays for the others", async () => {
  await open();
  const donor = at.chain.donor({ usdc: "1" });
  const before = sponsorLamports();
  for (let round = 0; round < rounds; round++) {
    const answer = await pay(donor, await at.demand(path));
    if (round === 0) {
      expect(answer.status).toBe(200);
    } else {
      const refusal = await offeredToPay(answer, donor, "sponsored_today");
      // As a client does that signs what it was offered.
      expect((await pay(donor, refusal)).status).toBe(200);
    }
    sendBack(donor);
  }
  expect(before - sponsorLamports()).toBe(feeLamports);
  expect(await totals()).toMatchObject({ donation_count: rounds, donor_count: 1 });
  const other = await at.demand();
  expect((await pay(donor, other, "/api/donate/well")).status).toBe(200);
  expect(before - sponsorLamports()).toBe(2 * feeLamports);
});

test("24 hours after its first gift a wallet has another one", async () => {
  await open();
  const donor = at.chain.donor({ usdc: "3" });
  const give = async () => (await pay(donor, await at.demand(path))).status;
  expect([await give(), await give()]).toEqual([200, 402]);
  at.chain.pass(24 * 3_600_000 + 1);
  expect([await give(), await give()]).toEqual([200, 402]);
});

test("a donor over its budget is offered to pay the fee, not the sponsor again", async () => {
  await open({ ALMONER_SPONSOR_LAMPORTS_PER_DONOR: "5000" });
  const donor = at.chain.donor({ usdc: "1" });
  const answer = await pay(donor, await at.demand(), "/api/donate/well");
  const refusal = await offeredToPay(answer, donor, "sponsor_budget");
  expect((await pay(donor, refusal, "/api/donate/well")).status).toBe(200);
});

// What remains: each new wallet is another donor. The threat model says what it costs.
test("new wallets, one after the other, count as donors until the nonprofit's budget ends", async () => {
  await open({ ALMONER_SPONSOR_LAMPORTS_PER_NONPROFIT: String(2 * feeLamports) });
  const sponsorBefore = sponsorLamports();
  const ringBefore = at.chain.lamportsOf(ring.address);
  let donor = at.chain.donor({ usdc: "1" });
  const statuses: number[] = [];
  for (let round = 0; round < rounds; round++) {
    statuses.push((await pay(donor, await at.demand(path))).status);
    if (statuses.at(-1) !== 200) continue;
    const next = at.chain.donor({ sol: 0, usdc: "0" });
    sendBack(next);
    donor = next;
  }
  expect(statuses).toEqual([200, 200, 402, 402]);
  expect(sponsorBefore - sponsorLamports()).toBe(2 * feeLamports);
  expect(ringBefore - at.chain.lamportsOf(ring.address)).toBe(2 * 5_001);
  expect((await donorCounts(at.service.store, [2])).get(2)).toBe(2);
});
