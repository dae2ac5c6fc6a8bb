// Pays one request for each line of JSON as a stock x402 client, version 2, and prints what came of it as a line of JSON.
// A line has url, method, secretKey (base58), rpcUrl, library (fetch or axios), and spendControls as @x402/fetch takes
// them, or none.
import { createInterface } from "node:readline";
import { createKeyPairSignerFromBytes, getBase58Encoder } from "@solana/kit";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import { wrapAxiosWithPayment } from "@x402/axios";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { create } from "axios";

async function pay({ url, method, secretKey, rpcUrl, library, spendControls }) {
  const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(secretKey));
  const client = new x402Client().register("solana:*", new ExactSvmScheme(signer, { rpcUrl }));
  if (library === "axios") {
    const paying = wrapAxiosWithPayment(create(), client);
    const { status, data, headers } = await paying({ url, method });
    return { status, body: data, header: headers["payment-response"] ?? null };
  }
  if (spendControls !== undefined) client.setSpendControls(spendControls);
  const response = await wrapFetchWithPayment(fetch, client)(url, { method });
  const header = response.headers.get("payment-response");
  return { status: response.status, body: await response.json(), header };
}

for await (const line of createInterface({ input: process.stdin })) {
  const paid = await pay(JSON.parse(line)).then(
    ({ header, ...rest }) => ({ ...rest, receipt: header && JSON.parse(atob(header)) }),
    (error) => ({ refused: String(error) }),
  );
  process.stdout.write(`${JSON.stringify(paid)}\n`);
}
