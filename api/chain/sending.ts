import { z } from "zod";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { type Answered, type Reading, type Rpc, type RpcAnswer, TransactionError } from "./rpc.ts";
import type { ChainUnclear, PaymentFails, Payment } from "#content/giving/chain.ts";

type Failure = ChainUnclear | PaymentFails;

/** Why a payment fails; null for one that does not. */
type Reason = string | null;

/** Runs a payment without sending it. One that has landed already counts as one that runs. */
export async function simulate(rpc: Rpc, payment: Payment): Promise<Result<null, Failure>> {
  const options = { sigVerify: true, commitment: "confirmed" };
  const ran = await attempt(rpc, "simulateTransaction", payment, options, Simulation);
  if (!ran.ok) return ran;
  const { value: why } = ran.value;
  return why === null ? ok(null) : fail({ kind: "payment_fails", why });
}

/**
 * Sends a payment, without waiting until it lands. Already known there counts as sent. `payment_fails` only when the one
 * node that was asked refused it: once an attempt ended without an answer, all is unclear.
 */
export async function send(rpc: Rpc, payment: Payment): Promise<Result<null, Failure>> {
  const options = { preflightCommitment: "confirmed" };
  const sent = await attempt(rpc, "sendTransaction", payment, options, Signature);
  if (!sent.ok) return sent;
  const { value: why, doubted } = sent.value;
  if (why === null) return ok(null);
  // An attempt without an answer may have sent it. What a later one says, "no funds" for example, may be its effect.
  if (doubted) return fail({ kind: "chain_unclear", why: `refused after a doubt: ${why}` });
  return fail({ kind: "payment_fails", why });
}

const lagMs = 500;

async function attempt(
  rpc: Rpc,
  method: string,
  { bytes }: Payment,
  options: object,
  shape: z.ZodType<Reason>,
): Promise<Result<Answered<Reason>, ChainUnclear>> {
  const params = [Buffer.from(bytes).toString("base64"), { encoding: "base64", ...options }];
  const ask = () => rpc.ask(method, params, (answer) => reasonIn(answer, shape));
  const answered = await ask();
  // The donor's node may be ahead of ours: one that does not know the blockhash is asked once more, a slot later.
  if (!answered.ok || answered.value.doubted || answered.value.value !== "BlockhashNotFound") {
    return answered;
  }
  await Bun.sleep(lagMs);
  return ask();
}

/** Null for a transaction that runs, or ran. */
const reasonOf = (err: z.infer<typeof TransactionError>): Reason => {
  if (err === null || err === "AlreadyProcessed") return null;
  return typeof err === "string" ? err : JSON.stringify(err);
};

const Simulation = z
  .object({ value: z.object({ err: TransactionError }) })
  .transform(({ value }) => reasonOf(value.err));

const Signature = z.string().transform(() => null);

/** Refusals of the transaction itself; every other code is the node's trouble. Source: Agave, rpc-client-api custom errors. */
const preflightFailure = -32_002;
const signatureFailure = -32_003;
const invalidParams = -32_602;
const Preflight = z.object({ err: TransactionError });

function reasonIn(answer: RpcAnswer, shape: z.ZodType<Reason>): Reading<Reason> {
  if (!("error" in answer)) {
    const read = shape.safeParse(answer.result);
    return read.success ? { clear: read.data } : { unclear: "an answer of another shape" };
  }
  const { code, message, data } = answer.error;
  if (code === preflightFailure) {
    const err = Preflight.safeParse(data);
    return { clear: err.success ? reasonOf(err.data.err) : message };
  }
  if (code === signatureFailure || code === invalidParams) return { clear: message };
  return { unclear: `RPC error ${code}` };
}
