import bs58 from "bs58";
import { z } from "zod";
import type { Ledger } from "./ledger.ts";
import type { Commitment } from "./slots.ts";

/** A method of the RPC: the form of its params, and what it answers to them. It throws RpcError. */
export type Method = { params: z.ZodType; run(ledger: Ledger, params: unknown): unknown };

/** Binds the form of the params to the function that takes them. */
export const method = <Params>(
  params: z.ZodType<Params>,
  run: (ledger: Ledger, params: Params) => unknown,
): Method => ({ params, run: (ledger, given) => run(ledger, given as Params) });

const bytesOf = (text: string) => bs58.decodeUnsafe(text)?.length;

export const Address = z
  .string()
  .max(44)
  .refine((text) => bytesOf(text) === 32, "Invalid param: WrongSize");

export const Signature = z
  .string()
  .max(88)
  .refine((text) => bytesOf(text) === 64, "Invalid param: WrongSize");

export const CommitmentLevel = z.enum(["processed", "confirmed", "finalized"]);

/** The options that nearly every method takes, last. */
export const Options = z.looseObject({ commitment: CommitmentLevel.optional() }).nullish();

/** The slot at which an answer holds, around the answer. */
export const withContext = (
  { slots }: Ledger,
  commitment: Commitment | undefined,
  value: unknown,
) => ({ context: { apiVersion: "3.0.0", slot: slots.at(commitment ?? "finalized") }, value });
