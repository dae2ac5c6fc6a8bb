// Pays a Solana Pay link as a wallet does that is made with @solana/pay 0.2, and looks it up as a shop does. Prints both
// signatures as JSON. The argument is JSON: link, secretKey (base58), rpcUrl.
import { createTransfer, findReference, parseURL } from "@solana/pay";
import { Connection, Keypair, sendAndConfirmTransaction } from "@solana/web3.js";
import bs58 from "bs58";

const { link, secretKey, rpcUrl } = JSON.parse(process.argv[2]);
const connection = new Connection(rpcUrl, "confirmed");
const donor = Keypair.fromSecretKey(bs58.decode(secretKey));
const asked = parseURL(link);
const transaction = await createTransfer(connection, donor.publicKey, asked);
const signature = await sendAndConfirmTransaction(connection, transaction, [donor]);
const [reference] = asked.reference;
const found = await findReference(connection, reference, { finality: "confirmed" });
process.stdout.write(JSON.stringify({ signature, found: found.signature }));
process.exit();
