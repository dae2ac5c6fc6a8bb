import { sha256Bytes } from "#content/runtime/digest.ts";
import { createHmac, timingSafeEqual } from "node:crypto";
import { type MicroUsdc, base58Text } from "#content/contract/transfer.ts";
import { micro, usdcText } from "#content/contract/base/money.ts";

/** The content of a memo: which nonprofit was to be paid, how much, and when the request was made. */
export type DonationMemo = {
  nonprofit_id: number;
  /** The amount asked for. */
  amount: MicroUsdc;
  /** Seconds since 1970. */
  issued_at_s: number;
  /** 24 bits that distinguish requests of the same second. */
  nonce: number;
};

/** The key with which memos are sealed, and the chain for which they count. */
export type MemoSeal = {
  key: Uint8Array;
  /** CAIP-2 id: a memo of devnet is not valid on mainnet. */
  network: string;
};

const headBytes = 16;
const sealBytes = 4;
const memoForm = /^[A-Za-z0-9_-]{32}$/;

/**
 * Writes the memo of a donor's transfer: 32 characters of base64url. It holds everything that was asked for, so that nothing
 * is stored before someone pays. Layout in bytes: nonprofit 4, amount 5, seconds 4, nonce 3, seal 4, seal of the wallet 4.
 * See docs/decisions/24-memos.md.
 */
export function writeMemo(memo: DonationMemo, recipient: string, seal: MemoSeal): string {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(memo.nonprofit_id, 0);
  head.writeUIntBE(Number(memo.amount), 4, 5);
  head.writeUInt32BE(memo.issued_at_s, 9);
  head.writeUIntBE(memo.nonce & 0xff_ff_ff, 13, 3);
  return Buffer.concat([head, sealOf(head, "", seal), sealOf(head, recipient, seal)]).toString(
    "base64url",
  );
}

/** Reads a memo; null for a text that we did not seal. Compares in constant time. */
export function readMemo(text: string, seal: MemoSeal): DonationMemo | null {
  const parts = partsOf(text);
  if (parts === null || !timingSafeEqual(parts.own, sealOf(parts.head, "", seal))) return null;
  const { head } = parts;
  return {
    nonprofit_id: head.readUInt32BE(0),
    amount: micro(BigInt(head.readUIntBE(4, 5))),
    issued_at_s: head.readUInt32BE(9),
    nonce: head.readUIntBE(13, 3),
  };
}

/** Whether a memo of ours asked to pay this wallet. */
export function asksToPay(text: string, recipient: string, seal: MemoSeal): boolean {
  const parts = partsOf(text);
  return parts !== null && timingSafeEqual(parts.wallet, sealOf(parts.head, recipient, seal));
}

function partsOf(text: string): { head: Buffer; own: Buffer; wallet: Buffer } | null {
  if (!memoForm.test(text)) return null;
  const bytes = Buffer.from(text, "base64url");
  const ownEnd = headBytes + sealBytes;
  return {
    head: bytes.subarray(0, headBytes),
    own: bytes.subarray(headBytes, ownEnd),
    wallet: bytes.subarray(ownEnd),
  };
}

const sealOf = (head: Uint8Array, recipient: string, { key, network }: MemoSeal): Buffer =>
  createHmac("sha256", key)
    .update(head)
    .update(`\n${network}\n${recipient}`)
    .digest()
    .subarray(0, sealBytes);

/**
 * The Solana Pay reference of a transfer: an account derived from the memo, to which no one holds a key. The transfer names
 * it and can be found on chain by the memo alone.
 */
export const referenceOf = (memo: string): string =>
  base58Text(sha256Bytes(`almoner donation reference\n${memo}`));

export type TransferRequest = {
  recipient: string;
  amount: MicroUsdc;
  /** Address of the token's mint. */
  mint: string;
  /** An account by which the transfer can be found. */
  reference: string;
  memo: string;
  /** The name shown to the donor: third-party text. */
  label: string;
};

/** A longer name makes the QR code too fine for some cameras. */
const labelLengthMax = 60;
/** Invisible characters, and halves of surrogate pairs that cutting a text can leave. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** A Solana Pay link, for wallets and QR codes. Source: Solana Pay specification 1.1, Transfer Request. */
export function solanaPayLink(request: TransferRequest): string {
  const label = request.label
    .replaceAll(hidden, "")
    .slice(0, labelLengthMax)
    .replaceAll(hidden, "");
  const query: readonly [string, string][] = [
    ["amount", usdcText(request.amount)],
    ["spl-token", request.mint],
    ["reference", request.reference],
    ["memo", request.memo],
    ["label", label.trim()],
  ];
  const parts = query.filter(([, value]) => value !== "");
  return `solana:${request.recipient}?${parts.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}`;
}
