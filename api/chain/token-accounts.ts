import { PublicKey } from "@solana/web3.js";
import { z } from "zod";
import type { Result } from "#content/contract/result.ts";
import { fail, ok } from "#content/contract/result.ts";
import type { ChainUnclear } from "./chain.ts";
import { programs, tokenAccount } from "./programs.ts";
import type { Reading, Rpc } from "./rpc.ts";
import type { RpcAnswer } from "./endpoint.ts";

/** The token accounts of wallets for one mint. */
export type TokenAccounts = {
  of(wallet: string): string;
  canReceive(wallet: string): Promise<Result<boolean, ChainUnclear>>;
};

const keptMax = 10_000;
/** An account can be closed once it is empty, and be made at any moment by anybody. */
const keptMs = { there: 60_000, absent: 5_000 } as const;

/** Opens them. An address takes 0.2 ms to derive, so the last ones asked for are kept, and so is what the chain said. */
export function openTokenAccounts(rpc: Rpc, mint: string, clockMs: () => number): TokenAccounts {
  const mintKey = new PublicKey(mint);
  const addresses = new Map<string, string>();
  const known = new Map<string, { there: boolean; untilMs: number }>();
  const asked = new Map<string, Promise<Result<boolean, ChainUnclear>>>();

  const of = (wallet: string): string => {
    const kept = addresses.get(wallet);
    if (kept !== undefined) return kept;
    const address = tokenAccount(new PublicKey(wallet), mintKey).toBase58();
    return keep(addresses, wallet, address);
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
    keep(known, wallet, { there, untilMs: clockMs() + keptMs[there ? "there" : "absent"] });
    return ok(there);
  };
  return {
    of,
    canReceive: (wallet) => {
      const kept = known.get(wallet);
      if (kept !== undefined && clockMs() < kept.untilMs) return Promise.resolve(ok(kept.there));
      const running = asked.get(wallet);
      if (running !== undefined) return running;
      const asking = ask(wallet).finally(() => asked.delete(wallet));
      asked.set(wallet, asking);
      return asking;
    },
  };
}

/** Drops the oldest entry of a full map. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value): Value {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > keptMax && oldest !== undefined) map.delete(oldest);
  return value;
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
