import bs58 from "bs58";
import { z } from "zod";
import { isDamaged } from "#content/runtime/files.ts";
import type { Ledger } from "./ledger.ts";
import type { Commitment } from "#content/contract/transfer.ts";

/** An error answer, thrown by methods and turned into JSON here. */
export class RpcError extends Error {
  override name = "RpcError";
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Source: JSON-RPC 2.0 and Agave, rpc-client-api custom errors. */
export const codes = {
  parse: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  preflight: -32_002,
  signature: -32_003,
  version: -32_015,
} as const;

export type Call = { method: string; params: readonly unknown[] };

/** Answers one call; throws RpcError. */
export type Answer = (call: Call) => unknown;

/** The error for an unknown method. Source: JSON-RPC 2.0. */
export const unknownMethod = () => new RpcError(codes.unknownMethod, "Method not found");

const Request = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  method: z.string(),
  params: z.array(z.unknown()).optional(),
});

/** Answers a call; null for a notification. Batches are not supported, as no client here sends them. */
export function answerBody(body: string, answer: Answer): unknown {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return failure(null, new RpcError(codes.parse, "Parse error"));
  }
  const request = Request.safeParse(parsed);
  if (!request.success) return failure(null, new RpcError(codes.invalidRequest, "Invalid request"));
  const { id, method, params = [] } = request.data;
  if (id === undefined) return null;
  try {
    return { jsonrpc: "2.0", result: answer({ method, params }), id };
  } catch (error) {
    if (error instanceof RpcError) return failure(id, error);
    const why = isDamaged(error) ? damagedJournal : String(error);
    return failure(id, new RpcError(codes.internal, `Internal error: ${why}`));
  }
}

const damagedJournal = "the journal of the local chain is damaged; bun run doctor says what helps";

function failure(id: string | number | null, { code, message, data }: RpcError) {
  return { jsonrpc: "2.0", error: { code, message, ...(data === undefined ? {} : { data }) }, id };
}

export type Method = (ledger: Ledger, params: readonly unknown[]) => unknown;

/** Makes a method of a shape for its params and a function that answers them. */
export const method =
  <Params>(shape: z.ZodType<Params>, run: (ledger: Ledger, params: Params) => unknown): Method =>
  (ledger, params) =>
    run(ledger, paramsIn(shape, params));

export function paramsIn<Params>(shape: z.ZodType<Params>, params: readonly unknown[]): Params {
  const parsed = shape.safeParse(params);
  if (parsed.success) return parsed.data;
  throw new RpcError(codes.invalidParams, `Invalid params: ${z.prettifyError(parsed.error)}`);
}

const base58 = (bytes: number, lengthMax: number) =>
  z
    .string()
    .max(lengthMax)
    .refine((text) => bs58.decodeUnsafe(text)?.length === bytes, "Invalid param: WrongSize");

export const Address = base58(32, 44);
export const Signature = base58(64, 88);

export const CommitmentLevel = z.enum(["processed", "confirmed", "finalized"]);

/** The last param of nearly every method. */
export const Options = z.looseObject({ commitment: CommitmentLevel.nullish() }).nullish();

/** The commitment in a call's options, its last param; "finalized" by default. */
export const commitmentIn = (params: readonly unknown[]): Commitment =>
  Options.safeParse(params.at(-1)).data?.commitment ?? "finalized";

/** Like `method`, but the answer is wrapped with the slot at which it holds. */
export const methodInContext = <Params extends readonly unknown[]>(
  shape: z.ZodType<Params>,
  run: (ledger: Ledger, params: Params) => unknown,
): Method =>
  method(shape, (ledger, params) =>
    inContext(ledger.slots.at(commitmentIn(params)), run(ledger, params)),
  );

export const inContext = (slot: number, value: unknown) => ({
  context: { apiVersion: "3.0.0", slot },
  value,
});
