import { PublicKey, VersionedMessage } from "@solana/web3.js";
import bs58 from "bs58";
import { z } from "zod";
import { networks } from "#content/donation/network.ts";
import { transactionOf } from "#api/chain/payment.ts";
import { programs } from "#api/chain/programs.ts";
import { readMint, readTokenAccount, showAccount, ShownAs, uiTokenAmount } from "./accounts.ts";
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
import {
  blockhashSlots,
  type Landing,
  type Ledger,
  type Refused,
  type Slots,
  type Trial,
} from "./ledger.ts";
import type { Commitment } from "#content/contract/transfer.ts";
import type { Outcome, TransactionError } from "./svm.ts";
import { memosOf, showTransaction, TransactionEncoding } from "./transaction-view.ts";

const noParams = z.tuple([]);
const onlyOptions = z.tuple([Options]);
const addressAndOptions = z.tuple([Address, Options]);
const ShowOptions = ShownAs.extend({ commitment: CommitmentLevel.nullish() }).nullish();

const slotsInEpoch = 432_000;
const lamportsPerSignature = 5_000;
const accountsMax = 100;
const statusesMax = 256;
const signaturesMax = 1_000;

const slot = method(onlyOptions, ({ slots }, params) => slots.at(commitmentIn(params)));

/** What is asked about the chain itself. */
const blockMethods: Readonly<Record<string, Method>> = {
  getGenesisHash: method(noParams, () => networks.local.genesis),
  getHealth: method(noParams, () => "ok"),
  getVersion: method(noParams, () => ({ "solana-core": "3.0.0", "feature-set": 0 })),
  getIdentity: method(noParams, () => ({ identity: "11111111111111111111111111111111" })),
  getSlot: slot,
  getBlockHeight: slot,
  getFirstAvailableBlock: method(noParams, () => 0),
  minimumLedgerSlot: method(noParams, () => 0),
  getTransactionCount: method(onlyOptions, (ledger) => ledger.count()),
  getEpochInfo: method(onlyOptions, (ledger, params) => {
    const at = ledger.slots.at(commitmentIn(params));
    return {
      absoluteSlot: at,
      blockHeight: at,
      epoch: Math.floor(at / slotsInEpoch),
      slotIndex: at % slotsInEpoch,
      slotsInEpoch,
      transactionCount: ledger.count(),
    };
  }),
  getBlockTime: method(z.tuple([z.int().nonnegative()]), ({ slots }, [of]) => {
    if (of > slots.now()) throw new RpcError(codes.noSuchBlock, `Slot ${of} was skipped`);
    return slots.timeOf(of);
  }),
  getLatestBlockhash: methodInContext(onlyOptions, ({ slots }, params) =>
    blockhashAt(slots, slots.at(commitmentIn(params))),
  ),
  isBlockhashValid: methodInContext(addressAndOptions, ({ slots }, params) =>
    slots.isValid(params[0], commitmentIn(params)),
  ),
  getFeeForMessage: methodInContext(z.tuple([z.base64(), Options]), ({ slots }, [text]) => {
    const message = messageIn(text);
    const isValid = slots.isValid(message.recentBlockhash, "processed");
    return isValid ? message.header.numRequiredSignatures * lamportsPerSignature : null;
  }),
  getRecentPrioritizationFees: method(
    z.tuple([z.array(Address).max(128).optional()]),
    ({ slots }) => [{ slot: slots.now(), prioritizationFee: 0 }],
  ),
};

const blockhashAt = (slots: Slots, at: number) => ({
  blockhash: slots.blockhash(at),
  lastValidBlockHeight: at + blockhashSlots,
});

function messageIn(text: string): VersionedMessage {
  try {
    return VersionedMessage.deserialize(Buffer.from(text, "base64"));
  } catch (error) {
    throw new RpcError(codes.invalidParams, `invalid transaction message: ${String(error)}`);
  }
}

/** What is asked about accounts. The ledger knows them as they are now, at every commitment. */
const accountMethods: Readonly<Record<string, Method>> = {
  getAccountInfo: methodInContext(z.tuple([Address, ShowOptions]), (ledger, [of, options]) =>
    showAccount(ledger, ledger.account(of), options),
  ),
  getMultipleAccounts: methodInContext(
    z.tuple([z.array(Address).max(accountsMax), ShowOptions]),
    (ledger, [addresses, options]) =>
      addresses.map((one) => showAccount(ledger, ledger.account(one), options)),
  ),
  getBalance: methodInContext(
    addressAndOptions,
    (ledger, [of]) => ledger.account(of)?.lamports ?? 0,
  ),
  getMinimumBalanceForRentExemption: method(
    z.tuple([z.int().nonnegative(), Options]),
    (ledger, [bytes]) => ledger.rentFor(bytes),
  ),
  getTokenAccountBalance: methodInContext(addressAndOptions, (ledger, [of]) => {
    const token = readTokenAccount(ledger.account(of));
    if (token === null)
      throw new RpcError(codes.invalidParams, "Invalid param: could not find account");
    return uiTokenAmount(token.amount, ledger.decimals(token.mint));
  }),
  getTokenSupply: methodInContext(addressAndOptions, (ledger, [of]) => {
    const mint = readMint(ledger.account(of));
    if (mint === null) throw new RpcError(codes.invalidParams, "Invalid param: not a Token mint");
    return uiTokenAmount(mint.supply, mint.decimals);
  }),
  getTokenAccountsByOwner: methodInContext(
    z.tuple([
      Address,
      z.union([z.object({ mint: Address }), z.object({ programId: Address })]),
      ShowOptions,
    ]),
    (ledger, [owner, filter, options]) =>
      [programs.token, programs.token2022]
        .flatMap((program) => ledger.accountsOf(program.toBase58()))
        .filter(({ account }) => {
          const token = readTokenAccount(account);
          if (token?.owner !== owner) return false;
          return "mint" in filter ? token.mint === filter.mint : account.owner === filter.programId;
        })
        .map(({ address, account }) => ({
          pubkey: address,
          account: showAccount(ledger, account, options),
        })),
  ),
};

const TransactionOptions = z
  .union([
    TransactionEncoding.transform((encoding) => ({
      encoding,
      commitment: null,
      maxSupportedTransactionVersion: null,
    })),
    z.looseObject({
      encoding: TransactionEncoding.nullish(),
      commitment: CommitmentLevel.nullish(),
      maxSupportedTransactionVersion: z.int().nullish(),
    }),
  ])
  .nullish();

const SignaturesOptions = z
  .looseObject({
    limit: z.int().min(1).max(signaturesMax).nullish(),
    before: Signature.nullish(),
    until: Signature.nullish(),
    commitment: CommitmentLevel.nullish(),
  })
  .nullish();

const ByteEncoding = z.enum(["base58", "base64"]);

const SendParams = z.tuple([
  z.string(),
  z
    .looseObject({
      encoding: ByteEncoding.nullish(),
      skipPreflight: z.boolean().nullish(),
      preflightCommitment: CommitmentLevel.nullish(),
    })
    .nullish(),
]);

const TrialAccounts = z
  .object({ addresses: z.array(Address), encoding: z.enum(["base64", "jsonParsed"]).nullish() })
  .nullish();

const SimulateOptions = z.looseObject({
  encoding: ByteEncoding.nullish(),
  sigVerify: z.boolean().nullish(),
  replaceRecentBlockhash: z.boolean().nullish(),
  commitment: CommitmentLevel.nullish(),
  accounts: TrialAccounts,
});

/** What is asked about transactions, and how they get in. */
const transactionMethods: Readonly<Record<string, Method>> = {
  /** Unless the client skips that, it is run for a trial first, and refused when it would fail. */
  sendTransaction: method(SendParams, (ledger, [text, options]) => {
    const bytes = bytesIn(text, options?.encoding);
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
  }),
  /** Runs a transaction without a trace. */
  simulateTransaction: methodInContext(
    z.tuple([z.string(), SimulateOptions.nullish()]),
    (ledger, [text, options]) => {
      const { replaceRecentBlockhash: replace = false, sigVerify, accounts } = options ?? {};
      const bytes = bytesIn(text, options?.encoding);
      if (replace === true && sigVerify === true) {
        const message = "sigVerify may not be used with replaceRecentBlockhash";
        throw new RpcError(codes.invalidParams, message);
      }
      const scrutiny = { verify: sigVerify === true, anyBlockhash: replace === true };
      const trial = ledger.simulate(bytes, scrutiny);
      if ("refused" in trial) {
        const { refused, outcome } = trial;
        if (refused === "SignatureFailure" || refused === "undecodable") throw refusal(trial);
        return simulated(refused, outcome);
      }
      return {
        ...simulated(trial.outcome.err, trial.outcome, accountsAfter(ledger, trial, accounts)),
        replacementBlockhash:
          replace === true ? blockhashAt(ledger.slots, ledger.slots.now()) : null,
      };
    },
  ),
  requestAirdrop: method(
    z.tuple([Address, z.int().positive(), Options]),
    (ledger, [wallet, lamports]) =>
      give(ledger, { wallet: new PublicKey(wallet), lamports: BigInt(lamports) }),
  ),
  getTransaction: method(
    z.tuple([Signature, TransactionOptions]),
    (ledger, [signature, options]) => {
      const landing = ledger.landing(signature);
      const level = atLeastConfirmed(options?.commitment);
      if (landing === null || !isSeen(ledger, landing, level)) return null;
      const { version } = landing.transaction;
      if (version !== "legacy" && version > (options?.maxSupportedTransactionVersion ?? -1)) {
        throw new RpcError(
          codes.version,
          `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
        );
      }
      return showTransaction(landing, options?.encoding ?? "json", ledger.slots);
    },
  ),
  getSignatureStatuses: method(
    z.tuple([z.array(Signature).max(statusesMax), z.unknown().optional()]),
    (ledger, [signatures]) => {
      const statuses = signatures.map((one) => statusOf(ledger, ledger.landing(one)));
      return inContext(ledger.slots.now(), statuses);
    },
  ),
  getSignaturesForAddress: method(
    z.tuple([Address, SignaturesOptions]),
    (ledger, [of, options]) => {
      const commitment = atLeastConfirmed(options?.commitment);
      const { before, until, limit } = options ?? {};
      const page = {
        slot: ledger.slots.at(commitment),
        before,
        until,
        limit: limit ?? signaturesMax,
      };
      return ledger
        .touching(of, page)
        .filter((one) => isSeen(ledger, one, commitment))
        .map((one) => ({
          signature: one.signature,
          slot: one.slot,
          err: one.outcome.err,
          memo: memosOf(one),
          blockTime: ledger.slots.timeOf(one.slot),
          confirmationStatus: ledger.slots.commitmentOf(one.slot),
        }));
    },
  ),
};

export const methods: ReadonlyMap<string, Method> = new Map(
  Object.entries({ ...blockMethods, ...accountMethods, ...transactionMethods }),
);

function atLeastConfirmed(commitment: Commitment | null | undefined): Commitment {
  if (commitment === "processed") {
    throw new RpcError(codes.invalidParams, "Method does not support commitment below `confirmed`");
  }
  return commitment ?? "finalized";
}

function isSeen({ slots, clock }: Ledger, landing: Landing, commitment: Commitment): boolean {
  return landing.slot <= slots.at(commitment) && landing.visibleFromMs <= clock().getTime();
}

function statusOf(ledger: Ledger, landing: Landing | null) {
  if (landing === null || !isSeen(ledger, landing, "processed")) return null;
  const { err } = landing.outcome;
  const confirmationStatus = ledger.slots.commitmentOf(landing.slot);
  return {
    slot: landing.slot,
    confirmations: confirmationStatus === "finalized" ? null : ledger.slots.now() - landing.slot,
    err,
    status: err === null ? { Ok: null } : { Err: err },
    confirmationStatus,
  };
}

/** The signature that these params of sendTransaction would be answered with. Throws RpcError. */
export function signatureIn(params: readonly unknown[]): string {
  const given = SendParams.safeParse(params);
  if (!given.success) throw undecodable();
  const [text, options] = given.data;
  return signatureOf(bytesIn(text, options?.encoding));
}

function bytesIn(text: string, encoding: "base58" | "base64" | null | undefined): Uint8Array {
  const bytes =
    encoding === "base64" ? new Uint8Array(Buffer.from(text, "base64")) : bs58.decodeUnsafe(text);
  if (bytes === undefined) throw new RpcError(codes.invalidParams, "invalid base58 encoding");
  return bytes;
}

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

function refusal({ refused, outcome }: Refused): RpcError {
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

const accountsAfter = (ledger: Ledger, trial: Trial, asked: z.infer<typeof TrialAccounts>) =>
  asked?.addresses.map((address) =>
    showAccount(ledger, trial.account(address), { encoding: asked.encoding ?? "base64" }),
  ) ?? null;

const simulated = (
  err: TransactionError | null,
  outcome: Outcome | null,
  accounts: unknown = null,
) => ({
  err,
  logs: outcome?.logs ?? [],
  accounts,
  unitsConsumed: outcome?.units ?? 0,
  returnData: null,
  innerInstructions: null,
});
