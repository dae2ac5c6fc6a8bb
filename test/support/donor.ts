import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js";
import { createTokenAccount, programs, tokenAccount } from "#api/chain/transfer.ts";
import { give, mintTo, signedTransaction } from "#scripts/chain/instructions.ts";
import type { Ledger } from "#scripts/chain/ledger.ts";
import { buildPaying, micro, type Paying } from "#test/support/paying.ts";

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

const mintBytes = 82;
const initializeMint2 = 20;
const decimals = 6;
const supply = 1_000_000_000n;

/** A token that its owner made: six decimals like USDC, 1,000 of them its owner's. The wallet gets an account for it. */
function fakeMint(
  ledger: Ledger,
  { owner, program, forWallet }: { owner: Keypair; program: PublicKey; forWallet: PublicKey },
): PublicKey {
  const mint = Keypair.generate();
  const holder = owner.publicKey;
  const instructions = [
    SystemProgram.createAccount({
      fromPubkey: holder,
      newAccountPubkey: mint.publicKey,
      lamports: ledger.rentFor(mintBytes),
      space: mintBytes,
      programId: program,
    }),
    new TransactionInstruction({
      programId: program,
      keys: [{ pubkey: mint.publicKey, isSigner: false, isWritable: true }],
      data: Buffer.concat([
        Buffer.from([initializeMint2, decimals]),
        holder.toBytes(),
        Buffer.from([0]),
      ]),
    }),
    createTokenAccount(holder, holder, mint.publicKey, program),
    createTokenAccount(holder, forWallet, mint.publicKey, program),
    mintTo(mint.publicKey, tokenAccount(holder, mint.publicKey, program), holder, supply, program),
  ];
  const { bytes } = signedTransaction(instructions, {
    signers: [owner, mint],
    blockhash: ledger.slots.blockhash(ledger.slots.now()),
  });
  const landed = ledger.send(bytes);
  if ("refused" in landed || landed.outcome.err !== null) {
    throw new Error(`no mint was made: ${JSON.stringify(landed)}`);
  }
  return mint.publicKey;
}
