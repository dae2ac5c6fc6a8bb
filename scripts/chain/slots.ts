import { createHash } from "node:crypto";
import bs58 from "bs58";
import { LRUCache } from "lru-cache";
import type { Clock } from "#content/contract/time.ts";
import type { Commitment } from "#content/contract/transfer.ts";

export type SlotOptions = {
  /** Slots until a block is confirmed and finalized. */
  confirmedAfter: number;
  finalizedAfter: number;
};

/** As on mainnet, about. */
export const slotsAsOnMainnet: SlotOptions = { confirmedAfter: 1, finalizedAfter: 32 };

/** Blockhashes live for 150 slots: a minute. Source: Solana, MAX_PROCESSING_AGE. */
export const blockhashSlots = 150;
const slotMs = 400;
/** The first block of mainnet, so that slots look as they do there. */
const firstBlockMs = Date.UTC(2020, 2, 16, 14, 29);

/** Time as the local chain counts it: a slot every 400 ms, a blockhash of its own for each. */
export type Slots = ReturnType<typeof countSlots>;

/** Starts counting. A slot's hash is that of its number, so that a restarted chain still knows the hashes it gave away. */
export function countSlots(clock: Clock, { confirmedAfter, finalizedAfter }: SlotOptions) {
  let newest = 0;
  const now = () => {
    newest = Math.max(newest, Math.floor((clock().getTime() - firstBlockMs) / slotMs));
    return newest;
  };
  const lag: Record<Commitment, number> = {
    processed: 0,
    confirmed: confirmedAfter,
    finalized: finalizedAfter,
  };
  const at = (commitment: Commitment) => now() - lag[commitment];
  return {
    /** The newest slot; never smaller than before, whatever the clock does. */
    now,
    /** The newest slot that has come so far. */
    at,
    commitmentOf: (slot: number): Commitment => {
      if (slot <= at("finalized")) return "finalized";
      return slot <= at("confirmed") ? "confirmed" : "processed";
    },
    /** Seconds since 1970. */
    timeOf: (slot: number) => Math.floor((firstBlockMs + slot * slotMs) / 1_000),
    blockhash: hashOf,
    /** Whether a transaction with this blockhash may still land, as the newest block of that commitment sees it. */
    isValid: (blockhash: string, commitment: Commitment) => {
      const last = at(commitment);
      for (let slot = last; slot >= last - blockhashSlots; slot--) {
        if (hashOf(slot) === blockhash) return true;
      }
      return false;
    },
  };
}

/** Of the slots whose hashes are still valid at some commitment. */
const hashes = new LRUCache<number, string>({ max: 1_000, memoMethod: makeHash });

const hashOf = (slot: number): string => hashes.memo(slot);

function makeHash(slot: number): string {
  return bs58.encode(createHash("sha256").update(`almoner local block ${slot}`).digest());
}
