import { Keypair, type MessageCompiledInstruction, VersionedTransaction } from "@solana/web3.js";
import bs58 from "bs58";
import { z } from "zod";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { isSignedBy } from "#content/giving/wallet.ts";
import {
  type CallOutcome,
  type Reading,
  type Rpc,
  type RpcAnswer,
  TransactionError,
} from "./rpc.ts";
import { memoPrograms, programs } from "./transfer.ts";
import type {
  ChainUnclear,
  NotSponsored,
  Payment,
  PaymentFails,
  SignedPayment,
} from "#content/giving/world.ts";

/** The largest transaction that fits a packet. Source: Solana, PACKET_DATA_SIZE. */
const bytesMax = 1_232;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Parses a base64 transaction, legacy or v0, and verifies its signatures. Makes no other checks and asks no node. */
export function readPayment(
  text: string,
): Result<Payment, { kind: "payment_malformed"; why: string }> {
  const malformed = (why: string) => fail({ kind: "payment_malformed" as const, why });
  if (!base64.test(text) || text.length > Math.ceil(bytesMax / 3) * 4) {
    return malformed("the transaction is not base64 of at most 1232 bytes");
  }
  const bytes = new Uint8Array(Buffer.from(text, "base64"));
  const transaction = transactionOf(bytes);
  if (transaction === null) return malformed("the bytes are no Solana transaction");
  return ok(takeApart(transaction, bytes));
}

/** The transaction in the bytes; null unless they are exactly one whole, sound transaction. */
export function transactionOf(bytes: Uint8Array): VersionedTransaction | null {
  if (bytes.length > bytesMax) return null;
  try {
    const transaction = VersionedTransaction.deserialize(bytes);
    const { header, staticAccountKeys, compiledInstructions, addressTableLookups } =
      transaction.message;
    const hidden = addressTableLookups.reduce(
      (sum, lookup) => sum + lookup.readonlyIndexes.length + lookup.writableIndexes.length,
      0,
    );
    const accounts = staticAccountKeys.length + hidden;
    const sound =
      header.numRequiredSignatures >= 1 &&
      header.numRequiredSignatures === transaction.signatures.length &&
      header.numRequiredSignatures <= staticAccountKeys.length &&
      // The chain loads no account twice; a repeated one could hide the sponsor from its guards.
      new Set(staticAccountKeys.map(String)).size === staticAccountKeys.length &&
      compiledInstructions.every(
        (instruction) =>
          // A program's address must not come from a lookup table.
          instruction.programIdIndex < staticAccountKeys.length &&
          instruction.accountKeyIndexes.every((index) => index < accounts),
      );
    // The bytes to broadcast must be those that were read, so trailing bytes and odd encodings are refused.
    return sound && Buffer.from(transaction.serialize()).equals(bytes) ? transaction : null;
  } catch {
    return null;
  }
}

/** Describes a transaction as a payment. `bytes` are its source. */
export function takeApart(transaction: VersionedTransaction, bytes: Uint8Array): Payment {
  const { message, signatures } = transaction;
  const keys = message.staticAccountKeys.map((key) => key.toBase58());
  const signers = keys.slice(0, message.header.numRequiredSignatures);
  const isThere = (at: number) => signatures[at]?.some((byte) => byte !== 0) === true;
  const messageBytes = message.serialize();
  const badly = (signer: string, at: number) =>
    isThere(at) && !isSignedBy(signer, messageBytes, signatures[at] ?? new Uint8Array());
  return {
    tx_signature: isThere(0) ? bs58.encode(signatures[0] ?? []) : null,
    fee_payer: keys[0] ?? "",
    signers,
    unsigned: signers.filter((_, at) => !isThere(at)),
    badly_signed: signers.filter(badly),
    ...contentsOf(message.compiledInstructions, keys),
    uses_lookup_tables: message.addressTableLookups.length > 0,
    blockhash: message.recentBlockhash,
    bytes,
  };
}

type Contents = Pick<
  Payment,
  "compute_units" | "compute_unit_price" | "transfer" | "memos" | "other_programs"
>;

/** Contents that occur once. A repeated one is refused, because two readers could see different fees. */
type SingleContents = Pick<Contents, "compute_units" | "compute_unit_price" | "transfer">;

function contentsOf(instructions: readonly MessageCompiledInstruction[], keys: string[]): Contents {
  const single: SingleContents = { compute_units: null, compute_unit_price: null, transfer: null };
  const memos: string[] = [];
  const others: string[] = [];
  for (const { programIdIndex, accountKeyIndexes, data } of instructions) {
    const program = keys[programIdIndex] ?? "";
    const bytes = Buffer.from(data);
    if (memoPrograms.has(program)) {
      memos.push(bytes.toString("utf8"));
      continue;
    }
    const accounts = accountKeyIndexes.map((index) => keys[index]);
    const [name, value] = meaningOf(program, bytes, accounts) ?? [];
    if (name === undefined || single[name] !== null) others.push(program);
    else Object.assign(single, { [name]: value });
  }
  return { ...single, memos, other_programs: others };
}

const budget = programs.computeBudget.toBase58();
const token = programs.token.toBase58();

const setComputeUnitLimit = 2;
const setComputeUnitPrice = 3;
const plainTransfer = 3;
const transferChecked = 12;

/** The meaning of an instruction of a payment; null for any other instruction. */
function meaningOf(
  program: string,
  data: Buffer,
  accounts: readonly (string | undefined)[],
): [keyof SingleContents, SingleContents[keyof SingleContents]] | null {
  if (program === token) {
    const transfer = transferOf(data, accounts);
    return transfer === null ? null : ["transfer", transfer];
  }
  if (program !== budget) return null;
  if (data[0] === setComputeUnitLimit && data.length === 5) {
    return ["compute_units", data.readUInt32LE(1)];
  }
  if (data[0] === setComputeUnitPrice && data.length === 9) {
    return ["compute_unit_price", data.readBigUInt64LE(1)];
  }
  return null;
}

/** The transfer in an instruction of the token program; null for another one, or with an address from a lookup table. */
function transferOf(data: Buffer, accounts: readonly (string | undefined)[]): Payment["transfer"] {
  const isChecked = data[0] === transferChecked && data.length === 10;
  if (!isChecked && !(data[0] === plainTransfer && data.length === 9)) return null;
  const [source, ...rest] = accounts;
  const mint = isChecked ? rest.shift() : null;
  const [destination, authority] = rest;
  if (!source || mint === undefined || !destination || !authority) return null;
  const decimals = isChecked ? (data[9] ?? 0) : null;
  return { source, destination, mint, authority, amount: data.readBigUInt64LE(1), decimals };
}

/**
 * The account that pays network fees for donors, from its secret key of 64 bytes: base58, or a JSON array as Solana's own
 * tools write it. Null when the text is neither.
 */
export function openSponsor(secretKey: string) {
  const keypair = keypairOf(secretKey);
  if (keypair === null) return null;
  const address = keypair.publicKey.toBase58();
  return {
    address,
    /** Refuses another fee payer, and instructions that name the sponsor. Checked again, as it is the sponsor's money. */
    sign: (payment: Payment): Result<SignedPayment, NotSponsored> => {
      const refused = (why: string) => fail<NotSponsored>({ kind: "not_sponsored", why });
      const transaction = transactionOf(payment.bytes);
      if (transaction === null) return refused("the bytes are no Solana transaction");
      const { staticAccountKeys, compiledInstructions, addressTableLookups } = transaction.message;
      if (staticAccountKeys[0]?.equals(keypair.publicKey) !== true) {
        return refused("the fee payer is another account");
      }
      // The signature covers all instructions, so one that names the sponsor could spend its money.
      if (compiledInstructions.some(({ accountKeyIndexes }) => accountKeyIndexes.includes(0))) {
        return refused("an instruction names the sponsor");
      }
      if (addressTableLookups.length > 0) return refused("lookup tables may hide the sponsor");
      transaction.sign([keypair]);
      const contents = takeApart(transaction, transaction.serialize());
      const { tx_signature } = contents;
      return tx_signature === null
        ? refused("the signature is missing")
        : ok({ ...contents, tx_signature });
    },
  };
}

function keypairOf(secretKey: string): Keypair | null {
  try {
    const bytes = secretKey.startsWith("[")
      ? Uint8Array.from(z.array(z.int()).parse(JSON.parse(secretKey)))
      : bs58.decode(secretKey);
    // Throws unless the second half is the public key of the first.
    return Keypair.fromSecretKey(bytes);
  } catch {
    return null;
  }
}

type Failure = ChainUnclear | PaymentFails;

type Reason = string | null;

/** Runs a payment without sending it. A payment that has already landed passes. */
export async function simulate(rpc: Rpc, payment: Payment): Promise<Result<null, Failure>> {
  const options = { sigVerify: true, commitment: "confirmed" };
  const ran = await attempt(rpc, "simulateTransaction", payment, options, Simulation);
  if (!ran.ok) return ran;
  const { value: why } = ran.value;
  return why === null ? ok(null) : fail({ kind: "payment_fails", why });
}

/**
 * Sends a payment, without waiting until it lands. Succeeds if the node already has it. `payment_fails` only if the one
 * node that was asked refused it: after an attempt without an answer the outcome is unclear.
 */
export async function send(rpc: Rpc, payment: Payment): Promise<Result<null, Failure>> {
  const options = { preflightCommitment: "confirmed" };
  const attemptResult = await attempt(rpc, "sendTransaction", payment, options, Signature);
  if (!attemptResult.ok) return attemptResult;
  const { value: why, doubted } = attemptResult.value;
  if (why === null) return ok(null);
  // An attempt without an answer may have sent it, and a later refusal ("no funds") may be its effect.
  if (doubted) return fail({ kind: "chain_unclear", why: `refused after a doubt: ${why}` });
  return fail({ kind: "payment_fails", why });
}

const lagMs = 500;

async function attempt(
  rpc: Rpc,
  method: string,
  { bytes }: Payment,
  options: object,
  shape: z.ZodType<Reason>,
): Promise<Result<CallOutcome<Reason>, ChainUnclear>> {
  const params = [Buffer.from(bytes).toString("base64"), { encoding: "base64", ...options }];
  const ask = () => rpc.ask(method, params, (answer) => reasonIn(answer, shape));
  const firstAnswer = await ask();
  // The donor's node may be ahead of ours, so a node that does not know the blockhash is asked again, a slot later.
  if (
    !firstAnswer.ok ||
    firstAnswer.value.doubted ||
    firstAnswer.value.value !== "BlockhashNotFound"
  ) {
    return firstAnswer;
  }
  await Bun.sleep(lagMs);
  return ask();
}

/** Null for a transaction that succeeds or has already succeeded. */
const reasonOf = (err: z.infer<typeof TransactionError>): Reason => {
  if (err === null || err === "AlreadyProcessed") return null;
  return typeof err === "string" ? err : JSON.stringify(err);
};

const Simulation = z
  .object({ value: z.object({ err: TransactionError }) })
  .transform(({ value }) => reasonOf(value.err));

const Signature = z.string().transform(() => null);

/** Refusals of the transaction; any other code is a failure of the node. Source: Agave, rpc-client-api custom errors. */
const preflightFailure = -32_002;
const signatureFailure = -32_003;
const invalidParams = -32_602;
const Preflight = z.object({ err: TransactionError });

function reasonIn(answer: RpcAnswer, shape: z.ZodType<Reason>): Reading<Reason> {
  if (!("error" in answer)) {
    const read = shape.safeParse(answer.result);
    return read.success ? { clear: read.data } : { unclear: "an answer of another shape" };
  }
  const { code, message, data } = answer.error;
  if (code === preflightFailure) {
    const err = Preflight.safeParse(data);
    return { clear: err.success ? reasonOf(err.data.err) : message };
  }
  if (code === signatureFailure || code === invalidParams) return { clear: message };
  return { unclear: `RPC error ${code}` };
}
