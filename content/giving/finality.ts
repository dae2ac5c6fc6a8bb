import type { Landed } from "#content/contract/transfer.ts";
import {
  countVanished,
  isAnyUnfinished,
  markFinal,
  takeUnfinished,
  voidDonation,
} from "./finality-store.ts";
import type { Donation } from "./store.ts";
import { batchedWrite } from "#content/store/write-batcher.ts";
import type { GivingWorld } from "./world.ts";

const perSweepMax = 20;
/** So many clear answers must say that a recorded transaction is gone, or is another: ten minutes of them. */
const answersNeeded = 6;

/** What became of recorded donations: `voided` are those of which the chain holds nothing, or something else. */
export type Settled = { final: number; voided: readonly Donation[] };

/**
 * Looks again at donations that were recorded before their block was final, at most 20 at a time. One that the chain holds
 * is final from then on; one that vanished, or differs, is voided. Throws what the store throws.
 */
export async function settleDonations(world: GivingWorld): Promise<Settled> {
  const { store, clock, chain } = world;
  const now = clock();
  if (!(await isAnyUnfinished(store, now))) return { final: 0, voided: [] };
  const taken = await store.write((tx) =>
    takeUnfinished(tx, { network: chain.caip2, now, limit: perSweepMax }),
  );
  const outcomes = await Promise.all(
    taken.map(async (donation) => ({ donation, outcome: await settle(world, donation) })),
  );
  return {
    final: outcomes.filter(({ outcome }) => outcome === "final").length,
    voided: outcomes.flatMap(({ donation, outcome }) => (outcome === "voided" ? [donation] : [])),
  };
}

async function settle(
  world: GivingWorld,
  donation: Donation,
): Promise<"final" | "voided" | "waiting"> {
  const { store, chain, clock } = world;
  const { id, tx_signature, unknown } = donation;
  const landed = await chain.landed(tx_signature, "finalized");
  if (!landed.ok) return "waiting";
  const found = landed.value;
  if (found !== null && isAsRecorded(donation, found)) {
    const { slot, block_time } = found;
    const settled_at = block_time === null ? donation.settled_at : block_time * 1_000;
    await batchedWrite(store, (tx) => markFinal(tx, donation, { slot, settled_at, now: clock() }));
    return "final";
  }
  if (found === null && !(await isGone(world, donation))) return "waiting";
  if (unknown + 1 >= answersNeeded) {
    return end(world, donation, found === null ? "vanished" : "differs");
  }
  await batchedWrite(store, (tx) => countVanished(tx, id));
  return "waiting";
}

/** Whether it is gone, and not merely not final yet. */
async function isGone({ chain }: GivingWorld, { tx_signature, slot }: Donation): Promise<boolean> {
  const confirmed = await chain.landed(tx_signature, "confirmed");
  if (!confirmed.ok || confirmed.value !== null) return false;
  const vanished = await chain.vanished(tx_signature, slot);
  return vanished.ok && vanished.value;
}

const isAsRecorded = (donation: Donation, { failed, credits }: Landed): boolean =>
  !failed &&
  credits.some(
    ({ destination, owner, mint, amount_micro_usdc }) =>
      destination === donation.destination &&
      owner === donation.recipient &&
      mint === donation.mint &&
      amount_micro_usdc === donation.amount_micro_usdc,
  );

async function end(
  { store, clock }: GivingWorld,
  donation: Donation,
  reason: "vanished" | "differs",
): Promise<"voided" | "waiting"> {
  const voided = await store.write((tx) => voidDonation(tx, donation, { reason, now: clock() }));
  return voided ? "voided" : "waiting";
}
