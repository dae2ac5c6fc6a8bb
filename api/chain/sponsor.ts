import { Keypair } from "@solana/web3.js";
import bs58 from "bs58";
import type { Result } from "#content/contract/result.ts";
import { fail, ok } from "#content/contract/result.ts";
import type { Payment } from "./chain.ts";
import { takeApart, transactionOf } from "./payment.ts";

/** The account that pays network fees for donors. */
export type Sponsor = {
  readonly address: string;
  sign(
    payment: Payment,
  ): Result<Payment & { tx_signature: string }, { kind: "not_sponsored"; why: string }>;
};

/** Reads a secret key of 64 bytes: base58, or the JSON array that Solana's own tools keep. Null when it is neither. */
export function openSponsor(secretKey: string): Sponsor | null {
  const keypair = keypairOf(secretKey);
  if (keypair === null) return null;
  const address = keypair.publicKey.toBase58();
  return {
    address,
    sign: (payment) => {
      const refused = (why: string) => fail({ kind: "not_sponsored" as const, why });
      const transaction = transactionOf(payment.bytes);
      if (transaction === null) return refused("the bytes are no Solana transaction");
      const { staticAccountKeys, compiledInstructions, addressTableLookups } = transaction.message;
      if (staticAccountKeys[0]?.equals(keypair.publicKey) !== true) {
        return refused("the fee payer is another account");
      }
      // A signature counts for the whole transaction: an instruction that names the sponsor could spend from it.
      if (compiledInstructions.some((one) => one.accountKeyIndexes.includes(0))) {
        return refused("an instruction names the sponsor");
      }
      if (addressTableLookups.length > 0) return refused("lookup tables may hide the sponsor");
      transaction.sign([keypair]);
      const signed = takeApart(transaction, transaction.serialize());
      const { tx_signature } = signed;
      return tx_signature === null
        ? refused("the signature is missing")
        : ok({ ...signed, tx_signature });
    },
  };
}

function keypairOf(secretKey: string): Keypair | null {
  try {
    const bytes = secretKey.startsWith("[")
      ? Uint8Array.from(JSON.parse(secretKey) as number[])
      : bs58.decode(secretKey);
    // Throws unless the second half is the public key of the first.
    return Keypair.fromSecretKey(bytes);
  } catch {
    return null;
  }
}
