import type { PublicKey } from "@solana/web3.js";
import { z } from "zod";
import type { Clock } from "#content/contract/time.ts";
import { systemClock } from "#content/contract/time.ts";
import { accountMethods } from "./account-methods.ts";
import { blockMethods } from "./block-methods.ts";
import { type ChaosSwitch, openChaos } from "./chaos.ts";
import { give, type Wish } from "./faucet.ts";
import { tokenAccountFor } from "./instructions.ts";
import { type Answer, type Method, RpcError, answerBody, codes } from "./json-rpc.ts";
import { type Journal, type Ledger, openJournal, openLedger } from "./ledger.ts";
import { usdcMint } from "./genesis.ts";
import { type SlotOptions, slotsAsOnMainnet } from "./slots.ts";
import { readTokenAccount } from "./token-accounts.ts";
import { transactionMethods } from "./transaction-methods.ts";

/** A Solana of one's own: the real runtime with the real token programs, without validators. */
export type LocalChain = {
  readonly ledger: Ledger;
  readonly chaos: ChaosSwitch;
  /** Gives away SOL and USDC; answers the signature. */
  give(wish: Wish): string;
  /** Makes the USDC accounts that wallets lack. Answers how many. */
  ensure(wallets: readonly PublicKey[]): number;
  /** Micro-USDC that a wallet has; 0n without an account. */
  usdcOf(wallet: PublicKey): bigint;
  /** Answers JSON-RPC, with troubles when chaos is on. */
  rpc(body: string, signal: AbortSignal): Promise<Response>;
  close(): void;
};

export type LocalChainOptions = {
  clock?: Clock;
  /** File that keeps all transactions; null keeps nothing. */
  journal?: string | null;
  slots?: SlotOptions;
  chaos?: unknown;
};

const methods = new Map<string, Method>(
  Object.entries({ ...blockMethods, ...accountMethods, ...transactionMethods }),
);

/** Opens it. Throws JournalTaken while another process keeps the journal. */
export function openLocalChain(options: LocalChainOptions = {}): LocalChain {
  const { clock = systemClock, slots = slotsAsOnMainnet } = options;
  const journal: Journal | null = options.journal ? openJournal(options.journal) : null;
  const ledger = openLedger({ clock, slots, journal });
  const chaos = openChaos(options.chaos);
  const answer = chaos.disturb(ledger, answerFrom(ledger));
  return {
    ledger,
    chaos,
    give: (wish) => give(ledger, wish),
    ensure: (wallets) => {
      const lacks = (wallet: PublicKey) =>
        ledger.account(tokenAccountFor(wallet, usdcMint).toBase58()) === null;
      const lacking = wallets.filter(lacks);
      for (const wallet of lacking) give(ledger, { wallet, usdc: 0n });
      return lacking.length;
    },
    usdcOf: (wallet) => {
      const account = ledger.account(tokenAccountFor(wallet, usdcMint).toBase58());
      return account === null ? 0n : (readTokenAccount(account)?.amount ?? 0n);
    },
    rpc: (body, signal) =>
      chaos.trouble({ body, signal }, () => {
        const answered = answerBody(body, answer);
        return answered === null ? new Response(null, { status: 204 }) : Response.json(answered);
      }),
    close: () => journal?.close(),
  };
}

function answerFrom(ledger: Ledger): Answer {
  return ({ method, params }) => {
    const known = methods.get(method);
    if (known === undefined) throw new RpcError(codes.unknownMethod, "Method not found");
    const given = known.params.safeParse(params);
    if (given.success) return known.run(ledger, given.data);
    throw new RpcError(codes.invalidParams, `Invalid params: ${z.prettifyError(given.error)}`);
  };
}
