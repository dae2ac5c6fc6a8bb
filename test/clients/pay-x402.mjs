// Pays one request as a stock x402 client, version 2, and prints what came of it as JSON. The argument is JSON: url,
// method, secretKey (base58), rpcUrl, library (fetch or axios), and spendControls as @x402/fetch takes them, or none.
import { createKeyPairSignerFromBytes, getBase58Encoder } from "@solana/kit";
import { ExactSvmScheme } from "@x402/svm/exact/client";

const { url, method, secretKey, rpcUrl, library, spendControls } = JSON.parse(process.argv[2]);
const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(secretKey));

const withFetch = async () => {
  const { wrapFetchWithPayment, x402Client } = await import("@x402/fetch");
  const client = new x402Client().register("solana:*", new ExactSvmScheme(signer, { rpcUrl }));
  if (spendControls !== undefined) client.setSpendControls(spendControls);
  const response = await wrapFetchWithPayment(fetch, client)(url, { method });
  const header = response.headers.get("payment-response");
  return { status: response.status, body: await response.json(), header };
};

const withAxios = async () => {
  const { default: axios } = await import("axios");
  const { wrapAxiosWithPayment, x402Client } = await import("@x402/axios");
  const client = new x402Client().register("solana:*", new ExactSvmScheme(signer, { rpcUrl }));
  const { status, data, headers } = await wrapAxiosWithPayment(
    axios.create(),
    client,
  )({ url, method });
  return { status, body: data, header: headers["payment-response"] ?? null };
};

try {
  const { header, ...paid } = await (library === "axios" ? withAxios() : withFetch());
  const receipt = header === null ? null : JSON.parse(atob(header));
  process.stdout.write(JSON.stringify({ ...paid, receipt }));
} catch (error) {
  process.stdout.write(JSON.stringify({ refused: String(error) }));
}
