import { ed25519 } from "@noble/curves/ed25519.js";
import bs58 from "bs58";

export type TestWallet = ReturnType<typeof aWallet>;

/** A wallet whose key the test holds. */
export function aWallet() {
  const secret = ed25519.utils.randomSecretKey();
  return {
    address: bs58.encode(ed25519.getPublicKey(secret)),
    /** Base58 signature of a text. */
    sign: (text: string) => bs58.encode(ed25519.sign(new TextEncoder().encode(text), secret)),
  };
}
