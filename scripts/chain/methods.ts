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
  method,
  withContext,
} from "./json-rpc.ts";
import { type Landing, type Ledger, type Refused, type Trial, blockhashSlots } from "./ledger.ts";
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

const slot = method(onlyOptions, ({ slots }, [options]) =>
  slots.at(options?.commitment ?? "finalized"),
);

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
  getEpochInfo: method(onlyOptions, (ledger, [options]) => {
    const at = ledger.slots.at(options?.commitment ?? "finalized");
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
  getLatestBlockhash: method(onlyOptions, (ledger, [options]) => {
    const at = ledger.slots.at(options?.commitment ?? "finalized");
    return withContext(ledger, options?.commitment, blockhashAt(ledger, at));
  }),
  isBlockhashValid: method(addressAndOptions, (ledger, [hash, options]) => {
    const commitment = options?.commitment ?? "finalized";
    return withContext(ledger, commitment, ledger.slots.isValid(hash, commitment));
  }),
  getFeeForMessage: method(z.tuple([z.base64(), Options]), (ledger, [text, options]) => {
    const message = messageIn(text);
    const valid = ledger.slots.isValid(message.recentBlockhash, "processed");
    const fee = message.header.numRequiredSignatures * lamportsPerSignature;
    return withContext(ledger, options?.commitment, valid ? fee : null);
  }),
  getRecentPrioritizationFees: method(
    z.tuple([z.array(Address).max(128).optional()]),
    ({ slots }) => [{ slot: slots.now(), prioritizationFee: 0 }],
  ),
};

const blockhashAt = ({ slots }: Ledger, at: number) => ({
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
  getAccountInfo: method(z.tuple([Address, ShowOptions]), (ledger, [of, options]) =>
    withContext(
      ledger,
      options?.commitment,
      showAccount(ledger.account(of), options ?? {}, ledger.decimals),
    ),
  ),
  getMultipleAccounts: method(
    z.tuple([z.array(Address).max(accountsMax), ShowOptions]),
    (ledger, [addresses, options]) => {
      const accounts = addresses.map((one) =>
        showAccount(ledger.account(one), options ?? {}, ledger.decimals),
      );
      return withContext(ledger, options?.commitment, accounts);
    },
  ),
  getBalance: method(addressAndOptions, (ledger, [of, options]) =>
    withContext(ledger, options?.commitment, ledger.account(of)?.lamports ?? 0),
  ),
  getMinimumBalanceForRentExemption: method(
    z.tuple([z.int().nonnegative(), Options]),
    (ledger, [bytes]) => ledger.rentFor(bytes),
  ),
  getTokenAccountBalance: method(addressAndOptions, (ledger, [of, options]) => {
    const account = ledger.account(of);
    const token = account === null ? null : readTokenAccount(account);
    if (token === null)
      throw new RpcError(codes.invalidParams, "Invalid param: could not find account");
    const amount = uiTokenAmount(token.amount, ledger.decimals(token.mint));
    return withContext(ledger, options?.commitment, amount);
  }),
  getTokenSupply: method(addressAndOptions, (ledger, [of, options]) => {
    const account = ledger.account(of);
    const mint = account === null ? null : readMint(account);
    if (mint === null) throw new RpcError(codes.invalidParams, "Invalid param: not a Token mint");
    return withContext(ledger, options?.commitment, uiTokenAmount(mint.supply, mint.decimals));
  }),
  getTokenAccountsByOwner: method(
    z.tuple([
      Address,
      z.union([z.object({ mint: Address }), z.object({ programId: Address })]),
      ShowOptions,
    ]),
    (ledger, [owner, filter, options]) => {
      const accounts = [programs.token, programs.token2022]
        .flatMap((program) => ledger.accountsOf(program.toBase58()))
        .filter(({ account }) => {
          const token = readTokenAccount(account);
          if (token?.owner !== owner) return false;
          return "mint" in filter ? token.mint === filter.mint : account.owner === filter.programId;
        })
        .map(({ address, account }) => ({
          pubkey: address,
          account: showAccount(account, options ?? {}, ledger.decimals),
        }));
      return withContext(ledger, options?.commitment, accounts);
    },
  ),
};

const TransactionOptions = z
  .union([
    TransactionEncoding.transform((encoding) => ({ encoding })),
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
  simulateTransaction: method(
    z.tuple([z.string(), SimulateOptions.nullish()]),
    (ledger, [text, options]) => {
      const { replaceRecentBlockhash, sigVerify, commitment, accounts, encoding } = options ?? {};
      const bytes = bytesIn(text, encoding);
      const replace = replaceRecentBlockhash ?? false;
      if (replace && sigVerify === true) {
        const message = "sigVerify may not be used with replaceRecentBlockhash";
        throw new RpcError(codes.invalidParams, message);
      }
      const trial = ledger.simulate(bytes, { verify: sigVerify ?? false, anyBlockhash: replace });
      if ("refused" in trial) {
        const { refused, outcome } = trial;
        if (refused === "SignatureFailure" || refused === "undecodable") throw refusal(trial);
        return withContext(ledger, commitment, simulated(refused, outcome));
      }
      return withContext(ledger, commitment, {
        ...simulated(trial.outcome.err, trial.outcome, accountsAfter(ledger, trial, accounts)),
        replacementBlockhash: replace ? blockhashAt(ledger, ledger.slots.now()) : null,
      });
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
      const { commitment, maxSupportedTransactionVersion: known } = {
        commitment: null,
        maxSupportedTransactionVersion: null,
        ...options,
      };
      const landing = ledger.landing(signature);
      const level = atLeastConfirmed(commitment);
      if (landing === null || !isSeen(ledger, landing, level)) return null;
      const { version } = landing.transaction;
      if (version !== "legacy" && version > (known ?? -1)) {
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
      const value = signatures.map((one) => statusOf(ledger, ledger.landing(one)));
      return withContext(ledger, "processed", value);
    },
  ),
  getSignaturesForAddress: method(
    z.tuple([Address, SignaturesOptions]),
    (ledger, [of, options]) => {
      const commitment = atLeastConfirmed(options?.commitment);
      const seen = ledger.touching(of).filter((one) => isSeen(ledger, one, commitment));
      return between(seen.toReversed(), options ?? {})
        .slice(0, options?.limit ?? signaturesMax)
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

/** Newest first: those older than `before` and newer than `until`. */
function between(
  landings: readonly Landing[],
  { before, until }: NonNullable<z.infer<typeof SignaturesOptions>>,
): readonly Landing[] {
  const start = before ? landings.findIndex(({ signature }) => signature === before) + 1 : 0;
  const rest = landings.slice(start);
  const end = until ? rest.findIndex(({ signature }) => signature === until) : -1;
  return end < 0 ? rest : rest.slice(0, end);
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
    showAccount(trial.account(address), { encoding: asked.encoding ?? "base64" }, ledger.decimals),
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
