import { z } from "zod";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { GivingWorld } from "#content/giving/world.ts";
import type { ClientPayment } from "#content/giving/payment.ts";
import type { Pending, RecordedGift } from "#content/giving/proof.ts";
import type { Demand } from "#content/giving/requirements.ts";

const json = (status: number, body: unknown, headers: Record<string, string>): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });

/** 402 means: no money has moved, pay now. Every client finds its own words in it. No cache stores it. */
export const demanded = ({ body, v2, contract }: Demand): Response =>
  json(402, body, {
    "payment-required": headerValue(v2),
    "x-payment-required": headerValue(contract),
  });

/** 200: recorded. The headers are what x402 clients of both versions look for. */
export function recorded(
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

/** 202: money may have moved, and the chain does not show it yet. */
export const pending = ({ pending: body }: Pending): Response =>
  json(202, body, { "retry-after": String(body.retry_after_s) });

/** What came as a proof cannot be read as one. */
export type BadProof =
  | MalformedHeader
  | { kind: "signature_malformed" }
  | { kind: "invalid_donation" };

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
 * The payment in PAYMENT-SIGNATURE or X-PAYMENT, null without one. The content says which version: some clients
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
