// Pays one request as a stock x402 client, version 2, and prints what came of it as JSON. The argument is JSON:
// url, method, secretKey (base58), rpcUrl, and spendControls as @x402/fetch takes them.
import { createKeyPairSignerFromBytes, getBase58Encoder } from "@solana/kit";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { ExactSvmScheme } from "@x402/svm/exact/client";

const { url, method, secretKey, rpcUrl, spendControls } = JSON.parse(process.argv[2]);
const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(secretKey));
const client = new x402Client().register("solana:*", new ExactSvmScheme(signer, { rpcUrl }));
client.setSpendControls(spendControls);
try {
  const response = await wrapFetchWithPayment(fetch, client)(url, { method });
  const receipt = response.headers.get("payment-response");
  process.stdout.write(
    JSON.stringify({
      status: response.status,
      body: await response.json(),
      receipt: receipt === null ? null : JSON.parse(atob(receipt)),
    }),
  );
} catch (error) {
  process.stdout.write(JSON.stringify({ refused: String(error) }));
}
