import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { type BackupManifest, type BackupPart, type BackupPlace, DamagedBackup } from "./place.ts";

/** A part as it was written. Throws DamagedBackup where it is not. */
export async function readPart(
  place: BackupPlace,
  backup: string,
  { name, sha256 }: BackupPart,
): Promise<Uint8Array<ArrayBuffer>> {
  const body = await place.read(`${backup}/${name}`).catch((cause: unknown) => {
    throw new DamagedBackup(`${place.name}: ${backup}/${name} cannot be read`, { cause });
  });
  if (Bun.CryptoHasher.hash("sha256", body, "hex") === sha256) return body;
  throw new DamagedBackup(`${place.name}: ${backup}/${name} is not what was written there`);
}

/** Puts the store of a backup together in a new file, each part compared with its digest, and the whole too. */
export async function unpackStore(
  place: BackupPlace,
  { name, store }: Pick<BackupManifest, "name" | "store">,
  target: string,
): Promise<void> {
  const hasher = new Bun.CryptoHasher("sha256");
  const plain = createZstdDecompress();
  plain.on("data", (piece: Buffer) => hasher.update(piece));
  async function* pieces() {
    for (const part of store.parts) yield await readPart(place, name, part);
  }
  const out = createWriteStream(target, { flags: "wx", mode: 0o600, flush: true });
  await pipeline(Readable.from(pieces()), plain, out);
  if (hasher.digest("hex") !== store.sha256) {
    throw new DamagedBackup(`${place.name}: the store of ${name} is not what was written there`);
  }
}
