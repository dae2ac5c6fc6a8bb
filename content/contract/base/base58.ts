import bs58 from "bs58";

const base58LengthMax = 100;

/** The bytes of a base58 text that is exactly this long, null for any other: 32 bytes are an account, 64 a signature. */
export function base58Bytes(text: string, bytes: 32 | 64): Uint8Array | null {
  // Decoding takes the square of the length.
  if (text.length > base58LengthMax) return null;
  const decoded = bs58.decodeUnsafe(text);
  return decoded?.length === bytes ? decoded : null;
}

export const base58Text = (bytes: Uint8Array): string => bs58.encode(bytes);
