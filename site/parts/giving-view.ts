import { linkHost, safeLink } from "#content/nonprofit/website.ts";
import { type NetworkWords, wordsOfNetwork } from "#content/donation/answers.ts";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import type { BuildInputs } from "./build-inputs.ts";

/** How to give to a nonprofit: what its profile and its page /donate/{slug} both show. */
export type GivingView = {
  slug: string;
  name: string;
  /** The organisation's own donation page: a link that `safeLink` let through. */
  page: { href: string; host: string } | null;
  /** Null without one: then there is no page /donate/{slug}. */
  wallet: { address: string; proven: boolean } | null;
  network: NetworkWords;
  /** A command that asks how to pay. */
  askExample: string;
  /** A command that tells the directory of a transfer. */
  tellExample: string;
};

/** What is published must at least look like an address: the letters of base58, 32 bytes. */
const addressForm = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** The ways to give that a page may show; a withdrawn nonprofit has none. */
export function givingView(
  { slug, name, status, donation_url, usdc_wallet, wallet_proof }: NonprofitDetail,
  { baseUrl, network }: BuildInputs,
): GivingView {
  const open = status !== "withdrawn";
  const href = open ? safeLink(donation_url) : null;
  const address = open && addressForm.test(usdc_wallet ?? "") ? usdc_wallet : undefined;
  const ask = `${baseUrl}/api/donate/${slug}?amount=5`;
  return {
    slug,
    name,
    page: href === null ? null : { href, host: linkHost(href) },
    wallet: address === undefined ? null : { address, proven: wallet_proof !== undefined },
    network: wordsOfNetwork(network),
    askExample: `curl -i "${ask}"`,
    tellExample: `curl -X POST "${ask}" -H "Content-Type: application/json" \\
  -d '{"tx_signature": "…"}'`,
  };
}
