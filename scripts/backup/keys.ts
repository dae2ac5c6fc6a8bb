import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const magic = "almoner keys 1\n";
const saltBytes = 16;
const ivBytes = 12;
const tagBytes = 16;
/** Each guess at the passphrase costs 64 MB and a tenth of a second. */
const cost = { N: 65_536, r: 8, p: 1, maxmem: 128 * 1_024 * 1_024 };

/** The passphrase is wrong, or the sealed keys were changed. */
export class WrongPassphrase extends Error {
  override name = "WrongPassphrase";
}

/** The secrets of a data folder: the contents of its files, by name. */
export type Keys = Record<string, string>;

/** The folder in which the service looks for secrets. */
export const folderIn = (dataDir: string) => join(dataDir, "secrets");

/** The keys of a data folder; none before its first start. */
export function readKeys(dataDir: string): Keys {
  const folder = folderIn(dataDir);
  if (!existsSync(folder)) return {};
  const names = readdirSync(folder).filter((name) => !name.startsWith("."));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

/** Writes keys into a folder, readable only by its owner. */
export function writeKeys(folder: string, keys: Keys): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [name, text] of Object.entries(keys)) {
    if (!/^[\w-][\w.-]*$/.test(name)) throw new Error(`${name} is no name of a key`);
    writeFileSync(join(folder, name), text, { mode: 0o600, flag: "wx", flush: true });
  }
}

/** Seals keys with a passphrase: scrypt, then AES-256-GCM over their names and texts. */
export function sealKeys(keys: Keys, passphrase: string): Uint8Array<ArrayBuffer> {
  const salt = randomBytes(saltBytes);
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv("aes-256-gcm", scryptSync(passphrase, salt, 32, cost), iv);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(keys), "utf8"), cipher.final()]);
  return new Uint8Array(Buffer.concat([Buffer.from(magic), salt, iv, cipher.getAuthTag(), sealed]));
}

/** Opens sealed keys. Throws WrongPassphrase. */
export function openKeys(sealed: Uint8Array, passphrase: string): Keys {
  const bytes = Buffer.from(sealed);
  let at = magic.length;
  const next = (length: number) => bytes.subarray(at, (at += length));
  const salt = next(saltBytes);
  const iv = next(ivBytes);
  const tag = next(tagBytes);
  try {
    const key = scryptSync(passphrase, salt, 32, cost);
    const decipher = createDecipheriv("aes-256-gcm", key, iv).setAuthTag(tag);
    const text = Buffer.concat([decipher.update(bytes.subarray(at)), decipher.final()]);
    return JSON.parse(text.toString("utf8")) as Keys;
  } catch (cause) {
    throw new WrongPassphrase(
      "ALMONER_BACKUP_PASSPHRASE does not open the keys of this backup, or they are damaged",
      { cause },
    );
  }
}
