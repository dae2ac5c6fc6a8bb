import type { ChainUnclear, SignatureState } from "#api/chain/chain.ts";
import { referenceOf } from "#content/donation/reference.ts";
import { micro } from "#content/donation/money.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { type DonateTarget, donateTargetById } from "#content/donation/target.ts";
import {
  closeIntent,
  type DonationIntent,
  forgetIntents,
  isAnyDue,
  noteUnknown,
  takeDueIntents,
} from "#content/donation/intents.ts";
import { landedOnce } from "./chain-calls.ts";
import type { DonateContext } from "./donate-context.ts";
import { writeTogether } from "./donation-writes.ts";
import type { Settled } from "./record-donation.ts";
import { settleLanded } from "./settle-proof.ts";

const perSweep = 200;
const atOnce = 10;
/** Looked at again after 2, 4, 8 … seconds, at most 20: what a recovered chain holds is recorded within a minute. */
const again = { firstMs: 2_000, mostMs: 20_000 } as const;
/** A blockhash is good for about 90 s; a node that lags may say otherwise of one just made. */
const blockhashYoungMs = 90_000;
/** A signature that no node knows so long after it was named cannot land any more. */
const proofLapsesMs = 15 * 60_000;
const watchLapsesMs = 2 * 3_600_000;
/** Nodes lag, and lose their history: so many clear answers in a row must be that it is not there. */
const unknownsNeeded = 8;
const keptMs = 7 * 24 * 3_600_000;
const forgottenPerSweep = 500;

export type Swept = { looked: number; settled: number; unclear: number };

/**
 * Follows what was handed in and is not settled yet: payments that were being broadcast when a process stopped, proofs
 * of transactions that no node knew, memos that somebody waits for. Each is looked at until it has landed, or can no more.
 * Bounded: at most 200 at a time. Runs beside other processes that do the same. Throws what the store throws.
 */
export async function sweepDonations(context: DonateContext): Promise<Swept> {
  const { store, clock } = context;
  const now = clock();
  const before = new Date(now.getTime() - keptMs);
  // Nearly always nothing is due: then nobody waits for the write lock.
  if (!(await isAnyDue(store, now))) return { looked: 0, settled: 0, unclear: 0 };
  const due = await store.write(async (tx) => {
    await forgetIntents(tx, { before, limit: forgottenPerSweep });
    return takeDueIntents(tx, { now, limit: perSweep, ...again });
  });
  const swept: Swept = { looked: due.length, settled: 0, unclear: 0 };
  const signed = due.filter(({ kind }) => kind !== "watch");
  const states = await statesOf(context, signed);
  const look = (intent: DonationIntent): Promise<Looked> => {
    if (intent.kind === "watch") return lookFor(context, intent);
    if (!states.ok) return Promise.resolve("unclear");
    return follow(context, intent, states.value[signed.indexOf(intent)]);
  };
  for (let at = 0; at < due.length; at += atOnce) {
    for (const outcome of await Promise.all(due.slice(at, at + atOnce).map(look))) {
      if (outcome === "settled") swept.settled += 1;
      if (outcome === "unclear") swept.unclear += 1;
    }
  }
  return swept;
}

type Looked = "settled" | "unclear" | "ended" | "waiting";

const statesOf = (
  { chain }: DonateContext,
  intents: readonly DonationIntent[],
): Promise<Result<SignatureState[], ChainUnclear>> =>
  intents.length === 0
    ? Promise.resolve(ok([]))
    : chain.statesOf(intents.map(({ proof }) => proof));

/** One transaction by its signature. */
async function follow(
  context: DonateContext,
  intent: DonationIntent,
  state: SignatureState | undefined,
): Promise<Looked> {
  if (state?.state === "landed") return settle(context, intent, intent.proof);
  const ageMs = context.clock().getTime() - intent.created_at;
  if (intent.payment === null || intent.blockhash === null) {
    return ageMs < proofLapsesMs ? "waiting" : doubt(context, intent);
  }
  if (ageMs < blockhashYoungMs) return resend(context, intent.payment);
  const valid = await context.chain.stillValid(intent.blockhash);
  if (!valid.ok) return "unclear";
  // It may have landed between the two answers: the next look will tell.
  return valid.value ? resend(context, intent.payment) : doubt(context, intent);
}

/** It is not there, and should be by now. Given up only when that has been said often. */
async function doubt(context: DonateContext, intent: DonationIntent): Promise<Looked> {
  if (intent.unknown >= unknownsNeeded) return end(context, intent, "lapsed");
  await writeTogether(context.store, (tx) => noteUnknown(tx, intent));
  return "waiting";
}

/** Nodes forget what they could not place; sending a payment twice moves the money once. */
async function resend({ chain }: DonateContext, payment: string): Promise<Looked> {
  const read = chain.readPayment(payment);
  if (read.ok) await chain.send(read.value);
  return "waiting";
}

/** A transfer by its memo, whoever made it. */
async function lookFor(context: DonateContext, intent: DonationIntent): Promise<Looked> {
  const target = await donateTargetById(context.store, intent.nonprofit_id, context.clock());
  if (target === null) return end(context, intent, "lapsed");
  const found = await findByMemo(context, target, intent.proof);
  if (!found.ok) return "unclear";
  if (found.value !== null) return "settled";
  const ageMs = context.clock().getTime() - intent.created_at;
  return ageMs < watchLapsesMs ? "waiting" : doubt(context, intent);
}

/** More than anybody pays by mistake: others could name a reference only to hide a transfer. */
const perMemoMax = 50;

/** Looks for transfers that name a memo's reference, and records those that are gifts. Null while there is none. */
export async function findByMemo(
  context: DonateContext,
  target: DonateTarget,
  memo: string,
): Promise<Result<Settled | null, ChainUnclear>> {
  const reference = context.addressOf(referenceOf(memo));
  const touching = await context.chain.signaturesOf(reference, { limit: perMemoMax });
  if (!touching.ok) return touching;
  let settled: Settled | null = null;
  // Anybody can name a reference in a transaction: only what is a gift counts.
  for (const { tx_signature, failed } of touching.value.toReversed()) {
    if (failed) continue;
    const outcome = await settleSignature(context, target, { txSignature: tx_signature, memo });
    if (!outcome.ok) return outcome;
    settled ??= outcome.value;
  }
  return ok(settled);
}

async function settleSignature(
  context: DonateContext,
  target: DonateTarget,
  { txSignature, memo }: { txSignature: string; memo: string },
): Promise<Result<Settled | null, ChainUnclear>> {
  const landed = await landedOnce(context, txSignature);
  if (!landed.ok) return fail(landed.failure);
  if (landed.value === null || !landed.value.memos.includes(memo)) return ok(null);
  const asked = micro(0n);
  const outcome = await settleLanded(context, { target, txSignature, asked }, landed.value);
  return ok(outcome.ok && outcome.value.kind === "settled" ? outcome.value : null);
}

async function settle(
  context: DonateContext,
  intent: DonationIntent,
  txSignature: string,
): Promise<Looked> {
  const target = await donateTargetById(context.store, intent.nonprofit_id, context.clock());
  if (target === null) return end(context, intent, "refused");
  const landed = await landedOnce(context, txSignature);
  if (!landed.ok) return "unclear";
  if (landed.value === null) return "waiting"; // Not yet at the commitment that counts.
  const asked = intent.amount_micro_usdc;
  const outcome = await settleLanded(context, { target, txSignature, asked }, landed.value);
  if (outcome.ok) return outcome.value.kind === "settled" ? "settled" : "waiting";
  return outcome.failure.kind === "chain_unclear" ? "unclear" : "ended";
}

async function end(
  { store }: DonateContext,
  { nonprofit_id, proof }: DonationIntent,
  status: "lapsed" | "refused",
): Promise<Looked> {
  await writeTogether(store, (tx) =>
    closeIntent(tx, { nonprofit_id, proof, status, outcome: status }),
  );
  return "ended";
}
