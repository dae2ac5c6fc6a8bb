import { addresses } from "#content/contract/addresses.ts";
import {
  DonateBody,
  DonateParameters,
  DonationHistory,
  DonationStatus,
  DonationStatusParameters,
  PaymentRequirements,
  PendingDonation,
  Settlement,
  SignedReceipt,
  unknownSignature,
} from "#content/contract/donation.ts";
import {
  donateProblems,
  donationHistoryProblems,
  donationStatusProblems,
  receiptProblems,
} from "#content/contract/donation-problems.ts";
import { operations } from "./operation.ts";

const demanded = {
  status: 402,
  description:
    "No money has moved: what to pay, and how. The normal answer to a request without a proof",
  shape: PaymentRequirements,
  headers: ["PAYMENT-REQUIRED", "X-PAYMENT-REQUIRED"],
} as const;

const settled = {
  description: "Verified on chain and recorded; the same proof again gets the same answer",
  shape: Settlement,
  headers: ["PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE"],
} as const;

const pending = {
  status: 202,
  description: `Money may have moved, and the chain does not show it yet: do not pay again. It is recorded as soon as it lands; a signature that no node knows for ${unknownSignature.waitText} is then 422`,
  shape: PendingDonation,
  headers: ["Retry-After"],
} as const;

const flow =
  "Without a proof: 402 with what to pay. Stock x402 clients of version 1 read the body and send X-PAYMENT, those of version 2 read PAYMENT-REQUIRED and send PAYMENT-SIGNATURE; the network fee is paid by our sponsor, or by the wallet in ?payer=. To pay without such a client, transfer USDC with `memo` in the transaction and POST its `tx_signature`. Funds go straight to the nonprofit's wallet.";

/** Asking what to pay and proving that it was paid are the same request, with more or less in it. */
const donating = {
  path: addresses.donate.path,
  description: flow,
  query: DonateParameters,
  headers: ["PaymentSignature", "XPayment"],
  ok: settled,
  also: [pending, demanded],
  problems: donateProblems,
  fresh: true,
} as const;

/** Giving: what to pay, the proof that it was paid, and what was given. */
// walk: table
export const donationOperations = operations("Donation", {
  initiateDonation: {
    ...donating,
    summary: "Ask what to pay to a nonprofit, or pay it",
    refusals: [507],
  },
  quoteDonation: {
    path: addresses.donateQuote.path,
    summary: "Ask what to pay to a nonprofit, for a page",
    description:
      "The same as the 402 of GET /api/donate/{slug}, as 200: browsers report every 402 as an error of the page. It takes no payment.",
    query: DonateParameters,
    ok: { description: "What to pay, and how. No money has moved", shape: PaymentRequirements },
    problems: donateProblems,
    refusals: [507],
    fresh: true,
  },
  settleDonation: {
    ...donating,
    method: "post",
    summary: "Prove a donation by the signature of its transaction",
    body: { shape: DonateBody, optional: true },
  },
  getDonationStatus: {
    path: addresses.donateStatus.path,
    summary: "Ask whether the transfer with a memo has arrived",
    description:
      "Looks on chain for a transfer that names the requirement's `reference`, or waits for one, and records it: its signature need not be sent.",
    query: DonationStatusParameters,
    ok: { description: "Status of the requirement", shape: DonationStatus },
    problems: donationStatusProblems,
    refusals: [507],
    fresh: true,
  },
  getDonationHistory: {
    path: addresses.donations.path,
    summary: "List the donations to a nonprofit",
    description:
      "Sum and number of all recorded donations, with the 50 newest. Each was verified on chain.",
    ok: { description: "The donations", shape: DonationHistory },
    problems: donationHistoryProblems,
  },
  getDonationReceipt: {
    path: addresses.donation.path,
    summary: "Get the signed receipt of a donation",
    description:
      "What the chain showed of the transfer, signed by the directory: anyone with the receipt and the public key in /.well-known/almoner-keys.json can verify it offline: /verify-receipt.md has a program. People read it at `page_url`. If `correction` is not null, the receipt is void: the chain does not hold the transfer.",
    ok: { description: "The receipt", shape: SignedReceipt },
    problems: receiptProblems,
  },
});
