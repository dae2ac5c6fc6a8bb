// Pays one request for each line of JSON as a stock x402 client of version 1, and prints what came of it as a line of
// JSON. A line has url, secretKey (base58), rpcUrl, library (fetch or axios), and maxMicroUsdc, null for the client's own cap.
import { createInterface } from "node:readline";
import { create } from "axios";
import { withPaymentInterceptor } from "x402-axios";
import { createSigner, decodeXPaymentResponse, wrapFetchWithPayment } from "x402-fetch";

async function pay({ url, secretKey, rpcUrl, library, maxMicroUsdc }) {
  const config = { svmConfig: { rpcUrl } };
  const signer = await createSigner("solana-devnet", secretKey);
  if (library === "axios") {
    const client = withPaymentInterceptor(create(), signer, undefined, config);
    const { status, data, headers } = await client.get(url);
    return { status, body: data, header: headers["x-payment-response"] };
  }
  const max = maxMicroUsdc === null ? undefined : BigInt(maxMicroUsdc);
  const response = await wrapFetchWithPayment(fetch, signer, max, undefined, config)(url);
  const header = response.headers.get("x-payment-response");
  return { status: response.status, body: await response.json(), header };
}

for await (const line of createInterface({ input: process.stdin })) {
  const paid = await pay(JSON.parse(line)).then(
    ({ header, ...rest }) => ({ ...rest, receipt: header && decodeXPaymentResponse(header) }),
    (error) => ({ refused: String(error) }),
  );
  process.stdout.write(`${JSON.stringify(paid)}\n`);
}
