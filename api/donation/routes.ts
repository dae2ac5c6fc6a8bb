import { Elysia } from "elysia";
import { donationAmount } from "#content/donation/money.ts";
import { DonateBody } from "#content/contract/donation.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { base58Bytes } from "#api/chain/base58.ts";
import { donate, type DonateCall } from "./donate.ts";
import { donationStatus } from "./donation-status.ts";
import { donatingOf } from "./donating.ts";
import {
  type BadProof,
  demanded,
  donateAnswers,
  pending,
  settled,
  statusAnswers,
} from "./donate-answers.ts";
import { noteFollowUp } from "#api/recommendation/follow-up.ts";
import type { Context } from "#api/context.ts";
import { paymentHeaderOf } from "./payment-header.ts";
import { refuse } from "#api/http/problem.ts";
import { type BadParameter, queryOf, refuseParameter } from "#api/http/query.ts";

/** GET and POST /api/donate/{slug}: what to pay, and the proof that it was paid. */
export const donateRoutes = (context: Context) => {
  const verb = donatingOf(context);
  const answers = donateAnswers(context.config.baseUrl);
  const answer = async (request: Request, slug: string, body: unknown): Promise<Response> => {
    const asked = askedOf(request.url);
    if (!asked.ok) return refuseParameter(asked.failure);
    const proof = proofOf(request.headers, body);
    if (!proof.ok) return refuse(answers, proof.failure);
    const outcome = await donate(verb, { slug, ...asked.value, proof: proof.value });
    if (!outcome.ok) {
      // Whoever follows a recommendation to a nonprofit without a wallet follows it all the same.
      if (outcome.failure.kind === "nonprofit_without_wallet") {
        noteFollowUp(context, request, { action: "donate", slug, intent_id: null });
      }
      return refuse(answers, outcome.failure);
    }
    if (outcome.value.kind === "settled") return settled(outcome.value, context.chain);
    if (outcome.value.kind === "pending") return pending(outcome.value);
    const { memo } = outcome.value.demand.body;
    noteFollowUp(context, request, { action: "donate", slug, intent_id: memo });
    return demanded(outcome.value.demand);
  };
  return new Elysia()
    .get("/api/donate/:slug", ({ request, params }) => answer(request, params.slug, undefined))
    .post("/api/donate/:slug", ({ request, params, body }) => answer(request, params.slug, body))
    .get("/api/donate/:slug/status", async ({ request, params, set }) => {
      const memo = queryOf(request.url).raw("memo") ?? "";
      const outcome = await donationStatus(verb, { slug: params.slug, memo });
      if (!outcome.ok) return refuse(statusAnswers(context.config.baseUrl), outcome.failure);
      set.headers["cache-control"] = "no-store";
      return outcome.value;
    });
};

function askedOf(url: string): Result<Pick<DonateCall, "amount" | "payer">, BadParameter> {
  const query = queryOf(url);
  const amount = donationAmount(query.raw("amount"));
  if (!amount.ok) return bad("amount", amount.failure);
  const payer = query.raw("payer");
  if (payer !== null && base58Bytes(payer, 32) === null) {
    return bad("payer", "payer is a Solana wallet: base58 of 32 bytes.");
  }
  return ok({ amount: amount.value, payer });
}

const bad = (parameter: string, message: string) =>
  fail({ kind: "invalid_parameter" as const, parameter, message });

/** A payment in a header counts before a signature in the body. */
function proofOf(headers: Headers, body: unknown): Result<DonateCall["proof"], BadProof> {
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
