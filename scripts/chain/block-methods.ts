import { VersionedMessage } from "@solana/web3.js";
import { z } from "zod";
import { clusters } from "#api/chain/clusters.ts";
import { Address, type Method, Options, RpcError, codes, method, withContext } from "./json-rpc.ts";
import { blockhashSlots } from "./slots.ts";

const noneOr = z.tuple([Options.optional()]);
const slotsInEpoch = 432_000;
const lamportsPerSignature = 5_000;

/** What is asked about the chain itself. */
export const blockMethods: Readonly<Record<string, Method>> = {
  getGenesisHash: method(z.tuple([]), () => clusters.local.genesis),
  getHealth: method(z.tuple([]), () => "ok"),
  getVersion: method(z.tuple([]), () => ({ "solana-core": "3.0.0", "feature-set": 0 })),
  getIdentity: method(z.tuple([]), () => ({ identity: "11111111111111111111111111111111" })),
  getSlot: method(noneOr, ({ slots }, [options]) => slots.at(options?.commitment ?? "finalized")),
  getBlockHeight: method(noneOr, ({ slots }, [options]) =>
    slots.at(options?.commitment ?? "finalized"),
  ),
  getFirstAvailableBlock: method(z.tuple([]), () => 0),
  minimumLedgerSlot: method(z.tuple([]), () => 0),
  getTransactionCount: method(noneOr, (ledger) => ledger.count()),
  getEpochInfo: method(noneOr, (ledger, [options]) => {
    const slot = ledger.slots.at(options?.commitment ?? "finalized");
    return {
      absoluteSlot: slot,
      blockHeight: slot,
      epoch: Math.floor(slot / slotsInEpoch),
      slotIndex: slot % slotsInEpoch,
      slotsInEpoch,
      transactionCount: ledger.count(),
    };
  }),
  getBlockTime: method(z.tuple([z.int().nonnegative()]), ({ slots }, [slot]) => {
    if (slot > slots.now()) throw new RpcError(codes.noSuchBlock, `Slot ${slot} was skipped`);
    return slots.timeOf(slot);
  }),
  getLatestBlockhash: method(noneOr, (ledger, [options]) => {
    const slot = ledger.slots.at(options?.commitment ?? "finalized");
    const value = {
      blockhash: ledger.slots.blockhash(slot),
      lastValidBlockHeight: slot + blockhashSlots,
    };
    return withContext(ledger, options?.commitment, value);
  }),
  isBlockhashValid: method(z.tuple([Address, Options.optional()]), (ledger, [hash, options]) => {
    const commitment = options?.commitment ?? "finalized";
    return withContext(ledger, commitment, ledger.slots.isValid(hash, commitment));
  }),
  getFeeForMessage: method(z.tuple([z.base64(), Options.optional()]), (ledger, [text, options]) => {
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

function messageIn(text: string): VersionedMessage {
  try {
    return VersionedMessage.deserialize(Buffer.from(text, "base64"));
  } catch (error) {
    throw new RpcError(codes.invalidParams, `invalid transaction message: ${String(error)}`);
  }
}
