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
import { dirname, join } from "node:path";

/** Files named by the SHA-256 of their content: what releases share with each other. */
export type Blobs = ReturnType<typeof openBlobs>;

export type BlobsOptions = { exclusive?: boolean; onDamaged?: (digest: string) => void };

/** Files of the export are the same inodes: anyone who edits one in place would change every release that shares it. */
const blobMode = 0o444;

/** Writes pieces into a file; answers the SHA-256 and the size of all. */
export async function writeHashed(
  pieces: AsyncIterable<Uint8Array>,
  target: string,
): Promise<{ digest: string; size: number }> {
  const hasher = new Bun.CryptoHasher("sha256");
  let size = 0;
  const file = await open(target, "w");
  try {
    for await (const piece of pieces) {
      size += piece.length;
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

export const digestOf = (body: Uint8Array | string): string =>
  Bun.CryptoHasher.hash("sha256", body, "hex");

/**
 * Opens (and makes) the blob folder. With `exclusive`, for a full build into a folder no one reads yet, content is
 * written straight under its name, one system call less per file; a build that was cut off must then be followed by
 * removing what no release names. With `onDamaged` content that is there already is compared, and written again where
 * somebody changed it.
 */
export function openBlobs(folder: string, { exclusive = false, onDamaged }: BlobsOptions = {}) {
  if (!existsSync(join(folder, "ff"))) makeFolders(folder);
  const pathOf = (digest: string) => `${folder}/${digest.slice(0, 2)}/${digest.slice(2)}`;
  let written = 0;
  const replace = (path: string, body: Uint8Array) => {
    const draft = `${folder}/${process.pid}-${written++}.draft`;
    try {
      // Somebody may have removed folders of ours.
      if (!existsSync(dirname(path))) makeFolders(folder);
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
      if (exclusive) {
        writeOnce(path, body);
      } else if (!existsSync(path)) {
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
    clear: (): void => {
      rmSync(folder, { recursive: true, force: true });
      makeFolders(folder);
    },
  };
}

function makeFolders(folder: string): void {
  for (let at = 0; at < 256; at++) {
    mkdirSync(join(folder, at.toString(16).padStart(2, "0")), { recursive: true });
  }
}

function writeOnce(path: string, body: Uint8Array): void {
  try {
    writeFileSync(path, body, { flag: "wx", mode: blobMode });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** Removes what a process that was killed was about to put in place. Only while no other process publishes. */
export function removeDrafts(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (/^\.?\d+-[^/]*\.draft$/.test(name)) {
      rmSync(join(folder, name), { force: true, recursive: true });
    }
  }
}

export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";
