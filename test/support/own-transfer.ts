import { Keypair, SystemProgram, TransactionInstruction } from "@solana/web3.js";
import { memo, programs, tokenAccount, transferChecked } from "#api/chain/transfer.ts";
import { type BuiltTransaction, mintTo, signedTransaction } from "#scripts/chain/instructions.ts";
import { faucetKeypair, usdcMint } from "#scripts/chain/svm.ts";
import type { TestChain } from "./local-chain.ts";

const accountBytes = 165;
const initializeAccount3 = 18;

/**
 * A wallet's transfer from a second token account of its own into the one that donations go to: the account gains, and
 * no one has given. The wallet's own account must be there. Lands it, and answers its signature.
 */
export function ownTransfer(at: TestChain, owner: Keypair, text: string): string {
  const { chain } = at;
  const { ledger } = chain;
  const second = Keypair.generate();
  const faucet = faucetKeypair;
  chain.give({ wallet: owner.publicKey, lamports: 1_000_000_000n });
  const blockhash = ledger.slots.blockhash(ledger.slots.now());
  const instructions = [
    SystemProgram.createAccount({
      fromPubkey: faucet.publicKey,
      newAccountPubkey: second.publicKey,
      lamports: ledger.rentFor(accountBytes),
      space: accountBytes,
      programId: programs.token,
    }),
    new TransactionInstruction({
      programId: programs.token,
      keys: [second.publicKey, usdcMint].map((pubkey) => ({
        pubkey,
        isSigner: false,
        isWritable: true,
      })),
      data: Buffer.concat([Buffer.from([initializeAccount3]), owner.publicKey.toBytes()]),
    }),
    mintTo(usdcMint, second.publicKey, faucet.publicKey, 5_000_000n),
  ];
  at.land(signedTransaction(instructions, { signers: [faucet, second], blockhash }));
  const transfer = transferChecked({
    source: second.publicKey,
    mint: usdcMint,
    destination: tokenAccount(owner.publicKey, usdcMint),
    authority: owner.publicKey,
    amount: 5_000_000n,
    decimals: 6,
  });
  const payment: BuiltTransaction = signedTransaction([transfer, memo(text)], {
    signers: [owner],
    blockhash,
  });
  at.land(payment);
  return payment.signature;
}
