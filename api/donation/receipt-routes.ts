import { Elysia } from "elysia";
import { openSigner } from "#content/feed/keys.ts";
import { donationReceipt, type DonationReceiptFailure } from "./donation-receipt.ts";
import { freshCacheControl } from "#api/http/headers.ts";
import type { Context } from "#api/context.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { type FailureTable, refuse } from "#api/http/problem.ts";

/** GET /api/donations/{slug}/{id}: a donation with its evidence, signed by the directory. */
export const receiptRoutes = ({
  store,
  secrets,
  config,
}: Pick<Context, "store" | "secrets" | "config">) => {
  const opening = openSigner(secrets.signingKey);
  return new Elysia().get("/api/donations/:slug/:donation_id", async ({ params }) => {
    const context = { store, signer: await opening, baseUrl: config.baseUrl };
    const outcome = await donationReceipt(context, params.slug, params.donation_id);
    if (!outcome.ok) return refuse(answers, outcome.failure);
    return encodedJson(outcome.value, freshCacheControl);
  });
};

const answers = {
  nonprofit_not_found: { status: 404, detail: "No nonprofit has this slug." },
  donation_not_found: { status: 404, detail: "This nonprofit has no donation with this id." },
} as const satisfies FailureTable<DonationReceiptFailure>;
