import details from "#content/editorial/problem-details.json";
import wallets from "#content/editorial/wallets.json";
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
import { WalletAnswer, WalletsAnswer, WalletsBody } from "#content/contract/transfer.ts";
import { type Problems, operations } from "./operation.ts";
import { nonprofitNotFound } from "#content/contract/problem.ts";

const targetProblems = {
  nonprofit_not_found: nonprofitNotFound,
  nonprofit_withdrawn: { status: 410, detail: details.donation.nonprofit_withdrawn },
} as const satisfies Problems;

const chainRetry = { "retry-after": "2" };
const roomRetry = { "retry-after": "30" };

/** A transfer that is no donation. Paying again would not help. */
const notADonation = (detail: string) =>
  ({ status: 422, detail, members: ["tx_signature"] }) as const;

/** Failures of donating. None is a 402, because here money may have moved, or cannot move. */
export const donateProblems = {
  ...targetProblems,
  nonprofit_without_wallet: {
    status: 422,
    detail: details.donation.nonprofit_without_wallet,
    members: ["donation_url"],
  },
  payment_header_malformed: { status: 400, detail: ({ why }: { why: string }) => why },
  payment_malformed: {
    status: 400,
    detail: ({ why }: { why: string }) => `The payment cannot be read: ${why}.`,
  },
  signature_malformed: { status: 400, detail: details.donation.signature_malformed },
  invalid_donation: { status: 400, detail: details.donation.invalid_donation },
  chain_unclear: {
    status: 503,
    detail: details.donation.chain_unclear,
    members: ["tx_signature"],
    headers: chainRetry,
  },
  chain_away: { status: 503, detail: details.donation.chain_away, headers: chainRetry },
  not_watched: {
    status: 503,
    detail: details.donation.not_watched,
    members: ["tx_signature"],
    headers: roomRetry,
  },
  signature_not_found: notADonation(
    `No node knows this transaction, asked again and again for ${unknownSignature.waitText}: what was signed before can no longer land. Check the signature for typing mistakes and look into your wallet before you pay again. If it is on chain after all, send it again: it still counts.`,
  ),
  failed_on_chain: notADonation(details.donation.failed_on_chain),
  wrong_token: notADonation(details.donation.wrong_token),
  wrong_recipient: notADonation(details.donation.wrong_recipient),
  foreign_memo: notADonation(details.donation.foreign_memo),
  self_donation: notADonation(details.donation.self_donation),
  too_old: notADonation(details.donation.too_old),
  underpaid: notADonation(details.donation.underpaid),
  recorded_elsewhere: {
    status: 409,
    detail: details.donation.recorded_elsewhere,
    members: ["tx_signature"],
  },
} as const satisfies Problems;

/** Failures of asking whether the transfer with a memo has arrived. */
export const donationStatusProblems = {
  ...targetProblems,
  memo_unknown: { status: 400, detail: details.donation_status.memo_unknown },
  chain_unclear: {
    status: 503,
    detail: details.donation_status.chain_unclear,
    headers: chainRetry,
  },
  not_watched: { status: 503, detail: details.donation_status.not_watched, headers: roomRetry },
} as const satisfies Problems;

export const donationHistoryProblems = {
  nonprofit_not_found: nonprofitNotFound,
} as const satisfies Problems;

export const walletProblems = {
  wallet_malformed: { status: 400, detail: wallets.malformed },
} as const satisfies Problems;

/** Failures of asking for a receipt. */
export const receiptProblems = {
  ...donationHistoryProblems,
  donation_not_found: { status: 404, detail: "This nonprofit has no donation with this id." },
  donation_invented: { status: 409, detail: details.donation.donation_invented },
} as const satisfies Problems;

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

/** Asking what to pay and proving a payment are the same request, with and without a proof. */
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

/** Giving: what to pay, proofs of payment, and past donations. */
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
