import type { MicroUsdc } from "#content/contract/transfer.ts";
import { usdcText } from "./money.ts";

export type TransferRequest = {
  recipient: string;
  amount: MicroUsdc;
  /** The token. */
  mint: string;
  /** An account by which the transfer is found. */
  reference: string;
  memo: string;
  /** Whose wallet it is, for the donor's eyes: third-party text. */
  label: string;
};

/** A longer name makes the QR code too fine for some cameras. */
const labelLengthMax = 60;
/** Halves of characters among them, as a cut leaves them. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** A Solana Pay link, for wallets and QR codes. Source: Solana Pay specification 1.1, Transfer Request. */
export function solanaPayLink(asked: TransferRequest): string {
  const shown = asked.label.replaceAll(hidden, "").slice(0, labelLengthMax).replaceAll(hidden, "");
  const query: readonly [string, string][] = [
    ["amount", usdcText(asked.amount)],
    ["spl-token", asked.mint],
    ["reference", asked.reference],
    ["memo", asked.memo],
    ["label", shown.trim()],
  ];
  const parts = query.filter(([, value]) => value !== "");
  return `solana:${asked.recipient}?${parts.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}`;
}
