import { z } from "zod";
import { fail, ok, type Result } from "#content/contract/result.ts";
import type { ChainUnclear, Payment } from "./chain.ts";
import { type Reading, type Rpc, type RpcAnswer, type Answered, TransactionError } from "./rpc.ts";

type Failure = ChainUnclear | { kind: "payment_fails"; why: string };
type Sent = { fails: string | null };

/** Runs a payment without sending it. One that has landed already counts as one that runs. */
export async function simulate(rpc: Rpc, payment: Payment): Promise<Result<null, Failure>> {
  const options = { encoding: "base64", sigVerify: true, commitment: "confirmed" };
  const told = await knowingBlockhash(() =>
    rpc.ask("simulateTransaction", [base64Of(payment), options], readSimulation),
  );
  if (!told.ok) return told;
  const { fails } = told.value.value;
  return fails === null ? ok(null) : fail({ kind: "payment_fails", why: fails });
}

/** Sends a payment, without waiting until it lands. */
export async function send(rpc: Rpc, payment: Payment): Promise<Result<null, Failure>> {
  const options = { encoding: "base64", preflightCommitment: "confirmed" };
  const told = await knowingBlockhash(() =>
    rpc.ask("sendTransaction", [base64Of(payment), options], readSending),
  );
  if (!told.ok) return told;
  const { fails } = told.value.value;
  if (fails === null) return ok(null);
  // An attempt without an answer may have sent it. What a later one says, "no funds" for example, may be its effect.
  if (told.value.doubted)
    return fail({ kind: "chain_unclear", why: `refused after a doubt: ${fails}` });
  return fail({ kind: "payment_fails", why: fails });
}

const lagMs = 500;

/** The donor's node may be ahead of ours: one that does not know the blockhash is asked once more, a slot later. */
async function knowingBlockhash(
  ask: () => Promise<Result<Answered<Sent>, ChainUnclear>>,
): Promise<Result<Answered<Sent>, ChainUnclear>> {
  const told = await ask();
  const isNew = told.ok && !told.value.doubted && told.value.value.fails === "BlockhashNotFound";
  if (!isNew) return told;
  await Bun.sleep(lagMs);
  return ask();
}

const base64Of = ({ bytes }: Payment) => Buffer.from(bytes).toString("base64");

const Simulation = z.object({ value: z.object({ err: TransactionError }) });

function readSimulation(answer: RpcAnswer): Reading<Sent> {
  if ("error" in answer) return readRefusal(answer.error);
  const read = Simulation.safeParse(answer.result);
  if (!read.success) return { unclear: "no result of a simulation" };
  return { clear: { fails: reasonOf(read.data.value.err) } };
}

function readSending(answer: RpcAnswer): Reading<Sent> {
  if ("error" in answer) return readRefusal(answer.error);
  return typeof answer.result === "string"
    ? { clear: { fails: null } }
    : { unclear: "no signature" };
}

/** Refusals of the transaction itself; every other code is the node's trouble. Source: Agave, rpc-client-api custom errors. */
const preflightFailure = -32_002;
const signatureFailure = -32_003;
const invalidParams = -32_602;
const Preflight = z.object({ err: TransactionError });

function readRefusal({
  code,
  message,
  data,
}: {
  code: number;
  message: string;
  data?: unknown;
}): Reading<Sent> {
  if (code === preflightFailure) {
    const err = Preflight.safeParse(data);
    return { clear: { fails: err.success ? reasonOf(err.data.err) : message } };
  }
  if (code === signatureFailure || code === invalidParams) return { clear: { fails: message } };
  return { unclear: `RPC error ${code}` };
}

/** Null for a transaction that runs, or ran. */
const reasonOf = (err: z.infer<typeof TransactionError>): string | null => {
  if (err === null || err === "AlreadyProcessed") return null;
  return typeof err === "string" ? err : JSON.stringify(err);
};
