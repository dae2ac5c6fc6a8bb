import { PublicKey } from "@solana/web3.js";
import bs58 from "bs58";
import { z } from "zod";
import { networks } from "#content/giving/network.ts";
import { transactionOf } from "#api/chain/payment.ts";
import { memoPrograms } from "#api/chain/transfer.ts";
import type { Commitment } from "#content/contract/transfer.ts";
import { readMint, uiTokenAmount, type Outcome, type TransactionError } from "./svm.ts";
import { give } from "./instructions.ts";
import {
  Address,
  CommitmentLevel,
  type Method,
  Options,
  RpcError,
  Signature,
  codes,
  commitmentIn,
  inContext,
  method,
  methodInContext,
} from "./json-rpc.ts";
import { blockhashSlots, type Landing, type Ledger, type Refusal, type Slots } from "./ledger.ts";

const noParams = z.tuple([]);
const onlyOptions = z.tuple([Options]);
const addressAndOptions = z.tuple([Address, Options]);
const statusesMax = 256;
const signaturesMax = 1_000;

const AccountOptions = z.looseObject({
  // Nothing is parsed; in that case a validator answers base64, too.
  encoding: z.enum(["base64", "jsonParsed"]),
  dataSlice: z.object({ offset: z.int().min(0), length: z.int().min(0) }).nullish(),
});

const TransactionOptions = z.looseObject({
  encoding: z.literal("jsonParsed"),
  commitment: CommitmentLevel.nullish(),
  maxSupportedTransactionVersion: z.int().nullish(),
});

const SignaturesOptions = z
  .looseObject({
    limit: z.int().min(1).max(signaturesMax).nullish(),
    commitment: CommitmentLevel.nullish(),
  })
  .nullish();

const SendParams = z.tuple([z.base64(), z.looseObject({ encoding: z.literal("base64") })]);

const SimulateOptions = z.looseObject({
  encoding: z.literal("base64"),
  sigVerify: z.boolean().nullish(),
  replaceRecentBlockhash: z.boolean().nullish(),
});

const epochSlots = 432_000;

const slot = method(onlyOptions, ({ slots }, params) => slots.at(commitmentIn(params)));

/**
 * The methods that api/chain, @solana/web3.js, @solana/kit or a stock x402 client calls, without those on sockets. A
 * method that no one calls is removed. Accounts are the present ones at every commitment.
 */
export const methods = {
  getAccountInfo: methodInContext(
    z.tuple([Address, AccountOptions]),
    (ledger, [of, { dataSlice }]) => {
      const account = ledger.account(of);
      if (account === null) return null;
      const { owner, lamports, executable, bytes } = account;
      const { offset = 0, length = bytes } = dataSlice ?? {};
      const data = Buffer.from(account.data()).subarray(offset, offset + length);
      const encoded = [data.toString("base64"), "base64"];
      return { lamports, owner, executable, rentEpoch: rentExempt, space: bytes, data: encoded };
    },
  ),
  getBalance: methodInContext(
    addressAndOptions,
    (ledger, [of]) => ledger.account(of)?.lamports ?? 0,
  ),
  getBlockHeight: slot,
  getEpochInfo: method(onlyOptions, ({ slots, count }, params) => {
    const absoluteSlot = slots.at(commitmentIn(params));
    const epoch = Math.floor(absoluteSlot / epochSlots);
    const slotIndex = absoluteSlot % epochSlots;
    const counted = { absoluteSlot, blockHeight: absoluteSlot, epoch, slotIndex };
    return { ...counted, slotsInEpoch: epochSlots, transactionCount: count() };
  }),
  getFirstAvailableBlock: method(noParams, () => 0),
  getGenesisHash: method(noParams, () => networks.local.genesis),
  getLatestBlockhash: methodInContext(onlyOptions, ({ slots }, params) => {
    const at = slots.at(commitmentIn(params));
    return { blockhash: slots.blockhash(at), lastValidBlockHeight: at + blockhashSlots };
  }),
  getSignatureStatuses: method(
    z.tuple([z.array(Signature).max(statusesMax), z.unknown().optional()]),
    (ledger, [signatures]) => {
      const statuses = signatures.map((signature) => statusOf(ledger, signature));
      return inContext(ledger.slots.now(), statuses);
    },
  ),
  getSignaturesForAddress: method(z.tuple([Address, SignaturesOptions]), (ledger, [of, options]) =>
    ledger
      .touching(of, atLeastConfirmed(options?.commitment), options?.limit ?? signaturesMax)
      .map((landing) => ({
        signature: landing.signature,
        slot: landing.slot,
        err: landing.outcome.err,
        memo: null,
        blockTime: ledger.slots.timeOf(landing.slot),
        confirmationStatus: ledger.slots.commitmentOf(landing.slot),
      })),
  ),
  getSlot: slot,
  getTokenSupply: methodInContext(addressAndOptions, (ledger, [of]) => {
    const mint = readMint(ledger.account(of));
    if (mint === null) throw new RpcError(codes.invalidParams, "Invalid param: not a Token mint");
    return uiTokenAmount(mint.supply, mint.decimals);
  }),
  getTransaction: method(
    z.tuple([Signature, TransactionOptions]),
    (ledger, [signature, options]) => {
      const landing = ledger.seen(signature, atLeastConfirmed(options.commitment));
      if (landing === null) return null;
      const { version } = landing.transaction;
      if (version !== "legacy" && version > (options.maxSupportedTransactionVersion ?? -1)) {
        throw new RpcError(
          codes.version,
          `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
        );
      }
      return showTransaction(landing, ledger.slots);
    },
  ),
  isBlockhashValid: methodInContext(addressAndOptions, ({ slots }, params) =>
    slots.isValid(params[0], commitmentIn(params)),
  ),
  requestAirdrop: method(
    z.tuple([Address, z.int().positive(), Options]),
    (ledger, [wallet, lamports]) =>
      give(ledger, { wallet: new PublicKey(wallet), lamports: BigInt(lamports) }),
  ),
  /** Refuses a transaction that fails in a trial run. */
  sendTransaction: method(SendParams, (ledger, [text]) => {
    const bytes = bytesIn(text);
    const signature = signatureOf(bytes);
    const trial = ledger.simulate(bytes, { verify: true, anyBlockhash: false });
    if ("refused" in trial) throw refusal(trial);
    if (trial.err !== null) throw preflightFailure(trial.err, trial);
    const sending = ledger.send(bytes);
    if ("refused" in sending) throw refusal(sending);
    return signature;
  }),
  /** Runs a transaction without a trace. */
  simulateTransaction: methodInContext(
    z.tuple([z.base64(), SimulateOptions]),
    (ledger, [text, { sigVerify, replaceRecentBlockhash: replace }]) => {
      if (replace === true && sigVerify === true) {
        const message = "sigVerify may not be used with replaceRecentBlockhash";
        throw new RpcError(codes.invalidParams, message);
      }
      const scrutiny = { verify: sigVerify === true, anyBlockhash: replace === true };
      const trial = ledger.simulate(bytesIn(text), scrutiny);
      if (!("refused" in trial)) return simulated(trial.err, trial);
      const { refused, outcome } = trial;
      if (refused === "SignatureFailure" || refused === "undecodable") throw refusal(trial);
      return simulated(refused, outcome);
    },
  ),
} as const satisfies Record<string, Method>;

/** `rentEpoch` of a rent-exempt account: the largest u64, which becomes this as a number. */
const rentExempt = 18_446_744_073_709_552_000;

function atLeastConfirmed(commitment: Commitment | null | undefined): Commitment {
  if (commitment === "processed") {
    throw new RpcError(codes.invalidParams, "Method does not support commitment below `confirmed`");
  }
  return commitment ?? "finalized";
}

function statusOf({ slots, seen }: Ledger, signature: string) {
  const landing = seen(signature, "processed");
  if (landing === null) return null;
  const { err } = landing.outcome;
  const confirmationStatus = slots.commitmentOf(landing.slot);
  return {
    slot: landing.slot,
    confirmations: confirmationStatus === "finalized" ? null : slots.now() - landing.slot,
    err,
    status: err === null ? { Ok: null } : { Err: err },
    confirmationStatus,
  };
}

/** The signature with which sendTransaction answers these params. Throws RpcError. */
export function signatureIn(params: readonly unknown[]): string {
  const parsed = SendParams.safeParse(params);
  if (!parsed.success) throw undecodable();
  return signatureOf(bytesIn(parsed.data[0]));
}

const bytesIn = (text: string) => new Uint8Array(Buffer.from(text, "base64"));

function signatureOf(bytes: Uint8Array): string {
  const signature = transactionOf(bytes)?.signatures[0];
  if (signature === undefined) throw undecodable();
  return bs58.encode(signature);
}

const undecodable = () =>
  new RpcError(
    codes.invalidParams,
    "failed to deserialize solana_transaction::versioned::VersionedTransaction",
  );

function refusal({ refused, outcome }: Refusal): RpcError {
  if (refused === "undecodable") return undecodable();
  if (refused === "SignatureFailure") {
    return new RpcError(codes.signature, "Transaction signature verification failure");
  }
  return preflightFailure(refused, outcome);
}

function preflightFailure(err: TransactionError, outcome: Outcome | null): RpcError {
  const message = `Transaction simulation failed: ${typeof err === "string" ? err : JSON.stringify(err)}`;
  return new RpcError(codes.preflight, message, simulated(err, outcome));
}

const simulated = (err: TransactionError | null, outcome: Outcome | null) => ({
  err,
  logs: outcome?.logs ?? [],
  unitsConsumed: outcome?.units ?? 0,
});

/** A transaction as `getTransaction` returns it with the encoding `jsonParsed`. */
function showTransaction(landing: Landing, slots: Slots) {
  const { keys, outcome, before, after, transaction } = landing;
  const { message } = transaction;
  return {
    slot: landing.slot,
    blockTime: slots.timeOf(landing.slot),
    version: transaction.version,
    meta: {
      err: outcome.err,
      computeUnitsConsumed: outcome.units,
      logMessages: outcome.logs,
      innerInstructions: outcome.inner.flatMap((inner, index) =>
        inner.length === 0
          ? []
          : [{ index, instructions: inner.map((each) => showInstruction(landing, each)) }],
      ),
      preBalances: before.lamports,
      postBalances: after.lamports,
      preTokenBalances: before.tokens,
      postTokenBalances: after.tokens,
    },
    transaction: {
      signatures: transaction.signatures.map((signature) => bs58.encode(signature)),
      message: {
        accountKeys: keys.all.map((pubkey, index) => ({
          pubkey,
          signer: message.isAccountSigner(index),
          writable: message.isAccountWritable(index),
        })),
        recentBlockhash: message.recentBlockhash,
        instructions: message.compiledInstructions.map((instruction) =>
          showInstruction(landing, {
            program: instruction.programIdIndex,
            accounts: instruction.accountKeyIndexes,
            data: bs58.encode(instruction.data),
          }),
        ),
      },
    },
  };
}

/** An instruction: indexes of its program and accounts in the transaction's keys, and its data in base58. */
type Instruction = { program: number; accounts: number[]; data: string };

/** Parses memos, as a validator does; for other instructions it names the accounts. */
function showInstruction({ keys }: Landing, { program, accounts, data }: Instruction) {
  const programId = keys.all[program] ?? "";
  if (memoPrograms.has(programId)) {
    const parsed = Buffer.from(bs58.decode(data)).toString("utf8");
    return { program: "spl-memo", programId, parsed };
  }
  return { programId, accounts: accounts.map((index) => keys.all[index] ?? ""), data };
}
