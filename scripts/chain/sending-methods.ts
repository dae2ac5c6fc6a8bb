import bs58 from "bs58";
import { z } from "zod";
import { transactionOf } from "#api/chain/payment.ts";
import { showAccount } from "./account-methods.ts";
import {
  Address,
  CommitmentLevel,
  type Method,
  RpcError,
  codes,
  method,
  withContext,
} from "./json-rpc.ts";
import type { Refused } from "./ledger.ts";
import type { TransactionError } from "./outcome.ts";
import { blockhashSlots } from "./slots.ts";

const Encoding = z.enum(["base58", "base64"]);

const SendOptions = z
  .looseObject({
    encoding: Encoding.nullish(),
    skipPreflight: z.boolean().nullish(),
    preflightCommitment: CommitmentLevel.nullish(),
  })
  .nullish();

const SendParams = z.tuple([z.string(), SendOptions.optional()]);

/** Sends a transaction. Unless the client skips that, it is run for a trial first, and refused when it would fail. */
export const sendTransaction: Method = method(SendParams, (ledger, [text, options]) => {
  const bytes = bytesIn(text, options?.encoding ?? "base58");
  const signature = signatureOf(bytes);
  if (options?.skipPreflight !== true) {
    const trial = ledger.simulate(bytes, { verify: true, anyBlockhash: false });
    if ("refused" in trial) throw refusal(trial);
    const { err } = trial.outcome;
    if (err !== null) throw preflightFailure(err, trial.outcome);
  }
  const sent = ledger.send(bytes);
  // What is refused behind the preflight vanishes without a word, but for signatures.
  if ("refused" in sent && sent.refused === "SignatureFailure") throw refusal(sent);
  return signature;
});

/** The signature that these params of sendTransaction would be answered with. Throws RpcError. */
export function signatureIn(params: readonly unknown[]): string {
  const given = SendParams.safeParse(params);
  if (!given.success) throw refusal({ refused: "undecodable", outcome: null });
  const [text, options] = given.data;
  return signatureOf(bytesIn(text, options?.encoding ?? "base58"));
}

/** A member that a client may leave out, or send as null. */
const orElse = <Value>(schema: z.ZodType<Value>, value: Value) =>
  schema.nullish().transform((given) => given ?? value);

const SimulateOptions = z.looseObject({
  encoding: orElse(Encoding, "base58"),
  sigVerify: orElse(z.boolean(), false),
  replaceRecentBlockhash: orElse(z.boolean(), false),
  commitment: orElse(CommitmentLevel, "finalized"),
  accounts: z
    .object({
      addresses: z.array(Address),
      encoding: orElse(z.enum(["base64", "jsonParsed"]), "base64"),
    })
    .nullish(),
});

/** Runs a transaction without a trace. */
export const simulateTransaction: Method = method(
  z.tuple([z.string(), SimulateOptions.nullish()]),
  (ledger, [text, options]) => {
    const given = options ?? SimulateOptions.parse({});
    const { replaceRecentBlockhash: replace, sigVerify: verify, commitment } = given;
    const bytes = bytesIn(text, given.encoding);
    if (replace && verify) {
      throw new RpcError(
        codes.invalidParams,
        "sigVerify may not be used with replaceRecentBlockhash",
      );
    }
    const trial = ledger.simulate(bytes, { verify, anyBlockhash: replace });
    if ("refused" in trial) {
      if (trial.refused === "SignatureFailure" || trial.refused === "undecodable")
        throw refusal(trial);
      return withContext(ledger, commitment, simulated(trial.refused, trial.outcome));
    }
    const accounts = given.accounts?.addresses.map((address) => {
      const account = trial.account(address);
      const encoding = given.accounts?.encoding ?? "base64";
      return account === null
        ? null
        : showAccount(account, { encoding }, (mint) => ledger.decimals(mint));
    });
    const value = simulated(trial.outcome.err, trial.outcome, accounts ?? null);
    const slot = ledger.slots.now();
    const replacement = replace
      ? { blockhash: ledger.slots.blockhash(slot), lastValidBlockHeight: slot + blockhashSlots }
      : null;
    return withContext(ledger, commitment, {
      ...value,
      replacementBlockhash: replacement,
    });
  },
);

function bytesIn(text: string, encoding: z.infer<typeof Encoding>): Uint8Array {
  const bytes =
    encoding === "base64" ? new Uint8Array(Buffer.from(text, "base64")) : bs58.decodeUnsafe(text);
  if (bytes === undefined) throw new RpcError(codes.invalidParams, "invalid base58 encoding");
  return bytes;
}

function signatureOf(bytes: Uint8Array): string {
  const signature = transactionOf(bytes)?.signatures[0];
  if (signature === undefined) throw refusal({ refused: "undecodable", outcome: null });
  return bs58.encode(signature);
}

function refusal({ refused, outcome }: Refused): RpcError {
  if (refused === "undecodable") {
    return new RpcError(
      codes.invalidParams,
      "failed to deserialize solana_transaction::versioned::VersionedTransaction",
    );
  }
  if (refused === "SignatureFailure") {
    return new RpcError(codes.signature, "Transaction signature verification failure");
  }
  return preflightFailure(refused, outcome);
}

type Ran = Refused["outcome"];

function preflightFailure(err: TransactionError, outcome: Ran): RpcError {
  const message = `Transaction simulation failed: ${typeof err === "string" ? err : JSON.stringify(err)}`;
  return new RpcError(codes.preflight, message, simulated(err, outcome));
}

const simulated = (err: TransactionError | null, outcome: Ran, accounts: unknown = null) => ({
  err,
  logs: outcome?.logs ?? [],
  accounts,
  unitsConsumed: outcome?.units ?? 0,
  returnData: null,
  innerInstructions: null,
});
