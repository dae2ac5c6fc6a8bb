import { z } from "zod";
import { Cluster } from "./donation.ts";
import { Registration } from "./nonprofit.ts";

const account = (description: string) => z.string().describe(`${description}, base58`);

/** What the chain showed of a transfer: enough for anybody to look it up again. */
export const DonationEvidence = z
  .object({
    cluster: Cluster,
    network: z.string().describe("CAIP-2: solana: and the first 32 characters of the genesis hash"),
    tx_signature: z.string().describe("Signature of the transaction, base58"),
    slot: z.int().min(0).describe("Where it stands on the chain"),
    commitment: z
      .enum(["confirmed", "finalized"])
      .describe("How final it was when it was recorded"),
    mint: account("Mint of the token"),
    source: account("Token account that was debited")
      .nullable()
      .optional()
      .describe(
        "Token account that was debited, base58. Null when several were; older receipts do not say",
      ),
    recipient: account("Wallet of the nonprofit"),
    destination: account("Token account of that wallet, which was credited"),
    donor: account("Wallet that gave").nullable().describe("Null when nobody or several did"),
    memo: z.string().nullable().describe("Memo of the payment requirement that it answers"),
  })
  .meta({ id: "DonationEvidence" });

/** What the directory vouches for. Its canonical JSON (RFC 8785) is what is signed. */
export const Receipt = z
  .object({
    type: z.literal("almoner-donation-receipt/1"),
    id: z.string().describe("Id of the donation"),
    issuer: z.string().describe("Origin of the directory that signed"),
    nonprofit: z.object({
      slug: z.string(),
      name: z.string(),
      registrations: z.array(Registration),
      identifiers: z.array(z.string()).describe("org-id form, for example US-EIN-530196605"),
    }),
    amount_usdc: z.number().positive().describe("What the nonprofit was paid"),
    amount_atomic: z.string().describe("The same in millionths of a USDC"),
    currency: z.literal("USDC"),
    settled_at: z.string().describe("Time of the block that holds the transfer: ISO 8601, UTC"),
    recorded_at: z.string().describe("When the directory recorded it: ISO 8601, UTC"),
    evidence: DonationEvidence,
  })
  .meta({ id: "Receipt" });
export type Receipt = z.infer<typeof Receipt>;

/** GET /api/donations/{slug}/{id}. */
export const SignedReceipt = z
  .object({
    receipt: Receipt,
    signature: z
      .string()
      .describe("Detached JWS (RFC 7515, appendix F; EdDSA) over the canonical JSON of `receipt`"),
    keys_url: z.string().describe("Where the public key is published, as a JWK set"),
    page_url: z.string().describe("The receipt for people, to be printed"),
    explorer_url: z
      .string()
      .nullable()
      .describe("The transaction in a block explorer; null on the local chain"),
  })
  .meta({ id: "SignedReceipt" });
export type SignedReceipt = z.infer<typeof SignedReceipt>;
