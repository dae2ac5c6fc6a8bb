import details from "#content/editorial/problem-details.json";
import wallets from "#content/editorial/wallets.json";
import { unknownSignature } from "./donation.ts";
import type { Problems } from "./operations/operation.ts";
import { nonprofitNotFound } from "./problem.ts";

const targetProblems = {
  nonprofit_not_found: nonprofitNotFound,
  nonprofit_withdrawn: { status: 410, detail: details.donation.nonprofit_withdrawn },
} as const satisfies Problems;

const chainRetry = { "retry-after": "2" };
const roomRetry = { "retry-after": "30" };

/** A transfer that is no donation. Paying again would not help. */
const notADonation = (detail: string) =>
  ({ status: 422, detail, members: ["tx_signature"] }) as const;

/** Every failure of donating. None of them is a 402, because here money may have moved, or cannot move. */
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

/** Every failure of asking whether the transfer with a memo has arrived. */
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

/** Every failure of asking for the donations of a nonprofit. */
export const donationHistoryProblems = {
  nonprofit_not_found: nonprofitNotFound,
} as const satisfies Problems;

/** Every failure of asking whose wallet it is. */
export const walletProblems = {
  wallet_malformed: { status: 400, detail: wallets.malformed },
} as const satisfies Problems;

/** Every failure of asking for a receipt. */
export const receiptProblems = {
  ...donationHistoryProblems,
  donation_not_found: { status: 404, detail: "This nonprofit has no donation with this id." },
  donation_invented: { status: 409, detail: details.donation.donation_invented },
} as const satisfies Problems;
