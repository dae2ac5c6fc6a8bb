import {
  FailedTransactionMetadata,
  type InnerInstruction,
  type TransactionMetadata,
} from "litesvm/dist/internal";

/** What running a transaction came to, in the words of Solana's JSON-RPC. */
export type Outcome = {
  /** Null when it succeeded. */
  err: TransactionError | null;
  /** Lamports. */
  fee: number;
  units: number;
  logs: string[];
  inner: InnerInstruction[][];
};

export type TransactionError =
  | string
  | { InstructionError: [number, string | { Custom: number }] }
  | Record<string, { account_index: number } | number>;

export function outcomeOf(ran: TransactionMetadata | FailedTransactionMetadata): Outcome {
  const failed = ran instanceof FailedTransactionMetadata;
  const meta = failed ? ran.meta() : ran;
  return {
    err: failed ? errorIn(ran.toString()) : null,
    // Only the debug form tells the fee.
    fee: Number(/\bfee: (\d+)/.exec(meta.toString())?.[1] ?? 0),
    units: Number(meta.computeUnitsConsumed()),
    logs: meta.logs(),
    inner: meta.innerInstructions(),
  };
}

/** litesvm hands out its errors as numbers; their names, which are those of the RPC, stand in the debug form. */
function errorIn(debug: string): TransactionError {
  const instruction = /err: InstructionError\((\d+), (\w+)(?:\((\d+)\))?/.exec(debug);
  if (instruction !== null) {
    const [, index, name = "", code] = instruction;
    return {
      InstructionError: [Number(index), name === "Custom" ? { Custom: Number(code) } : name],
    };
  }
  const account = /err: (\w+) \{ account_index: (\d+) \}/.exec(debug);
  if (account !== null) return { [account[1] ?? ""]: { account_index: Number(account[2]) } };
  const numbered = /err: (\w+)\((\d+)\)/.exec(debug);
  if (numbered !== null) return { [numbered[1] ?? ""]: Number(numbered[2]) };
  return /err: (\w+)/.exec(debug)?.[1] ?? "UnknownError";
}

/** Whether a transaction with this error takes its place in a block and pays its fee. The others leave no trace. */
export const lands = (err: TransactionError | null): boolean =>
  err === null || typeof err !== "string";
