import { createPrivateKey, createPublicKey } from "node:crypto";
import {
  base64url,
  calculateJwkThumbprint,
  CompactSign,
  compactVerify,
  decodeProtectedHeader,
  exportJWK,
  importJWK,
} from "jose";
import { z } from "zod";

/** 32 bytes in base64url: a key, or its RFC 7638 thumbprint, which is its id. */
const thumbprint = /^[A-Za-z0-9_-]{43}$/;

/** A public Ed25519 key. Source: RFC 8037. */
export const PublicKey = z.object({
  kty: z.literal("OKP"),
  crv: z.literal("Ed25519"),
  x: z.string().regex(thumbprint, "32 bytes in base64url"),
  kid: z.string().min(1).max(128),
});
export type PublicKey = z.infer<typeof PublicKey>;

export const publicKeysMax = 16;

/** The file /.well-known/almoner-keys.json: a JWK set, RFC 7517. */
export const KeySet = z.object({ keys: z.array(PublicKey).min(1).max(publicKeysMax) });
export type KeySet = z.infer<typeof KeySet>;

/** Signs what the directory vouches for: the list of all files, and receipts. */
export type Signer = {
  readonly publicKey: PublicKey;
  /** A detached JWS over these bytes. Equal bytes and keys give equal signatures. */
  sign(payload: Uint8Array): Promise<string>;
};

/**
 * Opens an Ed25519 private key, PKCS#8 in PEM. Its id is its RFC 7638 thumbprint. Throws if it is another kind of key,
 * without quoting it.
 */
export async function openSigner(pem: string): Promise<Signer> {
  const key = privateKeyOf(pem);
  const { x = "" } = await exportJWK(createPublicKey(key));
  const publicKey = await publicKeyOf(x);
  return {
    publicKey,
    sign: async (payload) => {
      const whole = await new CompactSign(payload)
        .setProtectedHeader({ alg: "EdDSA", kid: publicKey.kid })
        .sign(key);
      const [header, , signature] = whole.split(".");
      return `${header}..${signature}`;
    },
  };
}

/** A compact JWS of a text: a detached one with the payload inserted. */
export async function signCompact(text: string, signer: Signer): Promise<string> {
  const payload = Buffer.from(text);
  return (await signer.sign(payload)).replace("..", `.${payload.toString("base64url")}.`);
}

function privateKeyOf(pem: string) {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // Leave the cause out: it may quote the key.
  }
  throw new Error("the signing key is not an Ed25519 private key in PKCS#8 PEM form");
}

/** Whether this key made a detached JWS (RFC 7515, appendix F) over these bytes. */
export async function isSignatureOf(
  jws: string,
  payload: Uint8Array,
  publicKey: PublicKey,
): Promise<boolean> {
  const [header = "", between, signature = "", ...rest] = jws.trim().split(".");
  if (between !== "" || rest.length > 0) return false;
  try {
    const key = await importJWK({ ...publicKey, alg: "EdDSA" });
    await compactVerify(`${header}.${base64url.encode(payload)}.${signature}`, key, {
      algorithms: ["EdDSA"],
    });
    return true;
  } catch {
    return false;
  }
}

/** The key id that a detached JWS names; null if it names none, or an invalid one. Proves nothing. */
export function keyIdOf(jws: string): string | null {
  try {
    const { kid = "" } = decodeProtectedHeader(jws.trim());
    return thumbprint.test(kid) ? kid : null;
  } catch {
    return null;
  }
}

/** The public key with this 32-byte value in base64url, and its id. */
export async function publicKeyOf(x: string): Promise<PublicKey> {
  const publicJwk = { kty: "OKP", crv: "Ed25519", x } as const;
  return PublicKey.parse({ ...publicJwk, kid: await calculateJwkThumbprint(publicJwk) });
}

/** The file of keys: the current key first, then older ones, which verify older receipts. */
export const keySetOf = (
  { publicKey }: Pick<Signer, "publicKey">,
  older: readonly PublicKey[] = [],
): string => {
  const keys = [publicKey, ...older.filter(({ kid }) => kid !== publicKey.kid)];
  return `${JSON.stringify({ keys: keys.map((key) => ({ ...key, use: "sig", alg: "EdDSA" })) })}\n`;
};
