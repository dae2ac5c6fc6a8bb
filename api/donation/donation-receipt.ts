import { receiptOf, signedAnswer } from "#content/donation/receipt.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import type { SignedReceipt } from "#content/contract/receipt.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import type { Signer } from "#content/feed/keys.ts";
import { signReceipt } from "#content/donation/signed-receipt.ts";
import { donationById } from "#content/donation/store.ts";
import type { Store } from "#content/store/open.ts";
import { recordBySlug } from "#content/nonprofit/records.ts";

export type ReceiptContext = {
  store: Store;
  signer: Signer;
  /** Without a trailing slash. */
  baseUrl: string;
};

export type DonationReceiptFailure =
  | { kind: "nonprofit_not_found"; slug: string }
  | { kind: "donation_not_found"; slug: string; id: string };

/** The signed receipt of a donation; also of a withdrawn nonprofit, because what was given stays given. */
export async function donationReceipt(
  { store, signer, baseUrl }: ReceiptContext,
  slug: string,
  id: string,
): Promise<Result<SignedReceipt, DonationReceiptFailure>> {
  const record = await recordBySlug(store, slug);
  if (record === null) return fail({ kind: "nonprofit_not_found", slug });
  const donation = await donationById(store, record.id, id);
  if (donation === null) return fail({ kind: "donation_not_found", slug, id });
  const receipt = receiptOf(donation, toDetail(record), baseUrl);
  return ok(signedAnswer(receipt, await signReceipt(receipt, signer)));
}
