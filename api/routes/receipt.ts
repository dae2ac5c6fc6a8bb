import { Elysia } from "elysia";
import { openSigner } from "#content/signing/keys.ts";
import { donationReceipt, type DonationReceiptFailure } from "#api/verbs/donation-receipt.ts";
import { freshCacheControl } from "../headers.ts";
import type { Parts } from "../parts.ts";
import { preparedJson } from "../prepared.ts";
import { type FailureTable, refuse } from "../problem.ts";

/** GET /api/donations/{slug}/{id}: a donation with its evidence, signed by the directory. */
export const receiptRoutes = ({
  store,
  secrets,
  config,
}: Pick<Parts, "store" | "secrets" | "config">) => {
  const opening = openSigner(secrets.signingKey);
  return new Elysia().get("/api/donations/:slug/:donation_id", async ({ params }) => {
    const parts = { store, signer: await opening, baseUrl: config.baseUrl };
    const outcome = await donationReceipt(parts, params.slug, params.donation_id);
    if (!outcome.ok) return refuse(answers, outcome.failure);
    return preparedJson(outcome.value, freshCacheControl);
  });
};

const answers = {
  nonprofit_not_found: { status: 404, detail: "No nonprofit has this slug." },
  donation_not_found: { status: 404, detail: "This nonprofit has no donation with this id." },
} as const satisfies FailureTable<DonationReceiptFailure>;
