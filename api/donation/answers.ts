import { nonprofitNotFound } from "#content/contract/problem.ts";
import { z } from "zod";
import type { Chain } from "#api/chain/chain.ts";
import type { FailureTable } from "#api/http/problem.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { safeLink } from "#content/nonprofit/website.ts";
import type { DonateFailure, StatusFailure } from "./donate.ts";
import type { ClientPayment } from "./payment.ts";
import type { Pending, RecordedGift } from "./proof.ts";
import type { Demand } from "./requirements.ts";

const json = (status: number, body: unknown, headers: Record<string, string>): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });

/** 402 means: no money has moved, pay now. Every client finds its own words in it. Never kept by a cache. */
export const demanded = ({ body, v2, contract }: Demand): Response =>
  json(402, body, {
    "payment-required": headerValue(v2),
    "x-payment-required": headerValue(contract),
  });

/** 200: recorded. The headers are what x402 clients of both versions look for. */
export function recorded(
  { settlement, payer }: RecordedGift,
  { network, caip2 }: Pick<Chain, "network" | "caip2">,
): Response {
  const result = {
    success: true,
    transaction: settlement.tx_signature,
    ...(payer === null ? {} : { payer }),
  };
  return json(200, settlement, {
    "payment-response": headerValue({ ...result, network: caip2 }),
    "x-payment-response": headerValue({ ...result, network }),
  });
}

/** 202: money may have moved, and the chain does not show it yet. */
export const pending = ({ pending: body }: Pending): Response =>
  json(202, body, { "retry-after": String(body.retry_after_s) });

/** What came as a proof cannot be read as one. */
export type BadProof =
  | MalformedHeader
  | { kind: "signature_malformed" }
  | { kind: "invalid_donation"; message: string };

const chainRetrySeconds = "2";

const chainUnclear = "The chain gave no clear answer in time; nothing is known about this payment.";

const transfer =
  (detail: string) =>
  ({ tx_signature }: { tx_signature: string }) => ({
    status: 422,
    detail,
    extra: { tx_signature },
  });

const targetAnswers = {
  nonprofit_not_found: nonprofitNotFound,
  nonprofit_withdrawn: {
    status: 410,
    detail: "This nonprofit is withdrawn from its register: it accepts no donations here.",
  },
} as const;

/** Every failure of donating. None of them is a 402, because here money may have moved, or cannot move. */
export const donateAnswers = {
  ...targetAnswers,
  nonprofit_without_wallet: ({ donation_url }) => ({
    status: 422,
    detail:
      "This nonprofit has no wallet for USDC. If donation_url is set, it is the nonprofit's own donation page.",
    extra: { donation_url: safeLink(donation_url) },
  }),
  payment_header_malformed: ({ why }) => ({ status: 400, detail: why }),
  payment_malformed: ({ why }) => ({
    status: 400,
    detail: `The payment cannot be read: ${why}.`,
  }),
  signature_malformed: {
    status: 400,
    detail: "tx_signature is not a transaction signature: send 64 bytes in base58.",
  },
  invalid_donation: ({ message }) => ({ status: 400, detail: message }),
  chain_unclear: ({ tx_signature }) => ({
    status: 503,
    detail:
      tx_signature === null
        ? chainUnclear
        : `${chainUnclear} Do not pay again: ask again with this tx_signature.`,
    headers: { "retry-after": chainRetrySeconds },
    extra: tx_signature === null ? {} : { tx_signature },
  }),
  failed_on_chain: transfer("This transaction failed on chain: it moved no money."),
  wrong_token: transfer("This transaction pays in a token other than USDC."),
  wrong_recipient: transfer("This transaction pays nothing into the nonprofit's USDC account."),
  foreign_memo: transfer(
    "The memo of this transaction belongs to a donation to another nonprofit.",
  ),
  self_donation: transfer(
    "The nonprofit's own wallet made this transfer, so it does not count as a donation.",
  ),
  too_old: transfer("This transfer has no memo of ours and is too old to be proven without one."),
  underpaid: transfer(
    "This transfer is smaller than the requested amount and has no memo of ours. Send the request again with ?amount= set to what was transferred.",
  ),
  recorded_elsewhere: ({ tx_signature }) => ({
    status: 409,
    detail: "This transfer is recorded as a donation to another nonprofit.",
    extra: { tx_signature },
  }),
} as const satisfies FailureTable<DonateFailure | BadProof>;

export const statusAnswers = {
  ...targetAnswers,
  memo_unknown: {
    status: 400,
    detail: "memo is unknown: send the memo of a 402 answer for this nonprofit.",
  },
  chain_unclear: {
    status: 503,
    detail: "The chain gave no clear answer in time. Send the request again after Retry-After.",
    headers: { "retry-after": chainRetrySeconds },
  },
} as const satisfies FailureTable<StatusFailure>;

export type MalformedHeader = { kind: "payment_header_malformed"; why: string };

const headerLengthMax = 16_384;

const Payload = z.looseObject({ transaction: z.string().min(1) });

const Payment = z.union([
  z.looseObject({
    x402Version: z.literal(2),
    accepted: z.looseObject({ scheme: z.string(), network: z.string() }),
    payload: Payload,
  }),
  z.looseObject({
    x402Version: z.literal(1),
    scheme: z.string(),
    network: z.string(),
    payload: Payload,
  }),
]);

/**
 * The payment in PAYMENT-SIGNATURE or X-PAYMENT, null without one. The version is told by the content: some clients
 * send either under the name of the other. The failure says what is wrong with the header.
 */
export function paymentHeaderOf(headers: Headers): Result<ClientPayment | null, MalformedHeader> {
  const name = ["payment-signature", "x-payment"].find((one) => headers.has(one));
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
  const { payload } = read.data;
  const { scheme, network } = read.data.x402Version === 2 ? read.data.accepted : read.data;
  return ok({ scheme, network, transaction: payload.transaction });
}

function jsonOf(base64: string): unknown {
  try {
    const bytes = Buffer.from(base64, "base64");
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** A header's value: base64 of JSON in ASCII, so that a client that decodes it byte by byte reads the same. */
export const headerValue = (value: unknown): string =>
  Buffer.from(
    JSON.stringify(value).replaceAll(
      /[\u007f-\uffff]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
    ),
  ).toString("base64");
