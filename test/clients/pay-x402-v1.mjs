// Pays one request as a stock x402 client of version 1, and prints what came of it as JSON. The argument is JSON:
// url, secretKey (base58), rpcUrl, library (fetch or axios), and maxMicroUsdc, null for the client's own cap.
const { url, secretKey, rpcUrl, library, maxMicroUsdc } = JSON.parse(process.argv[2]);
const config = { svmConfig: { rpcUrl } };

const withFetch = async () => {
  const { createSigner, decodeXPaymentResponse, wrapFetchWithPayment } = await import("x402-fetch");
  const signer = await createSigner("solana-devnet", secretKey);
  const max = maxMicroUsdc === null ? undefined : BigInt(maxMicroUsdc);
  const response = await wrapFetchWithPayment(fetch, signer, max, undefined, config)(url);
  const header = response.headers.get("x-payment-response");
  const receipt = header === null ? null : decodeXPaymentResponse(header);
  return { status: response.status, body: await response.json(), receipt };
};

const withAxios = async () => {
  const { default: axios } = await import("axios");
  const { createSigner, decodeXPaymentResponse, withPaymentInterceptor } =
    await import("x402-axios");
  const signer = await createSigner("solana-devnet", secretKey);
  const client = withPaymentInterceptor(axios.create(), signer, undefined, config);
  const { status, data, headers } = await client.get(url);
  return { status, body: data, receipt: decodeXPaymentResponse(headers["x-payment-response"]) };
};

try {
  const paid = await (library === "axios" ? withAxios() : withFetch());
  process.stdout.write(JSON.stringify(paid));
} catch (error) {
  process.stdout.write(JSON.stringify({ refused: String(error) }));
}
