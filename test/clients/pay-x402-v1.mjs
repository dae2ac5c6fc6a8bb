// Pays one request as the stock x402 client of version 1, and prints what came of it as JSON. The argument is JSON:
// url, secretKey (base58), rpcUrl, and maxMicroUsdc, null for the client's own cap.
import { createSigner, decodeXPaymentResponse, wrapFetchWithPayment } from "x402-fetch";

const { url, secretKey, rpcUrl, maxMicroUsdc } = JSON.parse(process.argv[2]);
const signer = await createSigner("solana-devnet", secretKey);
const max = maxMicroUsdc === null ? undefined : BigInt(maxMicroUsdc);
const pay = wrapFetchWithPayment(fetch, signer, max, undefined, { svmConfig: { rpcUrl } });
try {
  const response = await pay(url);
  const receipt = response.headers.get("x-payment-response");
  process.stdout.write(
    JSON.stringify({
      status: response.status,
      body: await response.json(),
      receipt: receipt === null ? null : decodeXPaymentResponse(receipt),
    }),
  );
} catch (error) {
  process.stdout.write(JSON.stringify({ refused: String(error) }));
}
