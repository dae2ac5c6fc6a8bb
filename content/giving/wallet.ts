import { createPublicKey, verify } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { base58Bytes } from "#content/contract/transfer.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import addresses from "#content/editorial/not-wallets.json";

/** An address that can hold a nonprofit's USDC. */
export type Wallet = {
  address: string;
  /** False for an address that has no key: a multisig vault or another program's account. */
  onCurve: boolean;
};

/** Addresses of 32 bytes where money would be lost: programs, mints and the incinerator. Solana's own end in ones. */
const notWallets = new Map(Object.entries(addresses));

/** Reads a Solana address: base58 of 32 bytes where someone can hold money. */
export function readWallet(text: string): Result<Wallet, string> {
  const address = text.trim();
  const bytes = base58Bytes(address, 32);
  if (bytes === null) {
    const message = "usdc_wallet is a Solana address: base58 of 32 bytes, 32 to 44 characters.";
    return fail(message);
  }
  const whose =
    notWallets.get(address) ?? (/1{12}$/.test(address) ? "an address of Solana itself" : undefined);
  if (whose !== undefined) return fail(`This is ${whose}, not a wallet.`);
  const point = pointOf(bytes);
  // Anyone can make signatures that fit a key of small order.
  if (point?.isSmallOrder() === true) return fail("No wallet has this address.");
  return ok({ address, onCurve: point !== null });
}

/** Whether the wallet's key signed this text. `signature` is base58 of 64 bytes; any other text gives false. */
export function signedByWallet(wallet: Wallet, text: string, signature: string): boolean {
  const bytes = base58Bytes(signature, 64);
  return bytes !== null && wallet.onCurve && isSignedBy(wallet.address, Buffer.from(text), bytes);
}

/** Whether the key of an address signed these bytes; false for an address that has no key. */
export function isSignedBy(address: string, signed: Uint8Array, signature: Uint8Array): boolean {
  try {
    const x = Buffer.from(base58Bytes(address, 32) ?? []).toString("base64url");
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    return verify(null, signed, key, signature);
  } catch {
    return false;
  }
}

function pointOf(bytes: Uint8Array) {
  try {
    return ed25519.Point.fromBytes(bytes);
  } catch {
    return null;
  }
}
