import { settlementOf } from "#content/donation/answers.ts";
import type { Gift } from "#content/donation/proof.ts";
import type { Settlement } from "#content/contract/donation.ts";
import type { Landed } from "#content/contract/transfer.ts";
import type { DonateTarget } from "#content/donation/target.ts";
import { closeIntent } from "#content/donation/intents.ts";
import { type Donation, recordDonation, type Recorded } from "#content/donation/store.ts";
import type { DonateContext } from "./donate-context.ts";
import { writeTogether } from "./donation-writes.ts";

/**
 * Records a gift, or finds that it was recorded: one transaction that also ends what was waiting for it. Whoever comes
 * second, in whatever process, gets what the first one stored.
 */
export async function recordGift(
  { store, clock, seal }: DonateContext,
  { target, landed, gift }: { target: DonateTarget; landed: Landed; gift: Gift },
): Promise<Recorded> {
  const now = clock().getTime();
  const { credit, memo } = gift;
  const donation: Omit<Donation, "id"> = {
    nonprofit_id: target.id,
    amount_micro_usdc: credit.amount_micro_usdc,
    network: seal.network,
    tx_signature: landed.tx_signature,
    slot: landed.slot,
    commitment: landed.commitment === "finalized" ? "finalized" : "confirmed",
    recipient: credit.owner,
    source: credit.source,
    destination: credit.destination,
    mint: credit.mint,
    donor: credit.donor,
    memo,
    settled_at: landed.block_time === null ? now : landed.block_time * 1_000,
    recorded_at: now,
  };
  return writeTogether(store, async (tx) => {
    const recorded = await recordDonation(tx, donation);
    if (recorded.donation.nonprofit_id !== target.id) return recorded;
    for (const proof of [landed.tx_signature, ...(memo === null ? [] : [memo])]) {
      await closeIntent(tx, { nonprofit_id: target.id, proof, status: "settled", outcome: null });
    }
    return recorded;
  });
}

export type Settled = {
  kind: "settled";
  settlement: Settlement;
  /** The wallet that gave, null when the chain names none. */
  payer: string | null;
};

/** What the donor is told of a recorded donation. */
export const settled = (
  { chain, baseUrl }: DonateContext,
  target: DonateTarget,
  donation: Donation,
): Settled => ({
  kind: "settled",
  settlement: settlementOf(donation, target, { cluster: chain.cluster, baseUrl }),
  payer: donation.donor,
});
