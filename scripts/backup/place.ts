import { sha256Of } from "#content/runtime/digest.ts";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { openThrottle } from "#content/runtime/timing.ts";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { CannotStart } from "#content/runtime/start-error.ts";
import { CopyFacts } from "#content/store/file-work.ts";
import {
  openS3Target,
  type ObjectStore,
  type S3Access,
  type S3Options,
  type UploadFailure,
} from "#site/delivery/upload-target.ts";

/** A stored file of a backup. */
const Part = z.object({
  name: z.string().regex(/^[\w-][\w.-]*$/),
  bytes: z.int(),
  sha256: z.string(),
});

/** The description of a backup. It is written last, so a backup without it is incomplete. */
export const BackupManifest = z.object({
  version: z.literal(1),
  /** The UTC time at which the backup began, which is also its name. */
  name: z.string(),
  software: z.string(),
  /** The store, compressed and cut into parts, in order. */
  store: z.object({ sha256: z.string(), bytes: z.int(), parts: z.array(Part).min(1) }),
  /** The sealed keys; null if they were left out. */
  keys: Part.nullable(),
  /** What the test restore found in it. */
  facts: CopyFacts,
});
export type BackupManifest = z.infer<typeof BackupManifest>;
export type BackupPart = z.infer<typeof Part>;

type Bytes = Uint8Array<ArrayBuffer>;

/** A place for backups, each under its name. Throws any failure; CannotStart if a bucket refuses or is away. */
export type BackupPlace = {
  readonly name: string;
  /** Names of complete backups, the oldest first. */
  names(): Promise<string[]>;
  read(path: string): Promise<Bytes>;
  write(path: string, body: Bytes): Promise<void>;
  remove(name: string): Promise<void>;
  /** Removes the files of incomplete backups that began over a day ago. */
  removeUnfinished(now: Date): Promise<void>;
};

/** The time in a backup's name, "2026-11-22T02-30-00-000Z", in milliseconds since 1970; NaN for another name. */
export const instantOf = (name: string): number => {
  const [, day, hour, minute, second] =
    /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d-\d{3})Z$/.exec(name) ?? [];
  return Date.parse(`${day}T${hour}:${minute}:${second?.replace("-", ".")}Z`);
};

/** The name of a backup that begins now. Names sort by time. */
export const nameAt = (now: Date): string => now.toISOString().replace(/[:.]/g, "-");

const unfinishedMs = 86_400_000;
/** A younger one may still be under way. */
const isLeft = (name: string, now: Date): boolean => now.getTime() - instantOf(name) > unfinishedMs;

const manifestFile = "manifest.json";

/** The files at the place differ from the manifest, or the manifest cannot be read. */
export class DamagedBackup extends Error {
  override name = "DamagedBackup";
}

/** Throws DamagedBackup, but CannotStart if the place does not answer, because then its contents are unknown. */
export function unreadable(place: BackupPlace, path: string, cause: unknown): never {
  if (cause instanceof CannotStart) throw cause;
  throw new DamagedBackup(`${place.name}: ${path} cannot be read`, { cause });
}

/** Reads the manifest of a backup. Throws DamagedBackup. */
export async function manifestOf(place: BackupPlace, name: string): Promise<BackupManifest> {
  const path = `${name}/${manifestFile}`;
  const manifest = await place
    .read(path)
    .then((bytes) => BackupManifest.parse(JSON.parse(new TextDecoder().decode(bytes))))
    .catch((cause: unknown) => unreadable(place, path, cause));
  if (manifest.name === name) return manifest;
  throw new DamagedBackup(
    `${place.name}: ${name} was called ${manifest.name} when it was made, and has to be again`,
  );
}

export const writeManifest = (place: BackupPlace, manifest: BackupManifest): Promise<void> =>
  place.write(
    `${manifest.name}/${manifestFile}`,
    new TextEncoder().encode(`${JSON.stringify(manifest, null, 1)}\n`),
  );

/** Opens a folder or a bucket. Returns a text if it cannot be used. */
export function openPlace(to: string, s3: S3Access, options: S3Options = {}): BackupPlace | string {
  if (!/^\w+:\/\//.test(to)) return folderPlace(to);
  const target = openS3Target(to, s3, options);
  return target.ok ? bucketPlace(target.value) : target.failure;
}

function folderPlace(folder: string): BackupPlace {
  const all = () => (existsSync(folder) ? readdirSync(folder).sort() : []);
  const isComplete = (name: string) =>
    !Number.isNaN(instantOf(name)) && existsSync(join(folder, name, manifestFile));
  const remove = (name: string) => rmSync(join(folder, name), { recursive: true, force: true });
  return {
    name: folder,
    names: async () => all().filter(isComplete),
    read: async (path) => new Uint8Array(readFileSync(join(folder, path))),
    write: async (path, body) => {
      const target = join(folder, path);
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
      await writeGently(target, body);
    },
    remove: async (name) => remove(name),
    removeUnfinished: async (now) =>
      all()
        .filter((name) => !isComplete(name) && isLeft(name, now))
        .forEach(remove),
  };
}

/** The service's commits on the same disk wait for the sync of at most one slice. */
const sliceBytes = 256 * 1_024;

/** Writes and syncs a new file slice by slice, with pauses, so that others come first. */
async function writeGently(path: string, body: Bytes): Promise<void> {
  await using file = await open(path, "wx", 0o600);
  const throttle = openThrottle();
  try {
    for (let at = 0; at < body.length; at += sliceBytes) {
      await file.appendFile(body.subarray(at, at + sliceBytes));
      await file.sync();
      await throttle();
    }
  } catch (error) {
    // The error does not name the file, which may be on another disk than the store.
    throw Object.assign(error as Error, { path });
  }
}

/** Holds the names of complete backups. */
const indexFile = "backups.json";
/** Holds the paths of the files of unfinished backups. */
const unfinishedFile = "unfinished.json";

const bucketRemedy =
  "Look at the store, the network and the settings ALMONER_S3_…; what lies there stays as it is.";

const backupOf = (path: string): string => path.split("/")[0] ?? "";

/** A writer may lack the right to list a bucket, so the bucket records the names of its contents in two files. */
function bucketPlace(target: ObjectStore): BackupPlace {
  const must = (failure: UploadFailure | null) => {
    if (failure !== null)
      throw new CannotStart(`${target.name}: ${failure.message}.`, bucketRemedy);
  };
  const put = async (path: string, body: Bytes) => {
    const sha256 = sha256Of(body);
    must(await target.put(path, body, { "x-amz-content-sha256": sha256 }));
  };
  const listIn = async (file: string): Promise<string[]> => {
    const answer = await target.get(file);
    if (answer.ok)
      return z.array(z.string()).parse(JSON.parse(new TextDecoder().decode(answer.value)));
    if (answer.failure.kind !== "missing") must(answer.failure);
    return [];
  };
  const setList = (file: string, all: Iterable<string>) =>
    put(file, new TextEncoder().encode(JSON.stringify([...new Set(all)].sort())));
  const read = async (path: string): Promise<Bytes> => {
    const file = await target.get(path);
    if (file.ok) return file.value;
    if (file.failure.kind !== "missing") must(file.failure);
    throw new Error(`${target.name}${path}: ${file.failure.message}`);
  };
  const filesOf = async (name: string): Promise<string[]> => {
    const { store, keys } = await manifestOf(place, name);
    return [...store.parts, ...(keys === null ? [] : [keys])].map((part) => `${name}/${part.name}`);
  };
  const removeFiles = async (paths: readonly string[]) => {
    for (const path of paths) must(await target.remove(path));
  };
  /** Removes backups from the list of unfinished ones, and the files of those that are not complete. */
  const dropUnfinished = async (isDropped: (name: string) => boolean) => {
    const unfinished = await listIn(unfinishedFile);
    const dropped = unfinished.filter((path) => isDropped(backupOf(path)));
    if (dropped.length === 0) return;
    const complete = await listIn(indexFile);
    await removeFiles(dropped.filter((path) => !complete.includes(backupOf(path))));
    await setList(
      unfinishedFile,
      unfinished.filter((path) => !dropped.includes(path)),
    );
  };
  const place: BackupPlace = {
    name: target.name,
    names: () => listIn(indexFile),
    read,
    write: async (path, body) => {
      // Recorded before it is written, so that a killed process leaves no unknown file.
      await setList(unfinishedFile, [...(await listIn(unfinishedFile)), path]);
      await put(path, body);
      const name = backupOf(path);
      if (path !== `${name}/${manifestFile}`) return;
      await setList(indexFile, [...(await listIn(indexFile)), name]);
      await dropUnfinished((other) => other === name);
    },
    remove: async (name) => {
      const names = await listIn(indexFile);
      if (!names.includes(name)) return dropUnfinished((other) => other === name);
      const files = await filesOf(name);
      await setList(
        indexFile,
        names.filter((other) => other !== name),
      );
      await removeFiles([`${name}/${manifestFile}`, ...files]);
    },
    removeUnfinished: (now) => dropUnfinished((name) => isLeft(name, now)),
  };
  return place;
}
