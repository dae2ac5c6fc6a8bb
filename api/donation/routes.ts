import { pathOf } from "#api/http/route.ts";
import {
  getDonationHistory,
  getDonationReceipt,
  getDonationStatus,
  initiateDonation,
  settleDonation,
} from "#content/contract/operations/donation.ts";
import { nonprofitNotFound } from "#content/contract/problem.ts";
import { Elysia } from "elysia";
import type { Context } from "#api/context.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { freshCacheControl } from "#api/http/headers.ts";
import { type BadParameter, type FailureTable, refuse } from "#api/http/problem.ts";
import { queryOf, refuseParameter } from "#api/http/query.ts";
import { noteFollowUp } from "#api/recommendation/follow-up.ts";
import { DonateBody, type SignedReceipt } from "#content/contract/donation.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { historyOf } from "#content/donation/answers.ts";
import { donationAmount } from "#content/donation/money.ts";
import { receiptOf, signedAnswer, signReceipt } from "#content/donation/receipt.ts";
import {
  donateTarget,
  donationById,
  donationTotals,
  recentDonations,
} from "#content/donation/store.ts";
import { base58Bytes } from "#content/donation/wallet.ts";
import { openSigner, type Signer } from "#content/feed/keys.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import type { Store } from "#content/store/open.ts";
import {
  type BadProof,
  demanded,
  donateAnswers,
  paymentHeaderOf,
  pending,
  recorded,
  statusAnswers,
} from "./answers.ts";
import { donateContext } from "./context.ts";
import { donate, type DonateCall, donationStatus } from "./donate.ts";

/** GET and POST /api/donate/{slug}: what to pay, and the proof that it was paid. */
export const donateRoutes = (context: Context) => {
  const giving = donateContext(context);
  const answer = async (request: Request, slug: string, body: unknown): Promise<Response> => {
    const query = readQuery(request.url);
    if (!query.ok) return refuseParameter(query.failure);
    const proof = readProof(request.headers, body);
    if (!proof.ok) return refuse(donateAnswers, proof.failure);
    const outcome = await donate(giving, { slug, ...query.value, proof: proof.value });
    if (!outcome.ok) {
      // This follows a recommendation all the same.
      if (outcome.failure.kind === "nonprofit_without_wallet") {
        noteFollowUp(context, request, { action: "donate", slug, intent_id: null });
      }
      return refuse(donateAnswers, outcome.failure);
    }
    if (outcome.value.kind === "recorded") return recorded(outcome.value, context.chain);
    if (outcome.value.kind === "pending") return pending(outcome.value);
    const { memo } = outcome.value.demand.body;
    noteFollowUp(context, request, { action: "donate", slug, intent_id: memo });
    return demanded(outcome.value.demand);
  };
  return new Elysia()
    .get(pathOf(initiateDonation), ({ request, params }) => answer(request, params.slug, undefined))
    .post(pathOf(settleDonation), ({ request, params, body }) => answer(request, params.slug, body))
    .get(pathOf(getDonationStatus), async ({ request, params, set }) => {
      const memo = queryOf(request.url).raw("memo") ?? "";
      const outcome = await donationStatus(giving, { slug: params.slug, memo });
      if (!outcome.ok) return refuse(statusAnswers, outcome.failure);
      set.headers["cache-control"] = "no-store";
      return outcome.value;
    });
};

function readQuery(url: string): Result<Pick<DonateCall, "amount" | "payer">, BadParameter> {
  const query = queryOf(url);
  const bad = (parameter: string, message: string) =>
    fail({ kind: "invalid_parameter" as const, parameter, message });
  const amount = donationAmount(query.raw("amount"));
  if (!amount.ok) return bad("amount", amount.failure);
  const payer = query.raw("payer");
  if (payer !== null && base58Bytes(payer, 32) === null) {
    return bad("payer", "payer must be a Solana wallet: base58 of 32 bytes.");
  }
  return ok({ amount: amount.value, payer });
}

/** A payment in a header counts before a signature in the body. */
function readProof(headers: Headers, body: unknown): Result<DonateCall["proof"], BadProof> {
  const header = paymentHeaderOf(headers);
  if (!header.ok) return header;
  if (header.value !== null) return ok({ kind: "payment", payment: header.value });
  const read = DonateBody.safeParse(body ?? {});
  if (!read.success) {
    const message = 'Send {"tx_signature": "…"}, or no body to hear what to pay.';
    return fail({ kind: "invalid_donation", message });
  }
  const { tx_signature } = read.data;
  if (tx_signature === undefined) return ok(null);
  if (base58Bytes(tx_signature, 64) === null) return fail({ kind: "signature_malformed" });
  return ok({ kind: "signature", tx_signature });
}

/** Source: decisions.md, "recent_donations item". */
const recentMax = 50;

/**
 * GET /api/donations/{slug}, and /api/donations/{slug}/{id}: a donation with its evidence, signed by the directory. Also
 * of a withdrawn nonprofit, because what was given stays given.
 */
export const donationRoutes = ({
  store,
  clock,
  chain,
  secrets,
  config: { baseUrl },
}: Pick<Context, "store" | "clock" | "chain" | "secrets" | "config">) => {
  const opening = openSigner(secrets.signingKey);
  return new Elysia()
    .get(pathOf(getDonationHistory), async ({ params: { slug } }) => {
      const target = await donateTarget(store, slug, clock());
      if (target === null) return refuse(receiptAnswers, { kind: "nonprofit_not_found", slug });
      const totals = await donationTotals(store, target.id);
      const recent = await recentDonations(store, target.id, recentMax);
      const place = { cluster: chain.cluster, baseUrl };
      return encodedJson(historyOf(target, { ...totals, recent }, place), freshCacheControl);
    })
    .get(pathOf(getDonationReceipt), async ({ params: { slug, donation_id: id } }) => {
      const receipt = await donationReceipt(
        store,
        { slug, id },
        { signer: await opening, baseUrl },
      );
      if (!receipt.ok) return refuse(receiptAnswers, receipt.failure);
      return encodedJson(receipt.value, freshCacheControl);
    });
};

const receiptAnswers = {
  nonprofit_not_found: nonprofitNotFound,
  donation_not_found: { status: 404, detail: "This nonprofit has no donation with this id." },
} as const satisfies FailureTable<ReceiptFailure>;

type ReceiptFailure =
  | { kind: "nonprofit_not_found"; slug: string }
  | { kind: "donation_not_found"; slug: string; id: string };

async function donationReceipt(
  store: Store,
  { slug, id }: { slug: string; id: string },
  { signer, baseUrl }: { signer: Signer; baseUrl: string },
): Promise<Result<SignedReceipt, ReceiptFailure>> {
  const record = await recordBySlug(store, slug);
  if (record === null) return fail({ kind: "nonprofit_not_found", slug });
  const donation = await donationById(store, record.id, id);
  if (donation === null) return fail({ kind: "donation_not_found", slug, id });
  const receipt = receiptOf(donation, toDetail(record), baseUrl);
  return ok(signedAnswer(receipt, await signReceipt(receipt, signer)));
}
