import {
  Connection,
  type Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";

type Description = {
  servers: { url: string }[];
  paths: Record<string, Record<string, { operationId?: string }>>;
};

/** Source: Solana's own addresses, as any wallet knows them. */
const tokenProgram = new PublicKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
const tokenAccounts = new PublicKey("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
const memoProgram = new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");

/**
 * A donor's program written from /openapi.json and /agents.md alone: it knows the operations' names and the words of the
 * guide, Solana, and nothing of this project. Answers the settlement.
 */
export async function strangerDonates(
  origin: string,
  donor: Keypair,
  { slug, amount, rpcUrl }: { slug: string; amount: string; rpcUrl: string },
): Promise<Response> {
  const description = (await (await fetch(`${origin}/openapi.json`)).json()) as Description;
  const ask = placeOf(description, "initiateDonation", slug);
  const asked = await fetch(`${ask.url}?amount=${amount}`, { method: ask.method });
  // The guide: 402 is the normal answer and means that no money has moved.
  if (asked.status !== 402) throw new Error(`asked what to pay, and was answered ${asked.status}`);
  const demand = (await asked.json()) as Record<
    "recipient" | "mint" | "amount_atomic" | "memo",
    string
  >;
  const connection = new Connection(rpcUrl, "confirmed");
  const { blockhash } = await connection.getLatestBlockhash();
  const message = new TransactionMessage({
    payerKey: donor.publicKey,
    recentBlockhash: blockhash,
    instructions: [transfer(donor.publicKey, demand), memo(demand.memo)],
  });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  transaction.sign([donor]);
  const tx_signature = await connection.sendTransaction(transaction);
  const prove = placeOf(description, "settleDonation", slug);
  for (let tries = 0; tries < 10; tries++) {
    const answer = await fetch(`${prove.url}?amount=${amount}`, {
      method: prove.method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ tx_signature }),
    });
    // The guide: 202 or 503, ask again after Retry-After; never pay again.
    if (answer.status !== 202 && answer.status !== 503) return answer;
    await Bun.sleep(1_000 * Number(answer.headers.get("retry-after")));
  }
  throw new Error("the transfer was never seen");
}

/** Where an operation is to be asked. */
function placeOf(description: Description, operationId: string, slug: string) {
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.operationId !== operationId) continue;
      const place = path.replace("{slug}", encodeURIComponent(slug));
      return { method: method.toUpperCase(), url: `${description.servers[0]?.url}${place}` };
    }
  }
  throw new Error(`no operation is called ${operationId}`);
}

function transfer(
  donor: PublicKey,
  { recipient, mint, amount_atomic }: Record<"recipient" | "mint" | "amount_atomic", string>,
): TransactionInstruction {
  const mintKey = new PublicKey(mint);
  const accountOf = (owner: PublicKey) =>
    PublicKey.findProgramAddressSync(
      [owner.toBytes(), tokenProgram.toBytes(), mintKey.toBytes()],
      tokenAccounts,
    )[0];
  const data = Buffer.alloc(10);
  data.writeUInt8(12, 0); // TransferChecked
  data.writeBigUInt64LE(BigInt(amount_atomic), 1);
  data.writeUInt8(6, 9);
  return new TransactionInstruction({
    programId: tokenProgram,
    keys: [
      { pubkey: accountOf(donor), isSigner: false, isWritable: true },
      { pubkey: mintKey, isSigner: false, isWritable: false },
      { pubkey: accountOf(new PublicKey(recipient)), isSigner: false, isWritable: true },
      { pubkey: donor, isSigner: true, isWritable: false },
    ],
    data,
  });
}

const memo = (text: string) =>
  new TransactionInstruction({ programId: memoProgram, keys: [], data: Buffer.from(text) });
