// Pays a Solana Pay link as a wallet does that is made with @solana/pay 1, and looks it up as a shop does. Prints both
// signatures as JSON. The argument is JSON: link, secretKey (base58), rpcUrl.
import { createKeyPairSignerFromBytes, getBase58Encoder } from "@solana/kit";
import { createMerchantClient, createWalletClient } from "@solana/pay";

const { link, secretKey, rpcUrl } = JSON.parse(process.argv[2]);
const payer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(secretKey));
const wallet = createWalletClient({ rpcUrl, payer });
const asked = wallet.pay.parseURL(link);
const { context } = await wallet.sendTransaction(await wallet.pay.createTransfer(asked));
const { pay } = createMerchantClient({ rpcUrl });
const found = await pay.findReference(asked.reference[0]);
process.stdout.write(JSON.stringify({ signature: context.signature, found: found.signature }));
process.exit();
