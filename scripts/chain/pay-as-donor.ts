import { Connection, Keypair } from "@solana/web3.js";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { buildPayment } from "./paying.ts";

export type Gift = {
  to: string;
  usdc: string;
  memo?: string | undefined;
  references: readonly string[];
};

const looksMax = 100;
const lookEveryMs = 100;

/** Pays from a new wallet that the faucet filled, over the RPC as a wallet does, and waits until it is confirmed. */
export async function payAsDonor(
  url: string,
  { to, usdc, memo: text, references }: Gift,
): Promise<Result<{ tx_signature: string; donor: string }, string>> {
  const donor = Keypair.generate();
  await fetch(`${url}/faucet`, {
    method: "POST",
    body: JSON.stringify({ wallet: donor.publicKey.toBase58(), sol: 0.1, usdc }),
  });
  const connection = new Connection(url, "confirmed");
  const { blockhash } = await connection.getLatestBlockhash();
  const paying = { to, usdc, references, makeAccount: true, computeUnits: null, unitPrice: null };
  const memos = text === undefined ? {} : { memo: text };
  const { bytes } = buildPayment(donor, { ...paying, ...memos }, blockhash);
  const tx_signature = await connection.sendRawTransaction(bytes);
  for (let look = 0; look < looksMax; look++) {
    const { value } = await connection.getSignatureStatus(tx_signature);
    if (value?.err) return fail(JSON.stringify(value.err));
    if (value !== null && value.confirmationStatus !== "processed") {
      return ok({ tx_signature, donor: donor.publicKey.toBase58() });
    }
    await Bun.sleep(lookEveryMs);
  }
  return fail(`${tx_signature} was not confirmed within ${(looksMax * lookEveryMs) / 1_000} s`);
}
