import { route, serve } from "#api/http/route.ts";
import {
  donateProblems,
  donationOperations as operations,
  donationStatusProblems,
} from "#content/contract/operations/donation.ts";
import { z } from "zod";
import type { Context } from "#api/context.ts";
import { keyedHash, networkOf, wideNetwork } from "#api/http/client.ts";
import { problem, rateLimited, refuse } from "#api/http/problem.ts";
import { noteFollowUp } from "#api/recommendation/follow-up.ts";
import { DonateBody, type DonateParameters, isMisnamed } from "#content/contract/donation.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { isoDay } from "#content/contract/base/time.ts";
import type { Demand, Pending, RecordedGift } from "#content/giving/answers.ts";
import { microUsdcOf } from "#content/contract/base/money.ts";
import { base58Bytes } from "#content/contract/transfer.ts";
import { type GivingWorld, givingWorld } from "#content/giving/world.ts";
import type { ClientPayment } from "#content/giving/payment.ts";
import { donate, type DonateCall, donationStatus } from "#content/giving/donate.ts";

/** GET and POST /api/donate/{slug}: payment requirements, and the proof of a payment. */
export const donateRoutes = (context: Context) => {
  const giving = givingWorld(context);
  const dailyNetworkHash = (request: Request) => {
    const day = isoDay(context.clock().getTime());
    const network = networkOf(request, context.config);
    const wide = wideNetwork(network) ?? network;
    return keyedHash(context.secrets.clientHashKey, `donate ${day} ${wide}`);
  };
  type Query = z.infer<typeof DonateParameters>;
  const answer = async (
    request: Request,
    slug: string,
    query: Query,
    proof: ReturnType<typeof readProof>,
    answerDemand = demandAnswer,
  ) => {
    const payment = proof.ok ? proof.value : null;
    const allowance = payment === null ? await context.limits.paid(request, false) : null;
    if (allowance?.allowed === false) return problem(rateLimited(allowance));
    if (!proof.ok) return refuse(donateProblems, proof.failure);
    const outcome = await donate(giving, {
      slug,
      amount: microUsdcOf(query.amount),
      payer: query.payer ?? null,
      network: dailyNetworkHash(request),
      proof: payment,
    });
    if (payment !== null) await context.limits.paid(request, isTaken(outcome, payment));
    return answerOf(outcome, request, { slug, answerDemand });
  };
  const answerOf = (
    outcome: Outcome,
    request: Request,
    { slug, answerDemand }: { slug: string; answerDemand: typeof demandAnswer },
  ) => {
    if (!outcome.ok) {
      // Asking to donate follows a recommendation even if the nonprofit has no wallet.
      if (outcome.failure.kind === "nonprofit_without_wallet") {
        noteFollowUp(context, request, { action: "donate", slug, intent_id: null });
      }
      return refuse(donateProblems, outcome.failure);
    }
    if (outcome.value.kind === "recorded") return recordedAnswer(outcome.value, giving);
    if (outcome.value.kind === "pending") return waitAnswer(outcome.value);
    const { memo } = outcome.value.demand.body;
    noteFollowUp(context, request, { action: "donate", slug, intent_id: memo });
    return answerDemand(outcome.value.demand);
  };
  return serve(
    route(operations.initiateDonation, ({ request, params, query }) =>
      answer(request, params.slug, query, readProof(request.headers, undefined)),
    ),
    route(operations.quoteDonation, async ({ request, params, query }) => {
      return answer(request, params.slug, query, ok(null), quoteAnswer);
    }),
    route(operations.settleDonation, ({ request, params, query, body }) =>
      answer(request, params.slug, query, readProof(request.headers, body)),
    ),
    route(operations.getDonationStatus, async ({ request, params, query, set }) => {
      const call = { slug: params.slug, memo: query.memo, network: dailyNetworkHash(request) };
      const outcome = await donationStatus(giving, call);
      if (!outcome.ok) return refuse(donationStatusProblems, outcome.failure);
      set.headers["cache-control"] = "no-store";
      return outcome.value;
    }),
  );
};

const json = (status: number, body: unknown, headers: Record<string, string>): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });

/** Whether a payment was recorded or is under way. A bare signature that no node knows yet may be anything. */
const isTaken = (outcome: Outcome, { kind }: NonNullable<DonateCall["proof"]>): boolean =>
  outcome.ok &&
  (outcome.value.kind === "recorded" || (outcome.value.kind === "pending" && kind === "payment"));

type Outcome = Awaited<ReturnType<typeof donate>>;
/** 402 means that no money has moved: pay now. The body has the names that each kind of client reads. Never cached. */
const demandAnswer = ({ body, v2, contract }: Demand): Response =>
  json(
    402,
    { ...body, detail: body.error, errors: [] },
    {
      "payment-required": headerValue(v2),
      "x-payment-required": headerValue(contract),
    },
  );

/** The payment requirements with status 200, for clients that only want to know. */
const quoteAnswer = ({ body: { code: _code, error: _error, ...quote } }: Demand): Response =>
  json(200, quote, {});

/** 200: recorded. The headers are those that x402 clients of both versions read. */
function recordedAnswer(
  { settlement, payer }: RecordedGift,
  { chain, offeredNetwork }: Pick<GivingWorld, "chain" | "offeredNetwork">,
): Response {
  const result = {
    success: true,
    transaction: settlement.tx_signature,
    ...(payer === null ? {} : { payer }),
  };
  return json(200, settlement, {
    "payment-response": headerValue({ ...result, network: offeredNetwork }),
    "x-payment-response": headerValue({ ...result, network: chain.network }),
  });
}

/** 202: money may have moved, but the chain does not show it yet. */
const waitAnswer = ({ pending: body }: Pending): Response =>
  json(202, body, { "retry-after": String(body.retry_after_s) });

/** A header's value: base64 of ASCII JSON, so that a client that decodes it byte by byte reads the same text. */
function headerValue(value: unknown): string {
  const text = JSON.stringify(value);
  const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  // Replacing costs more than everything else here, so pure ASCII skips it.
  const isAscii = Buffer.byteLength(text) === text.length;
  return Buffer.from(isAscii ? text : text.replaceAll(/[\u0080-\uffff]/g, escaped)).toString(
    "base64",
  );
}

type BadProof = MalformedHeader | { kind: "signature_malformed" } | { kind: "invalid_donation" };

type MalformedHeader = { kind: "payment_header_malformed"; why: string };

/** Reads the proof of a payment. A payment in a header takes precedence over a signature in the body. */
function readProof(headers: Headers, body: unknown): Result<DonateCall["proof"], BadProof> {
  const header = paymentHeaderOf(headers);
  if (!header.ok) return header;
  if (header.value !== null) return ok({ kind: "payment", payment: header.value });
  const read = DonateBody.safeParse(body ?? {});
  if (!read.success) return fail({ kind: "invalid_donation" });
  const { tx_signature } = read.data;
  if (tx_signature === undefined)
    return isMisnamed(body ?? {}) ? fail({ kind: "invalid_donation" }) : ok(null);
  if (base58Bytes(tx_signature, 64) === null) return fail({ kind: "signature_malformed" });
  return ok({ kind: "signature", tx_signature });
}

const headerLengthMax = 16_384;

const payload = z.looseObject({ transaction: z.string().min(1) });
const Way = z.looseObject({ scheme: z.string(), network: z.string() });
const Payment = z.union([
  z.looseObject({ x402Version: z.literal(2), accepted: Way, payload }),
  Way.extend({ x402Version: z.literal(1), payload }),
]);

/**
 * The payment in PAYMENT-SIGNATURE or X-PAYMENT; null without one. The content decides the version, because some clients
 * send either under the other's name. The failure says what is wrong with the header.
 */
function paymentHeaderOf(headers: Headers): Result<ClientPayment | null, MalformedHeader> {
  const name = ["payment-signature", "x-payment"].find((header) => headers.has(header));
  if (name === undefined) return ok(null);
  const malformed = (why: string) =>
    fail({ kind: "payment_header_malformed" as const, why: `${name.toUpperCase()} ${why}` });
  const text = headers.get(name)?.trim() ?? "";
  if (text.length > headerLengthMax)
    return malformed(`has more than ${headerLengthMax} characters.`);
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return malformed("is not base64.");
  const value = jsonOf(text);
  if (value === undefined) return malformed("is not base64 of JSON in UTF-8.");
  const read = Payment.safeParse(value);
  if (!read.success) {
    return malformed(
      "is not an x402 payment: version 2 has x402Version 2, accepted {scheme, network} and payload {transaction}; version 1 has x402Version 1, scheme, network and payload {transaction}.",
    );
  }
  const { scheme, network } = read.data.x402Version === 2 ? read.data.accepted : read.data;
  return ok({ scheme, network, transaction: read.data.payload.transaction });
}

function jsonOf(base64: string): unknown {
  try {
    const bytes = Buffer.from(base64, "base64");
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
