import { unknownSignature } from "./donation.ts";
import type { Problems } from "./operations/operation.ts";
import { nonprofitNotFound } from "./problem.ts";

const targetProblems = {
  nonprofit_not_found: nonprofitNotFound,
  nonprofit_withdrawn: {
    status: 410,
    detail: "This nonprofit is withdrawn: it accepts no donations here.",
  },
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
    detail:
      "This nonprofit has no wallet for USDC. If donation_url is set, it is the nonprofit's own donation page.",
    members: ["donation_url"],
  },
  payment_header_malformed: { status: 400, detail: ({ why }: { why: string }) => why },
  payment_malformed: {
    status: 400,
    detail: ({ why }: { why: string }) => `The payment cannot be read: ${why}.`,
  },
  signature_malformed: {
    status: 400,
    detail: "tx_signature is not a transaction signature: send 64 bytes in base58.",
  },
  invalid_donation: {
    status: 400,
    detail: 'Send {"tx_signature": "…"}, or an empty body to get payment details.',
  },
  chain_unclear: {
    status: 503,
    detail:
      "The chain gave no clear answer in time; nothing is known about this payment. Do not pay again: ask again with this tx_signature.",
    members: ["tx_signature"],
    headers: chainRetry,
  },
  chain_away: {
    status: 503,
    detail:
      "No node of the chain answers, so nothing can be paid now. Ask again after Retry-After.",
    headers: chainRetry,
  },
  not_watched: {
    status: 503,
    detail:
      "The chain does not show this transaction yet, and there is no room to wait for it: too many from your network are waited for. Do not pay again: ask again with this tx_signature after Retry-After.",
    members: ["tx_signature"],
    headers: roomRetry,
  },
  signature_not_found: notADonation(
    `No node knows this transaction, asked again and again for ${unknownSignature.waitText}: what was signed before can no longer land. Check the signature for typing mistakes and look into your wallet before you pay again. If it is on chain after all, send it again: it still counts.`,
  ),
  failed_on_chain: notADonation("This transaction failed on chain: it moved no money."),
  wrong_token: notADonation("This transaction pays in a token other than USDC."),
  wrong_recipient: notADonation("This transaction pays nothing into the nonprofit's USDC account."),
  foreign_memo: notADonation(
    "The memo of this transaction belongs to a donation to another nonprofit.",
  ),
  self_donation: notADonation(
    "The nonprofit's own wallet made this transfer, so it does not count as a donation.",
  ),
  too_old: notADonation(
    "This transfer has no memo of ours and is too old to be proven without one.",
  ),
  underpaid: notADonation(
    "This transfer is smaller than the requested amount and has no memo of ours. Send the request again with ?amount= set to what was transferred.",
  ),
  recorded_elsewhere: {
    status: 409,
    detail: "This transfer is recorded as a donation to another nonprofit.",
    members: ["tx_signature"],
  },
} as const satisfies Problems;

/** Every failure of asking whether the transfer with a memo has arrived. */
export const donationStatusProblems = {
  ...targetProblems,
  memo_unknown: {
    status: 400,
    detail: "memo is unknown: send the memo of a 402 answer for this nonprofit.",
  },
  chain_unclear: {
    status: 503,
    detail: "The chain gave no clear answer in time. Send the request again after Retry-After.",
    headers: chainRetry,
  },
  not_watched: {
    status: 503,
    detail:
      "There is no room to look for this memo: too many from your network are looked for. A transfer with it still counts: ask again after Retry-After, or send its signature.",
    headers: roomRetry,
  },
} as const satisfies Problems;

/** Every failure of asking for the donations of a nonprofit. */
export const donationHistoryProblems = {
  nonprofit_not_found: nonprofitNotFound,
} as const satisfies Problems;

/** Every failure of asking for a receipt. */
export const receiptProblems = {
  ...donationHistoryProblems,
  donation_not_found: { status: 404, detail: "This nonprofit has no donation with this id." },
  donation_invented: {
    status: 409,
    detail:
      "This donation is invented sample data. No transfer stands behind it, so it has no receipt.",
  },
} as const satisfies Problems;
