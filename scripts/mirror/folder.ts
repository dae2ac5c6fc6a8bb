import { createReadStream, existsSync, mkdirSync, readdirSync } from "node:fs";
import { mkdir, open, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { createHash } from "node:crypto";
import { z } from "zod";
import { BundlePath } from "#content/contract/feed.ts";
import { codeOf } from "#site/bundle/blobs.ts";
import { everyPath } from "#content/runtime/every-path.ts";
import { openExport } from "#site/bundle/export-folder.ts";
import { PublicKey } from "#content/feed/signing-keys.ts";
import { stop } from "./origin.ts";

/** What a mirror remembers between two runs. */
export const MirrorState = z.object({
  version: z.literal(1),
  /** The key that the origin showed first, or that the operator named: no other is trusted. */
  key: PublicKey,
  epoch: z.string(),
  /** The newest feed file that the mirror holds. */
  sequence: z.int().min(0),
  /** The number of the newest list that was taken; null for one of version 0.3.0, which had none. */
  list: z.int().nullable().default(null),
  /** Files were being put in place and may be of two versions. */
  installing: z.boolean(),
  /** Files that the origin changed faster than they could be fetched; they are older than the list says. */
  behind: z.array(BundlePath),
});
export type MirrorState = z.infer<typeof MirrorState>;

export type MirrorFolder = ReturnType<typeof openMirrorFolder>;

/** The folder of a mirror, and the folder beside it where files are gathered before any is put in place. */
export function openMirrorFolder(given: string) {
  const folder = resolve(given);
  /** Where gathered files, the state and the lock are. */
  const side = `${folder}.mirror`;
  const stagedFolder = join(side, "staged");
  const shown = openExport(folder);
  mkdirSync(stagedFolder, { recursive: true });
  const statePath = join(side, "state.json");
  const pathOf = (path: string): string => join(folder, BundlePath.parse(path));
  /** Where a file with these bytes is gathered. */
  const stagedPath = (sha256: string): string => join(stagedFolder, sha256);
  const saveState = async (state: MirrorState): Promise<void> => {
    const draft = `${statePath}.draft`;
    const file = await open(draft, "w");
    await file.writeFile(`${JSON.stringify(state)}\n`);
    await file.sync();
    await file.close();
    await rename(draft, statePath);
  };
  return {
    side,
    pathOf,
    stagedPath,
    saveState,
    /** Null before the first run. A damaged one ends the run: it holds the key that is pinned. */
    state: async (): Promise<MirrorState | null> =>
      existsSync(statePath)
        ? ((await readShape(statePath, MirrorState)) ?? stop({ kind: "damaged", path: statePath }))
        : null,
    /** Whether there is nothing yet. */
    isEmpty: (): boolean => readdirSync(folder).length === 0,
    isStaged: (sha256: string): boolean => existsSync(stagedPath(sha256)),
    /** Puts a gathered file in place; its gathered copy stays until `finish`. */
    put: (path: string, sha256: string): void =>
      shown.put(BundlePath.parse(path), stagedPath(sha256)),
    /** Writes a small file. */
    write: async (path: string, bytes: Uint8Array): Promise<void> => {
      const draft = stagedPath("small.draft");
      await writeFile(draft, bytes);
      await mkdir(dirname(pathOf(path)), { recursive: true });
      await rename(draft, pathOf(path));
    },
    remove: async (path: string): Promise<void> => {
      shown.remove(BundlePath.parse(path));
      await removeEmptyFolders(folder, dirname(pathOf(path)));
    },
    /** Every file in the folder, by its path. */
    files: () => everyPath(folder),
    /** Brings everything onto the disk, stores the state and forgets what was gathered. */
    finish: async (state: MirrorState): Promise<void> => {
      // One sync of the file system instead of one per file; where there is none, the state alone is synced.
      await Bun.spawn(["sync", "-f", folder], { stdio: ["ignore", "ignore", "ignore"] }).exited;
      await saveState(state);
      await rm(stagedFolder, { recursive: true, force: true });
      await mkdir(stagedFolder);
    },
  };
}

/** What a JSON file holds; null when there is none, or one of another form. */
export async function readShape<Shape extends z.ZodType>(
  path: string,
  shape: Shape,
): Promise<z.output<Shape> | null> {
  try {
    return shape.parse(JSON.parse(await readFile(path, "utf8")));
  } catch {
    return null;
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
