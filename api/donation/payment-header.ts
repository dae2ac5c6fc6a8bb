import { z } from "zod";
import { fail, ok, type Result } from "#content/contract/result.ts";

/** A signed payment as a client sent it, of either version of x402. */
export type PaymentHeader = {
  /** x402's name of the network: solana in version 1, CAIP-2 in version 2. */
  network: string;
  scheme: string;
  /** The signed transaction, base64. */
  transaction: string;
};

export type MalformedHeader = { kind: "payment_header_malformed"; why: string };

const lengthMax = 16_384;

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
export function paymentHeaderOf(headers: Headers): Result<PaymentHeader | null, MalformedHeader> {
  const name = ["payment-signature", "x-payment"].find((one) => headers.has(one));
  if (name === undefined) return ok(null);
  const malformed = (why: string) =>
    fail({ kind: "payment_header_malformed" as const, why: `${name.toUpperCase()} ${why}` });
  const text = headers.get(name)?.trim() ?? "";
  if (text.length > lengthMax) return malformed(`has more than ${lengthMax} characters.`);
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return malformed("is no base64.");
  const value = jsonOf(text);
  if (value === undefined) return malformed("is no base64 of JSON in UTF-8.");
  const read = Payment.safeParse(value);
  if (!read.success) {
    return malformed(
      "is no x402 payment: version 2 has x402Version 2, accepted {scheme, network} and payload {transaction}; version 1 has x402Version 1, scheme, network and payload {transaction}.",
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
