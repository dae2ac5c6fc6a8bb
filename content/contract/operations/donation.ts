import { addresses } from "#content/contract/addresses.ts";
import {
  DonateBody,
  DonateParameters,
  DonationHistory,
  DonationStatus,
  DonationStatusParameters,
  PaymentQuote,
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
  walletProblems,
} from "#content/contract/donation-problems.ts";
import { WalletAnswer, WalletsAnswer, WalletsBody } from "#content/contract/wallet.ts";
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
    refusals: [507],
  },
  quoteDonation: {
    path: addresses.donateQuote.path,
    query: DonateParameters,
    ok: { description: "What to pay, and how. No money has moved", shape: PaymentQuote },
    problems: donateProblems,
    refusals: [507],
    fresh: true,
  },
  settleDonation: {
    ...donating,
    method: "post",
    body: { shape: DonateBody, optional: true },
  },
  getDonationStatus: {
    path: addresses.donateStatus.path,
    query: DonationStatusParameters,
    ok: { description: "Status of the requirement", shape: DonationStatus },
    problems: donationStatusProblems,
    refusals: [507],
    fresh: true,
  },
  getDonationHistory: {
    path: addresses.donations.path,
    ok: { description: "The donations", shape: DonationHistory },
    problems: donationHistoryProblems,
  },
  getDonationReceipt: {
    path: addresses.donation.path,
    ok: { description: "The receipt", shape: SignedReceipt },
    problems: receiptProblems,
  },
  getWallet: {
    path: addresses.wallet.path,
    ok: { description: "Whose it is", shape: WalletAnswer },
    problems: walletProblems,
    fresh: true,
  },
  checkWallets: {
    method: "post",
    path: addresses.checkWallets.path,
    body: {
      shape: WalletsBody,
      list: "addresses",
      refusal: "invalid_wallets",
      storesNothing: true,
    },
    ok: { description: "Whose each is", shape: WalletsAnswer },
  },
});
