import { z } from "zod";
import type { Result } from "#content/contract/result.ts";
import { fail, ok } from "#content/contract/result.ts";
import type { Chain, ChainUnclear, SignatureState } from "./chain.ts";
import type { RpcAnswer } from "./endpoint.ts";
import type { Reading, Rpc } from "./rpc.ts";
import { TransactionError } from "./transaction-error.ts";

/** What can be asked about signatures and blockhashes. */
export function lookups(rpc: Rpc): Pick<Chain, "statesOf" | "signaturesOf" | "stillValid"> {
  const ask = async <Value>(
    method: string,
    params: readonly unknown[],
    read: (result: unknown) => Value | null,
  ): Promise<Result<Value, ChainUnclear>> => {
    const told = await rpc.ask(method, params, (answer) => reading(answer, read));
    return told.ok ? ok(told.value.value) : fail(told.failure);
  };
  const validAt = (blockhash: string, commitment: string) =>
    ask(
      "isBlockhashValid",
      [blockhash, { commitment }],
      (result) => Valid.safeParse(result).data?.value ?? null,
    );
  return {
    statesOf: (txSignatures) =>
      ask("getSignatureStatuses", [txSignatures, { searchTransactionHistory: true }], (result) => {
        const { data } = Statuses.safeParse(result);
        return data?.value.length === txSignatures.length ? data.value.map(stateOf) : null;
      }),
    signaturesOf: (account, { limit, until }) =>
      ask(
        "getSignaturesForAddress",
        [account, { limit, until, commitment: "confirmed" }],
        (result) => Signatures.safeParse(result).data ?? null,
      ),
    stillValid: async (blockhash) => {
      // The newest block tells of young hashes; old ones are gone for good once the finalized block has outlived them.
      const both = await Promise.all([
        validAt(blockhash, "processed"),
        validAt(blockhash, "finalized"),
      ]);
      const [processed, finalized] = both;
      if (!processed.ok || !finalized.ok) return processed.ok ? finalized : processed;
      return ok(processed.value || finalized.value);
    },
  };
}

function reading<Value>(
  answer: RpcAnswer,
  read: (result: unknown) => Value | null,
): Reading<Value> {
  if ("error" in answer) return { unclear: `RPC error ${answer.error.code}` };
  const value = read(answer.result);
  return value === null ? { unclear: "an answer of another shape" } : { clear: value };
}

const Commitment = z.enum(["processed", "confirmed", "finalized"]);

const Valid = z.object({ value: z.boolean() });

const Status = z
  .object({ err: TransactionError, confirmationStatus: Commitment.nullish() })
  .nullable();

const Statuses = z.object({ value: z.array(Status) });

/** Old transactions come without a status: they are finalized. */
const stateOf = (status: z.infer<typeof Status>): SignatureState =>
  status === null
    ? { state: "unknown" }
    : {
        state: "landed",
        commitment: status.confirmationStatus ?? "finalized",
        failed: status.err !== null,
      };

const Signatures = z
  .object({
    signature: z.string(),
    err: TransactionError,
    memo: z.string().nullish(),
    blockTime: z.int().nullish(),
  })
  .transform(({ signature, err, memo, blockTime }) => ({
    tx_signature: signature,
    failed: err !== null,
    memo: memo ?? null,
    block_time: blockTime ?? null,
  }))
  .array();
