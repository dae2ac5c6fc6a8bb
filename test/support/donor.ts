import { Keypair, PublicKey } from "@solana/web3.js";
import { programs } from "#api/chain/transfer.ts";
import { give } from "#scripts/chain/instructions.ts";
import type { Ledger } from "#scripts/chain/ledger.ts";
import { buildPaying, micro, type Paying } from "#test/support/paying.ts";
import { fakeMint } from "./fake-mint.ts";

export type Donor = ReturnType<typeof aDonor>;

const lamportsPerSol = 1_000_000_000;

export function aDonor(ledger: Ledger, has: { sol?: number; usdc?: string } = {}) {
  const { sol = 1, usdc = "1000" } = has;
  const keypair = Keypair.generate();
  const lamports = BigInt(Math.round(sol * lamportsPerSol));
  give(ledger, { wallet: keypair.publicKey, lamports, usdc: micro(usdc) });
  return {
    keypair,
    address: keypair.publicKey.toBase58(),
    /** A signed transaction that pays; no one has sent it yet. */
    pay: (paying: Paying) =>
      buildPaying(keypair, paying, ledger.slots.blockhash(ledger.slots.now())),
    /** A token of the donor's own making that looks like USDC; it holds 1,000 of it, and the wallet can receive it. */
    fakeMint: (forWallet: string, program = programs.token) =>
      fakeMint(ledger, { owner: keypair, program, forWallet: new PublicKey(forWallet) }),
  };
}
