import type { PaymentNotTaken } from "./payment-failures.ts";

/** Why a payment was not taken, in words for whoever reads the answer. */
const words: Record<PaymentNotTaken["why"], string> = {
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
    "A sponsored transaction holds nothing but compute budget, one transfer and memos.",
  sponsor_spends: "The transaction would spend what is the sponsor's.",
  sponsored_too_little:
    "The sponsor pays no fee for an amount this small: ask again with ?payer=<your wallet>.",
  fee_too_high: "The transaction asks the sponsor for too high a priority fee.",
  not_sponsored: "The sponsor does not sign this transaction.",
  earlier_payment:
    "An earlier payment from this token account is still under way: the sponsor pays for one after the other.",
  payment_fails: "The chain refuses the transaction.",
};

const detailMax = 200;

/** Code and sentence of the demand that follows a payment which was not taken. */
export const notTakenWords = ({
  why,
  detail,
}: PaymentNotTaken): { code: string; error: string } => ({
  code: why,
  error: `${words[why]} No money has moved.${detail === "" ? "" : ` (${detail.slice(0, detailMax)})`}`,
});
