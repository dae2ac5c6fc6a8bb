import { ok } from "#content/contract/base/result.ts";
import type { TransactionFacts } from "#content/contract/transfer.ts";
import {
  countVanished,
  isAnyUnfinished,
  planFinal,
  takeUnfinished,
  planVoid,
} from "./finality-store.ts";
import {
  closeIntent,
  countUnknown,
  deleteEndedIntents,
  type DonationIntent,
  isAnyDue,
  takeDueIntents,
} from "./intent-store.ts";
import { type Absence, type Action, actionOn, type Ending } from "./intent-states.ts";
import { donateTargetById, type Donation } from "./store.ts";
import type { Store } from "#content/store/open.ts";
import type { GivingWorld } from "./world.ts";
import { doAll } from "#content/store/query.ts";
import { batchedStatements, batchedWrite } from "#content/store/write-batcher.ts";
import { recordByMemo, recordLanded } from "./proof.ts";

const perSweepMax = 200;
const atOnce = 10;
/** Checks repeat after 2, 4, 8 … seconds, at most 20: what a recovered chain holds is recorded within a minute. */
const again = { firstMs: 2_000, mostMs: 20_000 } as const;
const deletedPerSweepMax = 500;

export type SweepCounts = { looked: number; recorded: number; unclear: number };

/**
 * Follows what was handed in and has not ended: payments that were being broadcast when a process stopped, proofs that no
 * node knew, memos that someone waits for. Each is checked until it has landed or no longer can, at most 200 per call.
 * Several processes may run it at once. Throws what the store throws.
 */
export async function sweepDonations(world: GivingWorld): Promise<SweepCounts> {
  const { store, clock } = world;
  const now = clock();
  // Nearly always nothing is due, so avoid waiting for the write lock.
  if (!(await isAnyDue(store, now))) return { looked: 0, recorded: 0, unclear: 0 };
  const due = await store.write(async (tx) => {
    await deleteEndedIntents(tx, { now, limit: deletedPerSweepMax });
    return takeDueIntents(tx, { now, limit: perSweepMax, ...again });
  });
  const counts: SweepCounts = { looked: due.length, recorded: 0, unclear: 0 };
  const signatures = due.flatMap(({ kind, proof }) => (kind === "watch" ? [] : [proof]));
  const statuses = signatures.length === 0 ? ok([]) : await world.chain.known(signatures);
  const look = async (intent: DonationIntent): Promise<Outcome> => {
    if (intent.kind === "watch") return followMemo(world, intent);
    if (!statuses.ok) return "unclear";
    const isKnown = statuses.value[signatures.indexOf(intent.proof)] === true;
    if (!isKnown) return followUnknown(world, intent);
    return (await recordIfLanded(world, intent)) ?? "waiting"; // Not yet at the commitment that counts.
  };
  for (let at = 0; at < due.length; at += atOnce) {
    for (const outcome of await Promise.all(due.slice(at, at + atOnce).map(look))) {
      if (outcome === "recorded") counts.recorded += 1;
      if (outcome === "unclear") counts.unclear += 1;
    }
  }
  return counts;
}

type Outcome = "recorded" | "unclear" | "ended" | "waiting";

/** Follows a transaction that one node does not know. It is given up only when two do not: a node can be stale for days. */
async function followUnknown(world: GivingWorld, intent: DonationIntent): Promise<Outcome> {
  const { payment, blockhash } = intent;
  const absence = absenceOf(world, intent);
  if (payment === null || blockhash === null) {
    // A payment whose bytes are gone cannot be sent again, so it is followed like a named signature.
    const action = actionOn("proof", absence);
    if (action === "wait") return "waiting";
    return (await recordIfLanded(world, intent)) ?? act(world, intent, action);
  }
  // A payment younger than 90 s is simply sent again; no node needs to be asked.
  if (actionOn("payment", absence) === "resend") return act(world, intent, "resend");
  const valid = await world.chain.stillValid(blockhash);
  if (!valid.ok) return "unclear";
  const looked = await recordIfLanded(world, intent);
  return looked ?? act(world, intent, actionOn("payment", { ...absence, canLand: valid.value }));
}

/** Follows a transfer by its memo, whoever made it. */
async function followMemo(world: GivingWorld, intent: DonationIntent): Promise<Outcome> {
  const target = await donateTargetById(world.store, intent.nonprofit_id, world.clock());
  // Lapsed instead of refused: anyone can make up watches, and lapsed ones are kept for only an hour.
  if (target === null) return act(world, intent, "lapse");
  const gift = await recordByMemo(world, target, intent.proof);
  if (!gift.ok) return "unclear";
  if (gift.value !== null) return "recorded";
  return act(world, intent, actionOn("watch", absenceOf(world, intent)));
}

const absenceOf = ({ clock }: GivingWorld, { unknown, created_at }: DonationIntent): Absence => ({
  ageMs: clock().getTime() - created_at,
  unknown,
  canLand: false,
});

async function act(
  { store, chain }: GivingWorld,
  intent: DonationIntent,
  action: Action,
): Promise<Outcome> {
  if (action === "lapse") return end(store, intent, "lapsed");
  if (action === "count") await batchedStatements(store, countUnknown(intent));
  if (action === "resend" && intent.payment !== null) {
    // Nodes forget transactions that they could not place. Sending a payment twice moves the money once.
    const read = chain.readPayment(intent.payment);
    if (read.ok) await chain.send(read.value);
  }
  return "waiting";
}

/** Null when the chain clearly does not show the transaction. */
async function recordIfLanded(world: GivingWorld, intent: DonationIntent): Promise<Outcome | null> {
  const { proof: txSignature, amount_micro_usdc: amount } = intent;
  const target = await donateTargetById(world.store, intent.nonprofit_id, world.clock());
  if (target === null) return end(world.store, intent, "nonprofit_gone");
  const landed = await world.chain.landed(txSignature);
  if (!landed.ok) return "unclear";
  if (landed.value === null) return null;
  const outcome = await recordLanded(
    world,
    { target, txSignature, amount, network: intent.network },
    landed.value,
  );
  if (outcome.ok) return outcome.value.kind === "recorded" ? "recorded" : "waiting";
  return outcome.failure.kind === "chain_unclear" ? "unclear" : "ended";
}

async function end(store: Store, intent: DonationIntent, ending: Ending): Promise<Outcome> {
  await batchedStatements(store, closeIntent(intent, ending));
  return "ended";
}

const finalPerSweepMax = 20;
/** How many clear answers must say that a recorded transaction is gone or different: about ten minutes of them. */
const answersNeeded = 6;

/**
 * Checks donations that were recorded before their block was final, at most 20 per call. A donation that the chain holds
 * becomes final; one that vanished or differs is voided and returned. Throws what the store throws.
 */
export async function confirmDonations(world: GivingWorld): Promise<Donation[]> {
  const { store, clock, chain } = world;
  const now = clock();
  if (!(await isAnyUnfinished(store, now))) return [];
  const taken = await store.write((tx) =>
    takeUnfinished(tx, { network: chain.caip2, now, limit: finalPerSweepMax }),
  );
  const outcomes = await Promise.all(taken.map((donation) => confirm(world, donation)));
  return taken.filter((_, at) => outcomes[at] === "voided");
}

async function confirm(
  world: GivingWorld,
  donation: Donation,
): Promise<"final" | "voided" | "waiting"> {
  const { store, chain, clock } = world;
  const { id, tx_signature, unknown } = donation;
  const landed = await chain.landed(tx_signature, "finalized");
  if (!landed.ok) return "waiting";
  const transaction = landed.value;
  if (transaction !== null && isAsRecorded(donation, transaction)) {
    const { slot, block_time } = transaction;
    const settled_at = block_time === null ? donation.settled_at : block_time * 1_000;
    const final = { slot, settled_at, now: clock() };
    await batchedWrite(store, [id], async (reader) => ({
      statements: await planFinal(reader, donation, final),
      answer: () => undefined,
    }));
    return "final";
  }
  if (transaction === null && !(await isGone(world, donation))) return "waiting";
  if (unknown + 1 >= answersNeeded) {
    return voidGone(world, donation, transaction === null ? "vanished" : "differs");
  }
  await batchedStatements(store, countVanished(id));
  return "waiting";
}

/** Whether the transaction is gone, and not merely not final yet. */
async function isGone({ chain }: GivingWorld, { tx_signature, slot }: Donation): Promise<boolean> {
  const confirmed = await chain.landed(tx_signature, "confirmed");
  if (!confirmed.ok || confirmed.value !== null) return false;
  const vanished = await chain.vanished(tx_signature, slot);
  return vanished.ok && vanished.value;
}

const isAsRecorded = (donation: Donation, { failed, credits }: TransactionFacts): boolean =>
  !failed &&
  credits.some(
    ({ destination, owner, mint, amount_micro_usdc }) =>
      destination === donation.destination &&
      owner === donation.recipient &&
      mint === donation.mint &&
      amount_micro_usdc === donation.amount_micro_usdc,
  );

async function voidGone(
  { store, clock }: GivingWorld,
  donation: Donation,
  reason: "vanished" | "differs",
): Promise<"voided" | "waiting"> {
  return store.write(async (tx) => {
    const statements = await planVoid(tx, donation, { reason, now: clock() });
    await doAll(tx, statements);
    return statements.length > 0 ? "voided" : "waiting";
  });
}
