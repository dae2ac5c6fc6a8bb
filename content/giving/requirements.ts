import { randomInt } from "node:crypto";
import { referenceOf, solanaPayLink, writeMemo } from "./memo.ts";
import { usdcNumber, usdcText } from "#content/contract/base/money.ts";
import type { PaymentExtra, PaymentRequirements } from "#content/contract/donation.ts";
import type { MicroUsdc } from "#content/contract/transfer.ts";
import type { DonateTarget } from "./store.ts";
import type { GivingWorld } from "./world.ts";
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

/** A demand for payment in the words of every client. */
export type Demand = Awaited<ReturnType<typeof demandPayment>>;

/** Asks for a payment: nothing is stored, the memo carries all that recording the gift needs. Source: decision 0051. */
export async function demandPayment(
  world: GivingWorld,
  wanted: Wanted,
  why: { code: string; error: string },
) {
  const { target, amount } = wanted;
  const { chain, baseUrl, seal } = world;
  const { mint } = chain;
  const recipient = target.usdc_wallet;
  const issued_at_s = Math.floor(world.clock().getTime() / 1_000);
  const nonce = randomInt(nonces);
  const memo = writeMemo({ nonprofit_id: target.id, amount, issued_at_s, nonce }, recipient, seal);
  const reference = referenceOf(memo);
  const amount_atomic = amount.toString();
  const donateUrl = `${baseUrl}/api/donate/${target.slug}`;
  const url = `${donateUrl}?amount=${usdcText(amount)}`;
  const description = `Donation of ${usdcText(amount)} USDC to ${target.slug}`;
  const mimeType = "application/json" as const;
  const terms = { asset: mint, payTo: recipient, maxTimeoutSeconds: expiresInSeconds };
  const extra = await extraOf(world, wanted, memo);
  const accepts: PaymentRequirements["accepts"] = [
    {
      scheme: "exact",
      network: chain.network,
      maxAmountRequired: amount_atomic,
      ...terms,
      resource: url,
      description,
      mimeType,
      extra,
    },
  ];
  const contractFields = {
    x402: true,
    recipient,
    amount: usdcNumber(amount),
    currency: "USDC",
    network: "solana",
    nonprofit: target.name,
    slug: target.slug,
  } as const;
  const link = { recipient, amount, mint, reference, memo, label: target.name };
  const body: PaymentRequirements = {
    ...contractFields,
    cluster: chain.cluster,
    mint,
    decimals: 6,
    amount_atomic,
    memo,
    reference,
    solana_pay: solanaPayLink(link),
    expires_in: expiresInSeconds,
    status_url: `${donateUrl}/status?memo=${memo}`,
    local_chain: localChainOf(world),
    ...why,
    x402Version: 1,
    accepts,
  };
  return {
    body,
    /** Of x402 version 2: PAYMENT-REQUIRED. */
    v2: {
      x402Version: 2,
      error: why.error,
      resource: { url, description, mimeType },
      accepts: [
        {
          scheme: "exact",
          network: world.offeredNetwork,
          amount: amount_atomic,
          ...terms,
          extra,
        },
      ],
    },
    /** Of the contract: X-PAYMENT-REQUIRED. */
    contract: {
      ...contractFields,
      wallet: recipient,
      mint,
      memo,
      x402Version: 1,
      resource: url,
      accepts,
    },
  };
}

/** How to try a gift where no money is real. */
const localChainOf = ({ localRpcUrl }: GivingWorld): PaymentRequirements["local_chain"] =>
  localRpcUrl === null
    ? null
    : {
        rpc_url: localRpcUrl,
        test_money: `POST ${localRpcUrl}/faucet with {"wallet": "<your wallet>", "sol": 1, "usdc": 100} creates the wallet's USDC account and fills it.`,
      };

/** What x402 clients need to sign. Without a fee payer they stop, rather than sign what cannot land. */
async function extraOf(
  { chain, sponsoredMin, sponsorship }: GivingWorld,
  { target, amount, payer }: Wanted,
  memo: string,
): Promise<PaymentExtra> {
  const isOffered = payer === null && amount >= sponsoredMin && sponsorship.offers(target.id);
  const sponsor = isOffered ? chain.sponsor : null;
  const feePayer = payer ?? sponsor;
  const answer =
    feePayer === null ? null : await within(chain.canReceive(target.usdc_wallet), canReceiveWaitMs);
  // A payment into an account that is not there fails before it is sent: then no money has moved either.
  const hasAccount = answer?.ok !== true || answer.value;
  return {
    ...(feePayer === null || !hasAccount ? {} : { feePayer }),
    fee_paid_by: sponsor === null ? "payer" : "sponsor",
    memo,
    decimals: 6,
    name: target.name,
    slug: target.slug,
    asset_name: "USDC",
  };
}
