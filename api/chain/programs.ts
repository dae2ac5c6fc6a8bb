import { ComputeBudgetProgram, PublicKey } from "@solana/web3.js";

/** Programs whose instructions a payment is made of. Source: Solana Program Library. */
export const programs = {
  token: new PublicKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"),
  token2022: new PublicKey("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"),
  tokenAccounts: new PublicKey("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"),
  memo: new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"),
  /** The first memo program, which some wallets still use. */
  memoV1: new PublicKey("Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo"),
  computeBudget: ComputeBudgetProgram.programId,
} as const;

/** Both memo programs, as text. */
export const memoPrograms: ReadonlySet<string> = new Set(
  [programs.memo, programs.memoV1].map((program) => program.toBase58()),
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
