import { createReadStream, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import {
  copyFile,
  link,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  writeFile,
} from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { createHash } from "node:crypto";
import { z } from "zod";
import { BundlePath } from "#content/contract/feed.ts";
import { codeOf } from "#site/bundle/blobs.ts";
import { PublicKey } from "#content/feed/keys.ts";

/** What a mirror remembers between two runs. */
export const MirrorState = z.object({
  version: z.literal(1),
  /** The key that the origin showed first, or that the operator named: no other is trusted. */
  key: PublicKey,
  epoch: z.string(),
  /** The newest feed file that the mirror holds. */
  sequence: z.int().min(0),
  /** Files were being put in place and may be of two versions. */
  installing: z.boolean(),
  /** Files that the origin changed faster than they could be fetched; they are older than the list says. */
  behind: z.array(BundlePath),
});
export type MirrorState = z.infer<typeof MirrorState>;

/** The folder of a mirror, and the folder beside it where files are gathered before any is put in place. */
export type MirrorFolder = {
  readonly folder: string;
  /** Where gathered files, the state and the lock are: `<folder>.mirror`. */
  readonly side: string;
  state(): MirrorState | null;
  keepState(state: MirrorState): Promise<void>;
  /** Whether there is nothing yet. */
  isEmpty(): boolean;
  pathOf(path: string): string;
  /** Where a file with these bytes is gathered. */
  stagedPath(sha256: string): string;
  isStaged(sha256: string): boolean;
  /** Puts a gathered file in place at once; its gathered copy stays until `settle`. */
  put(path: string, sha256: string): Promise<void>;
  /** Writes a small file, at once. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  remove(path: string): Promise<void>;
  /** Every file in the folder, by its path. */
  files(): AsyncGenerator<string>;
  /** Brings everything onto the disk, keeps the state and forgets what was gathered. */
  settle(state: MirrorState): Promise<void>;
};

export function openMirrorFolder(given: string): MirrorFolder {
  const folder = resolve(given);
  const side = `${folder}.mirror`;
  mkdirSync(folder, { recursive: true });
  mkdirSync(join(side, "staged"), { recursive: true });
  const statePath = join(side, "state.json");
  const pathOf = (path: string) => join(folder, BundlePath.parse(path));
  const stagedPath = (sha256: string) => join(side, "staged", sha256);
  let drafts = 0;
  const keepState = async (state: MirrorState) => {
    const draft = `${statePath}.draft`;
    const file = await open(draft, "w");
    await file.writeFile(`${JSON.stringify(state)}\n`);
    await file.sync();
    await file.close();
    await rename(draft, statePath);
  };
  return {
    folder,
    side,
    state: () => {
      if (!existsSync(statePath)) return null;
      return MirrorState.parse(JSON.parse(readFileSync(statePath, "utf8")));
    },
    keepState,
    isEmpty: () => readdirSync(folder).length === 0,
    pathOf,
    stagedPath,
    isStaged: (sha256) => existsSync(stagedPath(sha256)),
    put: async (path, sha256) => {
      const target = pathOf(path);
      const draft = stagedPath(`put-${drafts++}.draft`);
      await mkdir(dirname(target), { recursive: true });
      await linkOrCopy(stagedPath(sha256), draft);
      await rename(draft, target);
      // Renaming a name of a file over another of its names does nothing and leaves the draft.
      await rm(draft, { force: true });
    },
    write: async (path, bytes) => {
      const draft = stagedPath(`put-${drafts++}.draft`);
      await writeFile(draft, bytes);
      await mkdir(dirname(pathOf(path)), { recursive: true });
      await rename(draft, pathOf(path));
    },
    remove: async (path) => {
      await rm(pathOf(path), { force: true });
      await removeEmptyFolders(folder, dirname(pathOf(path)));
    },
    files: () => filesIn(folder, ""),
    settle: async (state) => {
      // One sync of the file system instead of one per file; where there is none, the state alone is synced.
      await Bun.spawn(["sync", "-f", folder], { stdio: ["ignore", "ignore", "ignore"] }).exited;
      await keepState(state);
      await rm(join(side, "staged"), { recursive: true, force: true });
      await mkdir(join(side, "staged"));
    },
  };
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  await rm(to, { force: true });
  try {
    await link(from, to);
  } catch {
    // Some file systems know no second names, and others only so many of them.
    await copyFile(from, to);
  }
}

async function removeEmptyFolders(root: string, from: string): Promise<void> {
  for (let folder = from; folder.length > root.length; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch (error) {
      if (["ENOTEMPTY", "EEXIST", "ENOENT"].includes(codeOf(error))) return;
      throw error;
    }
  }
}

async function* filesIn(folder: string, prefix: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory()) yield* filesIn(join(folder, entry.name), `${path}/`);
    else yield path;
  }
}

/** SHA-256 of a file in hexadecimal, null when it is not there. */
export async function digestOfFile(path: string): Promise<string | null> {
  const hasher = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path)) hasher.update(chunk as Uint8Array);
    return hasher.digest("hex");
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return null;
    throw error;
  }
}

/** Runs `work` for each item, at most `limit` at a time; the first error stops the rest and is thrown. */
export async function eachLimited<Item>(
  items: Iterable<Item>,
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  let stopped = false;
  const hand = async () => {
    for (let next = waiting.next(); next.done !== true && !stopped; next = waiting.next()) {
      try {
        await work(next.value);
      } catch (error) {
        stopped = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, hand));
}
