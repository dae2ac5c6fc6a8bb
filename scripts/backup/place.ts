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

/** What a backup is, written last: one without it is not complete. */
export const BackupManifest = z.object({
  version: z.literal(1),
  /** The UTC time at which it was begun, which is also its name. */
  name: z.string(),
  software: z.string(),
  /** The store, compressed and cut into parts, in their order. */
  store: z.object({ sha256: z.string(), bytes: z.int(), parts: z.array(Part).min(1) }),
  /** The sealed keys; null: they were left out. */
  keys: Part.nullable(),
  /** What the test restore found in it. */
  facts: CopyFacts,
});
export type BackupManifest = z.infer<typeof BackupManifest>;
export type BackupPart = z.infer<typeof Part>;

type Bytes = Uint8Array<ArrayBuffer>;

/** Where backups lie, each under its name. Whatever fails is thrown: CannotStart where a bucket does not answer, or refuses. */
export type BackupPlace = {
  readonly name: string;
  /** Of complete backups, the oldest first. */
  names(): Promise<string[]>;
  read(path: string): Promise<Bytes>;
  write(path: string, body: Bytes): Promise<void>;
  remove(name: string): Promise<void>;
  /** Removes what backups left that were killed over a day ago. */
  removeUnfinished(now: Date): Promise<void>;
};

/** The instant in a backup's name, "2026-11-22T02-30-00-000Z", in milliseconds since 1970; NaN in any other name. */
export const instantOf = (name: string): number => {
  const [, day, hour, minute, second] =
    /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d-\d{3})Z$/.exec(name) ?? [];
  return Date.parse(`${day}T${hour}:${minute}:${second?.replace("-", ".")}Z`);
};

/** The name of a backup that is begun now: names sort as their times do. */
export const nameAt = (now: Date): string => now.toISOString().replace(/[:.]/g, "-");

const unfinishedMs = 86_400_000;
/** Younger ones may be under way. */
const isLeft = (name: string, now: Date): boolean => now.getTime() - instantOf(name) > unfinishedMs;

const manifestFile = "manifest.json";

/** What lies at the place is not what the manifest says, or it has none that can be read. */
export class DamagedBackup extends Error {
  override name = "DamagedBackup";
}

/** Throws DamagedBackup, unless the place does not answer: then nothing is known of what lies there. */
export function unreadable(place: BackupPlace, path: string, cause: unknown): never {
  if (cause instanceof CannotStart) throw cause;
  throw new DamagedBackup(`${place.name}: ${path} cannot be read`, { cause });
}

/** The manifest of a backup. Throws DamagedBackup. */
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

/** Opens the folder or the bucket that was named; answers in words why it cannot be used. */
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

/** A commit of the service on the same disk waits for the sync of one slice at most. */
const sliceBytes = 256 * 1_024;

/** Writes a new file that is on the disk afterwards, slice by slice, and rests in between: others come first. */
async function writeGently(path: string, body: Bytes): Promise<void> {
  await using file = await open(path, "wx", 0o600);
  const rest = openThrottle();
  try {
    for (let at = 0; at < body.length; at += sliceBytes) {
      await file.appendFile(body.subarray(at, at + sliceBytes));
      await file.sync();
      await rest();
    }
  } catch (error) {
    // The system does not name the file, and it may lie on another disk than the store.
    throw Object.assign(error as Error, { path });
  }
}

/** Names of complete backups, and paths of files of those that are under way. */
const [indexFile, unfinishedFile] = ["backups.json", "unfinished.json"];

const bucketRemedy =
  "Look at the store, the network and the settings ALMONER_S3_…; what lies there stays as it is.";

const backupOf = (path: string): string => path.split("/")[0] ?? "";

/** A bucket cannot be listed with the rights of a writer everywhere, so it keeps the names of what it holds in two files. */
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
  /** Forgets that backups are under way, and removes the files of those that are not complete. */
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
      // Named before it is there: a process that is killed leaves nothing that no one knows of.
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
