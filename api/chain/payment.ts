import { createPublicKey, verify } from "node:crypto";
import { type MessageCompiledInstruction, VersionedTransaction } from "@solana/web3.js";
import bs58 from "bs58";
import type { Result } from "#content/contract/result.ts";
import { fail, ok } from "#content/contract/result.ts";
import type { Payment } from "./chain.ts";
import { programs } from "./programs.ts";

/** The largest transaction that fits a packet. Source: Solana, PACKET_DATA_SIZE. */
const bytesMax = 1_232;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Takes a base64 transaction, legacy or v0, apart. Signatures are verified; nothing else is judged. */
export function readPayment(
  text: string,
): Result<Payment, { kind: "payment_malformed"; why: string }> {
  const malformed = (why: string) => fail({ kind: "payment_malformed" as const, why });
  if (!base64.test(text) || text.length > Math.ceil(bytesMax / 3) * 4) {
    return malformed("the transaction is no base64 of at most 1232 bytes");
  }
  const bytes = new Uint8Array(Buffer.from(text, "base64"));
  const transaction = transactionOf(bytes);
  if (transaction === null) return malformed("the bytes are no Solana transaction");
  return ok(takeApart(transaction, bytes));
}

/** The transaction in the bytes, null when they hold anything but one whole, sound transaction. */
export function transactionOf(bytes: Uint8Array): VersionedTransaction | null {
  if (bytes.length > bytesMax) return null;
  try {
    const transaction = VersionedTransaction.deserialize(bytes);
    const { header, staticAccountKeys, compiledInstructions, addressTableLookups } =
      transaction.message;
    const hidden = addressTableLookups.reduce(
      (sum, one) => sum + one.readonlyIndexes.length + one.writableIndexes.length,
      0,
    );
    const accounts = staticAccountKeys.length + hidden;
    const sound =
      header.numRequiredSignatures >= 1 &&
      header.numRequiredSignatures === transaction.signatures.length &&
      header.numRequiredSignatures <= staticAccountKeys.length &&
      // The chain loads no account twice; a second name for the sponsor would hide it from its guards.
      new Set(staticAccountKeys.map(String)).size === staticAccountKeys.length &&
      compiledInstructions.every(
        (one) =>
          // A program's address may not hide in a table.
          one.programIdIndex < staticAccountKeys.length &&
          one.accountKeyIndexes.every((index) => index < accounts),
      );
    // What is broadcast must be what was read: trailing bytes and odd encodings are refused.
    return sound && Buffer.from(transaction.serialize()).equals(bytes) ? transaction : null;
  } catch {
    return null;
  }
}

/** A transaction as a payment. `bytes` are those that it was read from. */
export function takeApart(transaction: VersionedTransaction, bytes: Uint8Array): Payment {
  const { message, signatures } = transaction;
  const keys = message.staticAccountKeys.map((key) => key.toBase58());
  const signers = keys.slice(0, message.header.numRequiredSignatures);
  const isThere = (at: number) => signatures[at]?.some((byte) => byte !== 0) === true;
  const signed = message.serialize();
  const badly = (signer: string, at: number) =>
    isThere(at) && !fits(signatures[at], signed, signer);
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

/** How a raw Ed25519 public key begins in SPKI form. Source: RFC 8410. */
const spkiHeadHex = "302a300506032b6570032100";
const spkiHead = Buffer.from(spkiHeadHex, "hex");

function fits(signature: Uint8Array | undefined, signed: Uint8Array, signer: string): boolean {
  try {
    const der = Buffer.concat([spkiHead, bs58.decode(signer)]);
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    return signature !== undefined && verify(null, signed, key, signature);
  } catch {
    return false;
  }
}

type Contents = Pick<
  Payment,
  "compute_units" | "compute_unit_price" | "transfer" | "memos" | "other_programs"
>;

/** Source: discriminators of the compute budget program and of the token program. */
const setComputeUnitLimit = 2;
const setComputeUnitPrice = 3;
const plainTransfer = 3;
const transferChecked = 12;

function contentsOf(instructions: readonly MessageCompiledInstruction[], keys: string[]): Contents {
  const found: Contents = {
    compute_units: null,
    compute_unit_price: null,
    transfer: null,
    memos: [],
    other_programs: [],
  };
  const memos: string[] = [];
  const others: string[] = [];
  for (const instruction of instructions) {
    const program = keys[instruction.programIdIndex] ?? "";
    const data = Buffer.from(instruction.data);
    // Said twice, it is none of ours: who reads the first and who reads the last would see another fee.
    if (
      program === budget &&
      data[0] === setComputeUnitLimit &&
      data.length === 5 &&
      found.compute_units === null
    ) {
      found.compute_units = data.readUInt32LE(1);
    } else if (
      program === budget &&
      data[0] === setComputeUnitPrice &&
      data.length === 9 &&
      found.compute_unit_price === null
    ) {
      found.compute_unit_price = data.readBigUInt64LE(1);
    } else if (program === memo || program === memoV1) {
      memos.push(data.toString("utf8"));
    } else {
      const transfer =
        program === token && found.transfer === null ? transferOf(instruction, data, keys) : null;
      if (transfer === null) others.push(program);
      else found.transfer = transfer;
    }
  }
  return { ...found, memos, other_programs: others };
}

const budget = programs.computeBudget.toBase58();
const memo = programs.memo.toBase58();
const memoV1 = programs.memoV1.toBase58();
const token = programs.token.toBase58();

/** The transfer that an instruction of the token program is; null for any other, and when an address hides in a table. */
function transferOf(
  { accountKeyIndexes }: MessageCompiledInstruction,
  data: Buffer,
  keys: readonly string[],
): Payment["transfer"] {
  const accounts = accountKeyIndexes.map((index) => keys[index]);
  if (data[0] === transferChecked && data.length === 10) {
    const [source, mint, destination, authority] = accounts;
    if (!source || !mint || !destination || !authority) return null;
    return {
      source,
      destination,
      mint,
      authority,
      amount: data.readBigUInt64LE(1),
      decimals: data[9] ?? 0,
    };
  }
  if (data[0] === plainTransfer && data.length === 9) {
    const [source, destination, authority] = accounts;
    if (!source || !destination || !authority) return null;
    return {
      source,
      destination,
      mint: null,
      authority,
      amount: data.readBigUInt64LE(1),
      decimals: null,
    };
  }
  return null;
}
