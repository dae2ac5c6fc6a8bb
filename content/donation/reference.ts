import { createHash } from "node:crypto";

/**
 * The 32 bytes of the account that a transfer names as its Solana Pay reference, so that it can be found on chain by its
 * memo alone. Nobody holds a key to it. api/chain/base58.ts writes it as an address.
 */
export const referenceOf = (memo: string): Uint8Array =>
  createHash("sha256").update(`almoner donation reference\n${memo}`).digest();
