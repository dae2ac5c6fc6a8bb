// Pays what a 402 asks for by a transfer of its own, as a program on @solana/kit does, and prints the signature as JSON
// once the chain has confirmed it. The argument is JSON: recipient, mint, amount_atomic, memo, secretKey (base58), rpcUrl.
import * as kit from "@solana/kit";
import { getAddMemoInstruction } from "@solana-program/memo";
import {
  findAssociatedTokenPda,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from "@solana-program/token";

const { recipient, mint, amount_atomic, memo, secretKey, rpcUrl } = JSON.parse(process.argv[2]);
const rpc = kit.createSolanaRpc(rpcUrl);
const rpcSubscriptions = kit.createSolanaRpcSubscriptions(rpcUrl.replace("http", "ws"));
const donor = await kit.createKeyPairSignerFromBytes(kit.getBase58Encoder().encode(secretKey));
const accountOf = async (owner) =>
  (await findAssociatedTokenPda({ owner, mint, tokenProgram: TOKEN_PROGRAM_ADDRESS }))[0];
const transfer = getTransferCheckedInstruction({
  source: await accountOf(donor.address),
  mint,
  destination: await accountOf(recipient),
  authority: donor,
  amount: BigInt(amount_atomic),
  decimals: 6,
});
const { value: blockhash } = await rpc.getLatestBlockhash().send();
const message = kit.pipe(
  kit.createTransactionMessage({ version: 0 }),
  (one) => kit.setTransactionMessageFeePayerSigner(donor, one),
  (one) => kit.setTransactionMessageLifetimeUsingBlockhash(blockhash, one),
  (one) =>
    kit.appendTransactionMessageInstructions([transfer, getAddMemoInstruction({ memo })], one),
);
const signed = await kit.signTransactionMessageWithSigners(message);
const send = kit.sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions });
await send(signed, { commitment: "confirmed" });
process.stdout.write(JSON.stringify({ signature: kit.getSignatureFromTransaction(signed) }));
