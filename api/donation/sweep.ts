import type { Log } from "#api/log.ts";
import { ok } from "#content/contract/base/result.ts";
import {
  closeIntent,
  countUnknown,
  deleteEndedIntents,
  type DonationIntent,
  isAnyDue,
  takeDueIntents,
  unknownsNeeded,
} from "#content/donation/intent-store.ts";
import { donateTargetById } from "#content/donation/store.ts";
import { every } from "#content/runtime/every.ts";
import type { DonateContext } from "./context.ts";
import { batchedWrite } from "#content/store/write-batcher.ts";
import { settleDonations } from "./finality.ts";
import { recordByMemo, recordLanded } from "./proof.ts";

const perSweepMax = 200;
const atOnce = 10;
/** Looked at again after 2, 4, 8 … seconds, at most 20: what a recovered chain holds is recorded within a minute. */
const again = { firstMs: 2_000, mostMs: 20_000 } as const;
/** A blockhash is good for about 90 s; a node that lags may say otherwise of one just made. */
const blockhashYoungMs = 90_000;
/** A named signature that no node knows is followed so long all the same: nodes can be behind. */
const proofLapsesMs = 15 * 60_000;
const watchLapsesMs = 2 * 3_600_000;
const deletedPerSweepMax = 500;

export type Swept = { looked: number; recorded: number; unclear: number };

/**
 * Follows what was handed in and has not ended: payments that were being broadcast when a process stopped, proofs of
 * transactions that no node knew, memos that someone waits for. Each is looked at until it has landed or no longer can,
 * at most 200 at a time. May run in several processes at once. Throws what the store throws.
 */
export async function sweepDonations(context: DonateContext): Promise<Swept> {
  const { store, clock } = context;
  const now = clock();
  // Nearly always nothing is due: then there is no need to wait for the write lock.
  if (!(await isAnyDue(store, now))) return { looked: 0, recorded: 0, unclear: 0 };
  const due = await store.write(async (tx) => {
    await deleteEndedIntents(tx, { now, limit: deletedPerSweepMax });
    return takeDueIntents(tx, { now, limit: perSweepMax, ...again });
  });
  const swept: Swept = { looked: due.length, recorded: 0, unclear: 0 };
  const signatures = due.flatMap(({ kind, proof }) => (kind === "watch" ? [] : [proof]));
  const known = signatures.length === 0 ? ok([]) : await context.chain.known(signatures);
  const look = async (intent: DonationIntent): Promise<Looked> => {
    if (intent.kind === "watch") return followMemo(context, intent);
    if (!known.ok) return "unclear";
    const isKnown = known.value[signatures.indexOf(intent.proof)] === true;
    if (!isKnown) return followUnknown(context, intent);
    return (await recordIfLanded(context, intent)) ?? "waiting"; // Not yet at the commitment that counts.
  };
  for (let at = 0; at < due.length; at += atOnce) {
    for (const outcome of await Promise.all(due.slice(at, at + atOnce).map(look))) {
      if (outcome === "recorded") swept.recorded += 1;
      if (outcome === "unclear") swept.unclear += 1;
    }
  }
  return swept;
}

type Looked = "recorded" | "unclear" | "ended" | "waiting";

/** A transaction that one node does not know. Given up only when two do not: a node can be stale for days. */
async function followUnknown(context: DonateContext, intent: DonationIntent): Promise<Looked> {
  const ageMs = context.clock().getTime() - intent.created_at;
  const { payment, blockhash } = intent;
  if (payment === null || blockhash === null) {
    // Counted from the first look: the eighth comes before the wait of who asks for it ends.
    if (intent.unknown >= unknownsNeeded && ageMs < proofLapsesMs) return "waiting";
    return (await recordIfLanded(context, intent)) ?? lapseOrWait(context, intent);
  }
  if (ageMs < blockhashYoungMs) return resend(context, payment);
  const valid = await context.chain.stillValid(blockhash);
  if (!valid.ok) return "unclear";
  const looked = await recordIfLanded(context, intent);
  return looked ?? (valid.value ? resend(context, payment) : lapseOrWait(context, intent));
}

/** It is not there, and should be by now. Given up only after enough such answers. */
async function lapseOrWait(context: DonateContext, intent: DonationIntent): Promise<Looked> {
  if (intent.unknown >= unknownsNeeded) return end(context, intent, "lapsed");
  await batchedWrite(context.store, (tx) => countUnknown(tx, intent));
  return "waiting";
}

/** Nodes forget what they could not place; sending a payment twice moves the money once. */
async function resend({ chain }: DonateContext, payment: string): Promise<Looked> {
  const read = chain.readPayment(payment);
  if (read.ok) await chain.send(read.value);
  return "waiting";
}

/** A transfer by its memo, no matter who made it. */
async function followMemo(context: DonateContext, intent: DonationIntent): Promise<Looked> {
  const target = await donateTargetById(context.store, intent.nonprofit_id, context.clock());
  if (target === null) return end(context, intent, "lapsed");
  const found = await recordByMemo(context, target, intent.proof);
  if (!found.ok) return "unclear";
  if (found.value !== null) return "recorded";
  const ageMs = context.clock().getTime() - intent.created_at;
  return ageMs < watchLapsesMs ? "waiting" : lapseOrWait(context, intent);
}

/** Null: two nodes do not show it. */
async function recordIfLanded(
  context: DonateContext,
  intent: DonationIntent,
): Promise<Looked | null> {
  const { proof: txSignature, amount_micro_usdc: asked } = intent;
  const target = await donateTargetById(context.store, intent.nonprofit_id, context.clock());
  if (target === null) return end(context, intent, "refused");
  const landed = await context.chain.landed(txSignature);
  if (!landed.ok) return "unclear";
  if (landed.value === null) return null;
  const outcome = await recordLanded(
    context,
    { target, txSignature, asked, network: intent.network },
    landed.value,
  );
  if (outcome.ok) return outcome.value.kind === "recorded" ? "recorded" : "waiting";
  return outcome.failure.kind === "chain_unclear" ? "unclear" : "ended";
}

async function end(
  { store }: DonateContext,
  intent: DonationIntent,
  status: "lapsed" | "refused",
): Promise<Looked> {
  await batchedWrite(store, (tx) => closeIntent(tx, intent, status, status));
  return "ended";
}

const everyMs = 2_000;
/** Stopping waits no longer; what is not recorded by then the next start finds. */
const stopWaitMs = 2_500;

/** Follows donations until they are final: at once, because a crash may have left some, then every 2 s. */
export const startSweep = (
  context: DonateContext,
  log: Pick<Log, "warn" | "info" | "error">,
): { stop(): Promise<void> } =>
  every(
    async () => {
      const { looked, recorded } = await sweepDonations(context);
      if (recorded > 0) log.info({ looked, recorded }, "donations found on chain");
      const { voided } = await settleDonations(context);
      for (const { id, tx_signature } of voided) {
        log.error(
          { id, tx_signature },
          "a recorded donation vanished from the chain and is voided",
        );
      }
    },
    {
      everyMs,
      stopWaitMs,
      onFailure: (error) =>
        log.warn({ err: error }, "open donations could not be checked; trying again"),
    },
  );
