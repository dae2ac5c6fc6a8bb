import { PublicKey } from "@solana/web3.js";
import { z } from "zod";
import { give } from "./faucet.ts";
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
import type { Landing, Ledger } from "./ledger.ts";
import { sendTransaction, simulateTransaction } from "./sending-methods.ts";
import type { Commitment } from "./slots.ts";
import { memosOf, showTransaction } from "./transaction-view.ts";

const Encoding = z.enum(["json", "jsonParsed", "base64", "base58"]);

const TransactionOptions = z
  .union([
    Encoding.transform((encoding) => ({
      encoding,
      commitment: undefined,
      maxSupportedTransactionVersion: undefined,
    })),
    z.looseObject({
      encoding: Encoding.nullish(),
      commitment: CommitmentLevel.nullish(),
      maxSupportedTransactionVersion: z.int().nullish(),
    }),
  ])
  .nullish();

const statusesMax = 256;
const signaturesMax = 1_000;

const SignaturesOptions = z
  .looseObject({
    limit: z.int().min(1).max(signaturesMax).nullish(),
    before: Signature.nullish(),
    until: Signature.nullish(),
    commitment: CommitmentLevel.nullish(),
  })
  .nullish();

/** What is asked about transactions, and how they get in. */
export const transactionMethods: Readonly<Record<string, Method>> = {
  sendTransaction,
  simulateTransaction,
  requestAirdrop: method(
    z.tuple([Address, z.int().positive(), Options.optional()]),
    (ledger, [wallet, lamports]) =>
      give(ledger, { wallet: new PublicKey(wallet), lamports: BigInt(lamports) }),
  ),
  getTransaction: method(
    z.tuple([Signature, TransactionOptions.optional()]),
    (ledger, [signature, options]) => {
      const landing = ledger.landing(signature);
      const commitment = atLeastConfirmed(options?.commitment);
      if (landing === null || !isSeen(ledger, landing, commitment)) return null;
      const { version } = landing.transaction;
      const known = options?.maxSupportedTransactionVersion ?? -1;
      if (version !== "legacy" && version > known) {
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
    z.tuple([Address, SignaturesOptions.optional()]),
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
  { before, until }: { before?: string | null | undefined; until?: string | null | undefined },
): readonly Landing[] {
  const start = before ? landings.findIndex(({ signature }) => signature === before) + 1 : 0;
  const rest = landings.slice(start);
  const end = until ? rest.findIndex(({ signature }) => signature === until) : -1;
  return end < 0 ? rest : rest.slice(0, end);
}
