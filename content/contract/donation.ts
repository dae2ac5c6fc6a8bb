import { z } from "zod";
import { count, named, textOrNull, texts } from "#content/contract/base/json.ts";
import { base58Bytes } from "./transfer.ts";
import {
  amountErrors,
  donationDefault,
  donationMax,
  microUsdcFrom,
  usdcNumber,
  usdcDecimals,
} from "./base/money.ts";
import { Registration } from "./nonprofit.ts";
import { nearestName, usualName } from "./other-names.ts";
import { Problem } from "./problem.ts";
import { parameter, textAsItCame } from "./operations/query.ts";

const signature = z.string().describe("Signature of the Solana transaction, base58");
const address = (description: string) => z.string().describe(`${description}, base58`);
const explorerUrl = textOrNull.describe(
  "The transaction in a block explorer; null on the local chain",
);
const usdc = (description: string) => z.number().positive().describe(`${description}, in USDC`);

export const Cluster = z
  .enum(["mainnet", "devnet", "local"])
  .describe("Which Solana: real money moves only on mainnet")
  .meta({ id: "Cluster" });
export type Cluster = z.infer<typeof Cluster>;

/** What x402 clients need, besides the amount, to sign a transfer. */
export const PaymentExtra = named("PaymentExtra", {
  feePayer: address(
    "Account that pays the network fee: our sponsor, or the donor named by ?payer=. Left out where the payer pays it and none is named, or where the wallet has no account for USDC yet",
  ).optional(),
  fee_paid_by: z.enum(["sponsor", "payer"]),
  memo: z.string().describe("Must be in the transaction, as a memo instruction"),
  decimals: z.literal(usdcDecimals),
  name: z.string().describe("Name of the nonprofit that is paid"),
  slug: z.string(),
  asset_name: z.literal("USDC"),
});
export type PaymentExtra = z.infer<typeof PaymentExtra>;

/** A way to pay, in the format of x402 version 1. */
export const PaymentOptionV1 = named("PaymentOptionV1", {
  scheme: z.literal("exact"),
  network: z.enum(["solana", "solana-devnet"]),
  maxAmountRequired: z.string().describe("Millionths of a USDC"),
  asset: address("Mint of the token"),
  payTo: address("Wallet of the nonprofit"),
  maxTimeoutSeconds: z.int(),
  resource: z.string().describe("The address that was asked, without ?payer="),
  description: z.string(),
  mimeType: z.literal("application/json"),
  extra: PaymentExtra,
});

/** How to pay; at this point no money has moved. */
export const PaymentQuote = named("PaymentQuote", {
  // Seven fields that clients rely on. `network` is always solana; `cluster` names the chain.
  x402: z.literal(true),
  recipient: address("Wallet of the nonprofit"),
  amount: usdc("What to pay"),
  currency: z.literal("USDC"),
  network: z.literal("solana"),
  nonprofit: z.string().describe("Name of the nonprofit"),
  slug: z.string(),
  cluster: Cluster,
  mint: address("Mint of the token that counts as USDC here"),
  decimals: z.literal(usdcDecimals),
  amount_atomic: z.string().describe("The amount in millionths of a USDC"),
  memo: z
    .string()
    .describe(
      "Put it into the transaction: it proves what the transfer is for, even if found late",
    ),
  reference: address(
    "Solana Pay reference of this memo: a transfer that names it is found without its signature being sent",
  ),
  solana_pay: z.string().describe("Solana Pay link with amount, token, memo and reference"),
  transaction: z
    .string()
    .optional()
    .describe("With ?payer=: the same transfer for that wallet to sign and send, base64, unsigned"),
  expires_in: z
    .int()
    .describe("Seconds in which to sign; a transfer with the memo counts after that, too"),
  status_url: z.string().describe("GET it to see whether the transfer has been found"),
  local_chain: z
    .object({
      rpc_url: z.string().describe("JSON-RPC of the chain, on the directory's own machine"),
      test_money: z.string().describe("How to get SOL and USDC that are worth nothing"),
    })
    .nullable()
    .describe("How to try a gift where `cluster` is local; null on every other network"),
  x402Version: z.literal(1),
  accepts: z
    .array(PaymentOptionV1)
    .length(1)
    .describe(
      "Without extra.feePayer: name your wallet in ?payer=, or pay by a transfer of your own and POST its tx_signature",
    ),
});
export type PaymentQuote = z.infer<typeof PaymentQuote>;

/** The body of a 402: a quote, and the members of every refusal. */
export const PaymentRequirements = PaymentQuote.extend({
  code: z.string().describe("payment_required, or why the payment was refused; no money has moved"),
  ...Problem.pick({ error: true, detail: true, errors: true, request_id: true }).shape,
}).meta({ id: "PaymentRequirements" });
export type PaymentRequirements = z.infer<typeof PaymentRequirements>;

const payerError = "payer must be a Solana wallet: base58 of 32 bytes.";

/** Query of GET and POST /api/donate/{slug}. */
export const DonateParameters = z.object({
  amount: parameter(
    (text) => {
      const amount = microUsdcFrom(text);
      return amount === null ? Number.NaN : usdcNumber(amount);
    },
    z
      .number({ error: amountErrors.form })
      .gt(0, { error: amountErrors.none })
      .max(usdcNumber(donationMax), { error: amountErrors.high })
      .default(usdcNumber(donationDefault)),
    "USDC to give: 1 by default, at most 6 decimals, written as plain digits",
    2.5,
  ),
  payer: parameter(
    (text) => text,
    z
      .string()
      .max(44, { error: payerError })
      .refine((wallet) => base58Bytes(wallet, 32) !== null, { error: payerError })
      .optional(),
    "Wallet of the donor, who then pays the network fee and signs alone",
    "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T",
  ),
});

/** Query of GET /api/donate/{slug}/status. */
export const DonationStatusParameters = z.object({
  memo: textAsItCame(
    "The memo of a payment requirement, 32 characters",
    "AAAADAAAJiWgahLUwAAAKlRm3EkL9mXq",
    { minLength: 32, maxLength: 32 },
  ),
});

/** Body of POST /api/donate/{slug}. Without a proof it is answered like a GET. */
export const DonateBody = named("DonateBody", {
  tx_signature: signature
    .optional()
    .describe("Signature of the transfer that paid, base58 of 64 bytes"),
});

/**
 * Whether a body without `tx_signature` seems to hold one, or an amount, under another name. Its sender may have paid, or
 * may want to pay another amount, so it must not be answered with a demand.
 */
export const isMisnamed = (body: object): boolean =>
  Object.keys(body).some(
    (name) => (nearestName(name, ["tx_signature"]) ?? usualName(name, ["amount"])) !== null,
  ) || /[1-9A-HJ-NP-Za-km-z]{86,88}/.test(JSON.stringify(body));

/** A recorded donation, under the name that existing clients read. */
export const DonationRecord = named("DonationRecord", {
  id: z.string(),
  nonprofit: z.string().describe("Name of the nonprofit"),
  slug: z.string(),
  amount_usdc: usdc("What the nonprofit was paid"),
  network: z.literal("solana"),
  tx_hash: signature,
  confirmed: z.literal(true),
  settled_at: z.string().describe("When the chain took it: ISO 8601, UTC"),
});

/** A donation that was verified on chain and recorded. */
export const Settlement = named("Settlement", {
  success: z.literal(true),
  donation_id: z.string(),
  nonprofit: z.string().describe("Name of the nonprofit"),
  amount: usdc("What the nonprofit was paid, whatever was asked for"),
  currency: z.literal("USDC"),
  tx_signature: signature,
  cluster: Cluster,
  explorer_url: explorerUrl,
  receipt_url: z.string(),
  donation: DonationRecord,
});
export type Settlement = z.infer<typeof Settlement>;

const unknownSignatureMinutes = 2;
/**
 * How long to wait for a signature that is not on chain. A blockhash is valid for about 90 s, so by then what was signed
 * earlier has landed or never will. All answers, pages and guides name this time.
 */
export const unknownSignature = {
  waitMs: unknownSignatureMinutes * 60_000,
  waitText: `${unknownSignatureMinutes} minutes`,
} as const;

/** 202: money may have moved, but the chain does not show it yet. We keep looking. */
export const PendingDonation = named("PendingDonation", {
  status: z.literal("pending"),
  tx_signature: signature,
  retry_after_s: z.int().positive(),
  message: z.string(),
});
export type PendingDonation = z.infer<typeof PendingDonation>;

/** The outcome of a payment requirement. */
export const DonationStatus = named("DonationStatus", {
  status: z.enum(["pending", "received"]),
  memo: z.string(),
  retry_after_s: z
    .int()
    .positive()
    .optional()
    .describe("While pending: seconds until it is worth asking again"),
  settlement: Settlement.nullable().describe("Of the transfer with this memo; null while pending"),
});
export type DonationStatus = z.infer<typeof DonationStatus>;

export const RecentDonation = named("RecentDonation", {
  id: z.string(),
  amount_usdc: usdc("What the nonprofit was paid"),
  network: z.literal("solana"),
  tx_hash: signature,
  tx_signature: signature,
  donor: address("Wallet that gave").nullable(),
  settled_at: z.string().describe("ISO 8601, UTC"),
  explorer_url: explorerUrl,
  receipt_url: z.string(),
});
export type RecentDonation = z.infer<typeof RecentDonation>;

/** GET /api/donations/{slug}. */
export const DonationHistory = named("DonationHistory", {
  nonprofit: z.string().describe("Name of the nonprofit"),
  slug: z.string(),
  total_donated_usdc: z.number().min(0),
  donation_count: count,
  donor_count: count.describe("Different wallets that gave, where the chain names one"),
  currency: z.literal("USDC"),
  cluster: Cluster,
  recent_donations: z.array(RecentDonation).max(50).describe("Newest first"),
});
export type DonationHistory = z.infer<typeof DonationHistory>;

/** The evidence of a transfer on chain: enough for anyone to look it up again. */
export const DonationEvidence = named("DonationEvidence", {
  cluster: Cluster,
  network: z
    .string()
    .describe(
      "CAIP-2, as `accepts` says it: solana: and the first 32 characters of the genesis hash. The local chain borrows devnet's; older receipts of it have its own",
    ),
  tx_signature: z.string().describe("Signature of the transaction, base58"),
  slot: count.describe("Slot of the transaction on the chain"),
  commitment: z.enum(["confirmed", "finalized"]).describe("How final it is known to be"),
  mint: address("Mint of the token"),
  source: address("Token account that was debited")
    .nullable()
    .optional()
    .describe(
      "Token account that was debited, base58. Null when several were; older receipts do not say",
    ),
  recipient: address("Wallet of the nonprofit"),
  destination: address("Token account of that wallet, which was credited"),
  donor: address("Wallet that gave").nullable().describe("Null when no wallet or several did"),
  memo: textOrNull.describe("Memo of the payment requirement that it answers"),
});

/** A receipt. Its canonical JSON (RFC 8785) is what the directory signs. */
export const Receipt = named("Receipt", {
  type: z.literal("almoner-donation-receipt/1"),
  id: z.string().describe("Id of the donation"),
  issuer: z.string().describe("Origin of the directory that signed"),
  nonprofit: z.object({
    slug: z.string(),
    name: z.string(),
    registrations: z.array(Registration),
    identifiers: texts.describe("org-id form, for example US-EIN-530196605"),
  }),
  amount_usdc: z.number().positive().describe("What the nonprofit was paid"),
  amount_atomic: z.string().describe("The same in millionths of a USDC"),
  currency: z.literal("USDC"),
  settled_at: z.string().describe("Time of the block that holds the transfer: ISO 8601, UTC"),
  recorded_at: z.string().describe("When the directory recorded it: ISO 8601, UTC"),
  evidence: DonationEvidence,
});
export type Receipt = z.infer<typeof Receipt>;

/** Why a receipt is no longer valid. Its canonical JSON is signed like the receipt's. */
export const ReceiptCorrection = named("ReceiptCorrection", {
  type: z.literal("almoner-receipt-correction/1"),
  donation_id: z.string().describe("Id of the receipt that is void"),
  issuer: z.string(),
  tx_signature: z.string(),
  voided_at: z.string().describe("ISO 8601, UTC"),
  reason: z
    .enum(["vanished", "differs"])
    .describe("vanished: the chain dropped the transaction; differs: it holds another one"),
});
export type ReceiptCorrection = z.infer<typeof ReceiptCorrection>;

export const SignedCorrection = named("SignedCorrection", {
  correction: ReceiptCorrection,
  signature: z.string().describe("Detached JWS over the canonical JSON of `correction`"),
});
export type SignedCorrection = z.infer<typeof SignedCorrection>;

/** GET /api/donations/{slug}/{id}. */
export const SignedReceipt = named("SignedReceipt", {
  receipt: Receipt,
  signature: z
    .string()
    .describe("Detached JWS (RFC 7515, appendix F; EdDSA) over the canonical JSON of `receipt`"),
  keys_url: z.string().describe("Where the public key is published, as a JWK set"),
  correction: SignedCorrection.nullable().describe(
    "Not null: the receipt is void, because the chain does not hold the transfer",
  ),
  page_url: z.string().describe("The receipt for people, to be printed"),
  explorer_url: explorerUrl,
});
export type SignedReceipt = z.infer<typeof SignedReceipt>;
