import { randomInt } from "node:crypto";
import { referenceOf, solanaPayLink, writeMemo } from "#content/donation/memo.ts";
import { usdcNumber, usdcText } from "#content/contract/money.ts";
import type {
  PaymentOptionV1,
  PaymentOptionV2,
  PaymentRequirements,
} from "#content/contract/donation.ts";
import type { MicroUsdc } from "#content/contract/transfer.ts";
import type { DonateTarget } from "#content/donation/store.ts";
import type { DonateContext } from "./context.ts";
import { within } from "#content/runtime/with-timeout.ts";

/** How long a client has to sign. Source: facts on x402. */
const expiresInSeconds = 300;
/** A slow node must not keep a donor waiting: without an answer the account is taken to be there. */
const canReceiveWaitMs = 400;
const nonces = 2 ** 24;

export type Wanted = {
  target: DonateTarget & { usdc_wallet: string };
  amount: MicroUsdc;
  /** Wallet of a donor who pays the network fee; null: the sponsor does, if there is one. */
  payer: string | null;
};

/** A demand for payment in the words of every client: the body, and what goes into the two headers. */
export type Demand = {
  body: PaymentRequirements;
  /** Of x402 version 2: PAYMENT-REQUIRED. */
  v2: { x402Version: 2; error: string; resource: Resource; accepts: PaymentOptionV2[] };
  /** Of the contract: X-PAYMENT-REQUIRED. */
  contract: Record<string, unknown>;
};

type Resource = { url: string; description: string; mimeType: "application/json" };

/** Asks for a payment: nothing is stored, the memo carries all that recording the gift needs. Source: decision 0051. */
export async function demandPayment(
  context: DonateContext,
  { target, amount, payer }: Wanted,
  why: { code: string; error: string },
): Promise<Demand> {
  const { chain, baseUrl, seal } = context;
  const recipient = target.usdc_wallet;
  const issued_at_s = Math.floor(context.clock().getTime() / 1_000);
  const nonce = randomInt(nonces);
  const memo = writeMemo({ nonprofit_id: target.id, amount, issued_at_s, nonce }, recipient, seal);
  const reference = referenceOf(memo);
  const text = usdcText(amount);
  const donateUrl = `${baseUrl}/api/donate/${target.slug}`;
  const resource: Resource = {
    url: `${donateUrl}?amount=${text}`,
    description: `Donation of ${text} USDC to ${target.slug}`,
    mimeType: "application/json",
  };
  const feePayer = await feePayerOf(context, { recipient, amount, payer });
  const accepts =
    feePayer === null ? [] : [optionV1(context, { recipient, amount, memo, feePayer, resource })];
  const contractFields = {
    x402: true,
    recipient,
    amount: usdcNumber(amount),
    currency: "USDC",
    network: "solana",
    nonprofit: target.name,
    slug: target.slug,
  } as const;
  const body: PaymentRequirements = {
    ...contractFields,
    cluster: chain.cluster,
    mint: chain.mint,
    decimals: 6,
    amount_atomic: amount.toString(),
    memo,
    reference,
    solana_pay: solanaPayLink({
      recipient,
      amount,
      mint: chain.mint,
      reference,
      memo,
      label: target.name,
    }),
    expires_in: expiresInSeconds,
    status_url: `${donateUrl}/status?memo=${memo}`,
    ...why,
    x402Version: 1,
    accepts,
  };
  return {
    body,
    v2: {
      x402Version: 2,
      error: why.error,
      resource,
      accepts: accepts.map((one) => optionV2(context.offeredNetwork, one)),
    },
    contract: {
      ...contractFields,
      wallet: recipient,
      mint: chain.mint,
      memo,
      x402Version: 1,
      resource: resource.url,
      accepts,
    },
  };
}

/** Who pays the network fee; null when no x402 client can pay: no one does, or there is no account to pay into. */
async function feePayerOf(
  { chain, sponsoredMin }: DonateContext,
  { recipient, amount, payer }: { recipient: string; amount: MicroUsdc; payer: string | null },
): Promise<string | null> {
  const sponsor = amount >= sponsoredMin ? chain.sponsor : null;
  const feePayer = payer ?? sponsor;
  if (feePayer === null) return null;
  const answer = await within(chain.canReceive(recipient), canReceiveWaitMs);
  // A payment into an account that is not there fails before it is sent: then no money has moved either.
  return answer?.ok === true && !answer.value ? null : feePayer;
}

const optionV1 = (
  { chain }: DonateContext,
  one: { recipient: string; amount: MicroUsdc; memo: string; feePayer: string; resource: Resource },
): PaymentOptionV1 => ({
  scheme: "exact",
  network: chain.network,
  maxAmountRequired: one.amount.toString(),
  asset: chain.mint,
  payTo: one.recipient,
  maxTimeoutSeconds: expiresInSeconds,
  resource: one.resource.url,
  description: one.resource.description,
  mimeType: one.resource.mimeType,
  extra: { feePayer: one.feePayer, memo: one.memo, decimals: 6, name: "USDC" },
});

const optionV2 = (
  network: string,
  { scheme, maxAmountRequired, asset, payTo, maxTimeoutSeconds, extra }: PaymentOptionV1,
): PaymentOptionV2 => ({
  scheme,
  network,
  amount: maxAmountRequired,
  asset,
  payTo,
  maxTimeoutSeconds,
  extra,
});
