import { addresses } from "#content/contract/addresses.ts";
import { donationMax, micro, usdcText } from "#content/contract/base/money.ts";
import type { DonationNetwork } from "#content/contract/transfer.ts";
import words from "#content/editorial/payable.json";
import { caip2Of, networks, offeredCaip2Of } from "./network.ts";

// What programs that look for something to pay are told of giving, wherever they look.

const routeTemplate = addresses.donate.path.replace("{slug}", ":slug");

/** In OpenAPI, `x-payment-info` of an operation that answers 402. Source: x402scan, "Discovery & Registration". */
export const paymentInfo = {
  price: { mode: "dynamic", currency: "USD", min: usdcText(micro(1n)), max: usdcText(donationMax) },
  protocols: [{ x402: {} }],
};

/** In a 402, the extension by which it is catalogued. Small, because it is sent as a header. Source: x402, "Extension: bazaar". */
export const bazaar = (slug: string, amount: string) => ({
  info: {
    input: { type: "http", method: "GET", pathParams: { slug }, queryParams: { amount } },
    output: { type: "json" },
  },
  schema: words.schema,
  routeTemplate,
});

/** Nonprofits that /.well-known/x402 names: scanners ask each address. All others have the template. */
export const payablesMax = 20;

/** /.well-known/x402: some addresses that can be paid, and the form of all of them. `baseUrl` has no trailing slash. */
export const payables = (baseUrl: string, network: DonationNetwork, slugs: readonly string[]) => ({
  version: 1,
  x402Version: 2,
  resources: slugs.map((slug) => `${baseUrl}${routeTemplate.replace(":slug", slug)}`),
  template: `${baseUrl}${addresses.donate.path}{?amount,payer}`,
  network: offeredCaip2Of(networks[network].cluster, caip2Of(networks[network])),
  asset: networks[network].mint,
  cluster: networks[network].cluster,
  ...paymentInfo,
  instructions: words.instructions.replaceAll("{base_url}", baseUrl),
});
