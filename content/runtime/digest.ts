import { readFileSync } from "node:fs";
import { join } from "node:path";

type Body = string | Uint8Array;

/** SHA-256 as text. */
export const sha256Of = (body: Body, encoding: "hex" | "base64" | "base64url" = "hex"): string =>
  Bun.CryptoHasher.hash("sha256", body, encoding);

/** SHA-256 as 32 bytes. */
export const sha256Bytes = (body: Body): Buffer => Bun.CryptoHasher.hash("sha256", body);

/** SHA-256 of data in pieces. */
export const sha256Stream = () => new Bun.CryptoHasher("sha256");

/** SHA-256 of a file in hexadecimal, without holding the whole file in memory. */
export async function sha256OfFile(path: string): Promise<string> {
  const hasher = sha256Stream();
  // A stream of node:fs costs five times as much for a small file.
  for await (const piece of Bun.file(path).stream()) hasher.update(piece);
  return hasher.digest("hex");
}

/** SHA-256 in hexadecimal of the names and contents of files in a folder, in this order. */
export function sha256OfFiles(folder: string, paths: readonly string[]): string {
  const hasher = sha256Stream();
  for (const path of paths) {
    const body = readFileSync(join(folder, path));
    hasher.update(`${path}\0${body.length}\0`).update(body);
  }
  return hasher.digest("hex");
}

/** The digest that is stored instead of a secret. */
export const secretDigest = (secret: string): string => sha256Of(secret, "base64url");
