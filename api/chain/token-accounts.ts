import { PublicKey } from "@solana/web3.js";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { singleFlight } from "#content/runtime/single-flight.ts";
import type { ChainUnclear } from "./chain.ts";
import { programs, tokenAccount } from "./programs.ts";
import type { Reading, Rpc, RpcAnswer } from "./rpc.ts";

/** The token accounts of wallets for one mint. */
export type TokenAccounts = {
  of(wallet: string): string;
  canReceive(wallet: string): Promise<Result<boolean, ChainUnclear>>;
};

const cachedMax = 10_000;
/** An account can be closed once it is empty, and be made at any moment by anyone. */
const knownMs = { there: 60_000, absent: 5_000 } as const;

/** Caches addresses, because one takes 0.2 ms to derive, and what the chain says of them. */
export function openTokenAccounts(rpc: Rpc, mint: string, clockMs: () => number): TokenAccounts {
  const mintKey = new PublicKey(mint);
  const addresses = new LRUCache<string, string>({ max: cachedMax });
  const known = new LRUCache<string, boolean>({
    max: cachedMax,
    ttl: knownMs.there,
    ttlResolution: 0,
    perf: { now: clockMs },
  });
  const of = (wallet: string): string => {
    const cached = addresses.get(wallet);
    if (cached !== undefined) return cached;
    const address = tokenAccount(new PublicKey(wallet), mintKey).toBase58();
    addresses.set(wallet, address);
    return address;
  };
  const ask = async (wallet: string): Promise<Result<boolean, ChainUnclear>> => {
    const params = [
      of(wallet),
      { encoding: "base64", commitment: "confirmed", dataSlice: { offset: 0, length: 109 } },
    ];
    const told = await rpc.ask("getAccountInfo", params, (answer) =>
      readAccount(answer, { wallet, mint }),
    );
    if (!told.ok) return fail(told.failure);
    const there = told.value.value;
    known.set(wallet, there, { ttl: knownMs[there ? "there" : "absent"] });
    return ok(there);
  };
  return {
    of,
    canReceive: (wallet) => {
      const there = known.get(wallet);
      if (there !== undefined) return Promise.resolve(ok(there));
      return singleFlight(known, wallet, () => ask(wallet));
    },
  };
}

const Account = z.object({
  value: z
    .object({ owner: z.string(), data: z.tuple([z.base64(), z.literal("base64")]) })
    .nullable(),
});

/** Where a token account holds its mint, its owner and its state (1: usable, 2: frozen). Source: SPL Token, Account. */
const layout = { mint: [0, 32], owner: [32, 64], state: 108 } as const;
const usable = 1;

function readAccount(
  answer: RpcAnswer,
  { wallet, mint }: { wallet: string; mint: string },
): Reading<boolean> {
  if ("error" in answer) return { unclear: `RPC error ${answer.error.code}` };
  const read = Account.safeParse(answer.result);
  if (!read.success) return { unclear: "no account and no absence of one" };
  const { value } = read.data;
  if (value === null || value.owner !== programs.token.toBase58()) return { clear: false };
  const data = Buffer.from(value.data[0], "base64");
  if (data.length <= layout.state) return { unclear: "an account cut short" };
  const at = (part: readonly [number, number]) => new PublicKey(data.subarray(...part)).toBase58();
  // A wallet can hand its token account to another owner; what is paid into it then is lost to the wallet.
  return {
    clear: at(layout.mint) === mint && at(layout.owner) === wallet && data[layout.state] === usable,
  };
}
