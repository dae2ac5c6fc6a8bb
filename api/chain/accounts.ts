import { ComputeBudgetProgram, PublicKey } from "@solana/web3.js";
import { countedCache } from "#content/runtime/cache.ts";
import { z } from "zod";
import { ok, type Result } from "#content/contract/base/result.ts";
import { singleFlight } from "#content/runtime/concurrency.ts";
import { askFor, type Rpc, valueOf } from "./rpc.ts";
import type { ChainUnclear } from "#content/giving/chain.ts";

/** Programs whose instructions a payment is made of. Source: Solana Program Library. */
export const programs = {
  token: new PublicKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"),
  token2022: new PublicKey("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"),
  tokenAccounts: new PublicKey("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"),
  memo: new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"),
  /** The first memo program, which some wallets still use. */
  memoV1: new PublicKey("Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo"),
  /** The same for less compute, which newer libraries use. */
  memoV4: new PublicKey("Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH"),
  computeBudget: ComputeBudgetProgram.programId,
} as const;

/** All memo programs, as text. */
export const memoPrograms: ReadonlySet<string> = new Set(
  [programs.memo, programs.memoV1, programs.memoV4].map((program) => program.toBase58()),
);

/** The token account that a token program keeps for a wallet by default; off-curve wallets have one, too. */
export const tokenAccount = (
  wallet: PublicKey,
  mint: PublicKey,
  program: PublicKey = programs.token,
): PublicKey =>
  PublicKey.findProgramAddressSync(
    [wallet.toBytes(), program.toBytes(), mint.toBytes()],
    programs.tokenAccounts,
  )[0];

const cachedMax = 10_000;
/** An account can be closed once it is empty, and be made at any moment by anyone. */
const knownMs = { there: 60_000, absent: 5_000 } as const;

/**
 * The token accounts of wallets for one mint. Caches addresses, because one takes 0.2 ms to derive, and what the chain
 * says of them.
 */
export function openTokenAccounts(rpc: Rpc, mint: string, clockMs: () => number) {
  const mintKey = new PublicKey(mint);
  const addresses = countedCache<string>(cachedMax, {
    memoMethod: (wallet) => tokenAccount(new PublicKey(wallet), mintKey).toBase58(),
  });
  const cached = countedCache<boolean>(cachedMax, {
    ttl: knownMs.there,
    ttlResolution: 0,
    perf: { now: clockMs },
  });
  const ask = async (wallet: string): Promise<Result<boolean, ChainUnclear>> => {
    const params = [
      addresses.memo(wallet),
      { encoding: "base64", commitment: "confirmed", dataSlice: { offset: 0, length: 109 } },
    ];
    const account = await askFor(rpc, "getAccountInfo", params, Account);
    if (!account.ok) return account;
    const there = receives(account.value, { wallet, mint });
    cached.set(wallet, there, { ttl: knownMs[there ? "there" : "absent"] });
    return ok(there);
  };
  return {
    /** The token account of a wallet, which is a valid address. */
    tokenAccountOf: (wallet: string): string => addresses.memo(wallet),
    /** Whether that account exists on chain. Answers are cached for a minute. */
    canReceive: (wallet: string): Promise<Result<boolean, ChainUnclear>> => {
      const there = cached.get(wallet);
      if (there !== undefined) return Promise.resolve(ok(there));
      return singleFlight(cached, wallet, () => ask(wallet));
    },
  };
}

/** Where a token account holds its mint, its owner and its state (1: usable, 2: frozen). Source: SPL Token, Account. */
const layout = { mint: [0, 32], owner: [32, 64], state: 108 } as const;
const usable = 1;

/** The bytes of a token account; null for an account that is none, or not there. One cut short is no answer. */
const Account = valueOf(
  z.object({ owner: z.string(), data: z.tuple([z.base64(), z.literal("base64")]) }).nullable(),
)
  .transform((found) =>
    found?.owner === programs.token.toBase58() ? Buffer.from(found.data[0], "base64") : null,
  )
  .refine((data) => data === null || data.length > layout.state);

function receives(data: Buffer | null, { wallet, mint }: { wallet: string; mint: string }) {
  if (data === null) return false;
  const at = (part: readonly [number, number]) => new PublicKey(data.subarray(...part)).toBase58();
  // A wallet can hand its token account to another owner; what is paid into it then is lost to the wallet.
  return at(layout.mint) === mint && at(layout.owner) === wallet && data[layout.state] === usable;
}
