import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";

/** Files named by the SHA-256 of their content: what releases share with each other. */
export type Blobs = ReturnType<typeof openBlobs>;

/** Files of the export are the same inodes: anyone who edits one in place would change every release that shares it. */
const blobMode = 0o444;

/** Writes pieces into a file, none beyond `bytesMax`; answers the SHA-256 and the size of all there are until then. */
export async function writeHashed(
  pieces: AsyncIterable<Uint8Array>,
  target: string,
  bytesMax = Infinity,
): Promise<{ digest: string; size: number }> {
  const hasher = new Bun.CryptoHasher("sha256");
  let size = 0;
  const file = await open(target, "w");
  try {
    for await (const piece of pieces) {
      size += piece.length;
      if (size > bytesMax) break;
      hasher.update(piece);
      await file.writeFile(piece);
    }
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return { digest: hasher.digest("hex"), size };
}

export const digestOf = (body: Uint8Array): string => Bun.CryptoHasher.hash("sha256", body, "hex");

/**
 * Opens (and makes) the blob folder. With `onDamaged` content that is there already is compared, and written again
 * where somebody changed it.
 */
export function openBlobs(folder: string, onDamaged?: (digest: string) => void) {
  for (let at = 0; at < 256 && !existsSync(join(folder, "ff")); at++) {
    mkdirSync(join(folder, at.toString(16).padStart(2, "0")), { recursive: true });
  }
  const pathOf = (digest: string) => `${folder}/${digest.slice(0, 2)}/${digest.slice(2)}`;
  let written = 0;
  const replace = (path: string, body: Uint8Array) => {
    const draft = `${folder}/${process.pid}-${written++}.draft`;
    try {
      writeFileSync(draft, body, { mode: blobMode });
      renameSync(draft, path);
    } catch (error) {
      // On a full disk each attempt would leave another half file behind.
      rmSync(draft, { force: true });
      throw error;
    }
  };
  return {
    folder,
    pathOf,
    /** Writes content once, under its digest; answers the digest in hexadecimal. */
    put: (body: Uint8Array): string => {
      const digest = digestOf(body);
      const path = pathOf(digest);
      if (!existsSync(path)) {
        replace(path, body);
      } else if (onDamaged !== undefined && !readFileSync(path).equals(body)) {
        onDamaged(digest);
        replace(path, body);
      }
      return digest;
    },
    read: (digest: string): Buffer => readFileSync(pathOf(digest)),
    has: (digest: string): boolean => existsSync(pathOf(digest)),
    remove: (digest: string): void => rmSync(pathOf(digest), { force: true }),
  };
}

/** Removes what a process that was killed was about to put in place. Only while no other process publishes. */
export function removeDrafts(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (/^\.?\d+-[^/]*\.draft$/.test(name)) rmSync(join(folder, name), { force: true });
  }
}

export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";
