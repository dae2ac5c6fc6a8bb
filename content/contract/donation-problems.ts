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

/** Why a payment was not taken: code and words of the 402 that follows it. No money has moved. */
export const notTakenReasons = {
  unsupported_scheme: "The payment has another scheme than exact.",
  wrong_network: "The payment is for another network.",
  hidden_accounts: "The transaction uses lookup tables, which hide accounts.",
  no_transfer: "The transaction holds no transfer of tokens, or several.",
  wrong_token: "The transfer is of another token than the asset asked for.",
  wrong_recipient: "The transfer pays another account than the token account of payTo.",
  wrong_amount: "The transfer is of another amount than was asked for.",
  self_donation: "The nonprofit's own wallet cannot donate to it.",
  foreign_memo: "The memo is of another payment requirement.",
  wrong_fee_payer: "The fee payer is neither our sponsor nor the donor.",
  extra_signer: "The transaction asks for signatures of others than donor and fee payer.",
  bad_signature: "A signature does not fit the transaction.",
  not_signed: "The donor's signature is missing.",
  other_instructions:
    "A sponsored transaction may contain only compute budget instructions, one transfer and memos.",
  sponsor_spends: "The transaction would spend what is the sponsor's.",
  sponsored_too_little:
    "The sponsor pays no fee for an amount this small: ask again with ?payer=<your wallet>.",
  fee_too_high: "The transaction asks the sponsor for too high a priority fee.",
  not_sponsored: "The sponsor does not sign this transaction.",
  sponsor_budget:
    "The sponsor has paid as many fees today as it may, for this wallet, for this nonprofit or altogether: pay the fee with your wallet, as accepts offers, or ask again tomorrow.",
  sponsored_today:
    "The sponsor has paid the fee of a gift from this wallet to this nonprofit in the last 24 hours: pay the fee of this one with your wallet, as accepts offers.",
  earlier_payment:
    "An earlier payment from this token account is still in progress: the sponsor pays for one at a time. Try again when it has ended.",
  payment_fails: "The chain refuses the transaction.",
} as const;
