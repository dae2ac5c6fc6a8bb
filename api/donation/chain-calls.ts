import type { ChainUnclear } from "#api/chain/chain.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import type { Landed } from "#content/contract/transfer.ts";
import type { DonateContext } from "./donate-context.ts";
import { once } from "#content/runtime/keyed-lock.ts";
import { within } from "#content/runtime/with-timeout.ts";

/** Promise 8: whoever asks while the chain is out of reach hears so within 3 s. */
const patienceMs = 2_700;

/** How much longer a request may wait for answers of a chain that gives none. */
export type Patience = { leftMs: () => number };

export function patience(): Patience {
  const endMs = performance.now() + patienceMs;
  return { leftMs: () => Math.max(0, endMs - performance.now()) };
}

/** What the chain answers while there is patience left; after that nothing is known. */
export async function inTime<Value, Failure>(
  { leftMs }: Patience,
  call: Promise<Result<Value, Failure>>,
): Promise<Result<Value, Failure | ChainUnclear>> {
  const answer = await within(call, leftMs());
  return answer ?? fail({ kind: "chain_unclear", why: "the chain took too long" });
}

/** The facts of a transaction. Those who ask for the same one at the same time share an answer. */
export const landedOnce = (
  { chain }: Pick<DonateContext, "chain">,
  txSignature: string,
): Promise<Result<Landed | null, ChainUnclear>> =>
  once(chain, `landed ${txSignature}`, () => chain.landed(txSignature));

/** Whether the chain knows a transaction at all, at whatever commitment. Asks in two ways: nodes lag, and forget. */
export async function isKnown(
  context: Pick<DonateContext, "chain">,
  txSignature: string,
): Promise<Result<boolean, ChainUnclear>> {
  const [states, landed] = await Promise.all([
    context.chain.statesOf([txSignature]),
    landedOnce(context, txSignature),
  ]);
  if (!states.ok) return states;
  if (!landed.ok) return landed;
  return ok(states.value[0]?.state === "landed" || landed.value !== null);
}
