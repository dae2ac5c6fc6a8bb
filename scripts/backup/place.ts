import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { CopyFacts } from "#content/store/copy.ts";
import {
  openS3Target,
  type ObjectStore,
  type S3Access,
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

/** Where backups lie, each under its name. Whatever fails is thrown. */
export type BackupPlace = {
  readonly name: string;
  /** Of complete backups, the oldest first. */
  names(): Promise<string[]>;
  read(path: string): Promise<Bytes>;
  write(path: string, body: Bytes): Promise<void>;
  /** Without a list of its files, those that its manifest names. */
  remove(name: string, files?: readonly string[]): Promise<void>;
};

const manifestFile = "manifest.json";

/** What lies at the place is not what the manifest says, or it has none that can be read. */
export class DamagedBackup extends Error {
  override name = "DamagedBackup";
}

/** The manifest of a backup. Throws DamagedBackup. */
export async function manifestOf(place: BackupPlace, name: string): Promise<BackupManifest> {
  const path = `${name}/${manifestFile}`;
  try {
    return BackupManifest.parse(JSON.parse(new TextDecoder().decode(await place.read(path))));
  } catch (cause) {
    throw new DamagedBackup(`${place.name}: ${path} cannot be read`, { cause });
  }
}

export const writeManifest = (place: BackupPlace, manifest: BackupManifest): Promise<void> =>
  place.write(
    `${manifest.name}/${manifestFile}`,
    new TextEncoder().encode(`${JSON.stringify(manifest, null, 1)}\n`),
  );

/** Opens the folder or the bucket that was named; answers in words why it cannot be used. */
export function openPlace(to: string, s3: S3Access): BackupPlace | string {
  if (!/^\w+:\/\//.test(to)) return folderPlace(to);
  const target = openS3Target(to, s3);
  return target.ok ? bucketPlace(target.value) : target.failure;
}

function folderPlace(folder: string): BackupPlace {
  return {
    name: folder,
    names: async () =>
      existsSync(folder)
        ? readdirSync(folder)
            .filter((name) => existsSync(join(folder, name, manifestFile)))
            .sort()
        : [],
    read: async (path) => new Uint8Array(readFileSync(join(folder, path))),
    write: async (path, body) => {
      const target = join(folder, path);
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
      writeFileSync(target, body, { mode: 0o600, flush: true });
    },
    remove: async (name) => rmSync(join(folder, name), { recursive: true, force: true }),
  };
}

const indexFile = "backups.json";

/** A bucket cannot be listed with the rights of a writer everywhere, so it keeps the names of its backups in a file. */
function bucketPlace(target: ObjectStore): BackupPlace {
  const must = (failure: UploadFailure | null) => {
    if (failure !== null) throw new Error(`${target.name}: ${failure.message}`);
  };
  const put = async (path: string, body: Bytes) => {
    const sha256 = Bun.CryptoHasher.hash("sha256", body, "hex");
    must(await target.put(path, body, { "x-amz-content-sha256": sha256 }));
  };
  const names = async (): Promise<string[]> => {
    const found = await target.get(indexFile);
    if (found.ok)
      return z.array(z.string()).parse(JSON.parse(new TextDecoder().decode(found.value)));
    if (found.failure.kind !== "missing") must(found.failure);
    return [];
  };
  const list = (all: Iterable<string>) =>
    put(indexFile, new TextEncoder().encode(JSON.stringify([...new Set(all)].sort())));
  const read = async (path: string): Promise<Bytes> => {
    const found = await target.get(path);
    if (!found.ok) throw new Error(`${target.name}${path}: ${found.failure.message}`);
    return found.value;
  };
  const filesOf = async (name: string): Promise<string[]> => {
    const { store, keys } = await manifestOf(place, name);
    return [...store.parts, ...(keys === null ? [] : [keys])].map((part) => part.name);
  };
  const place: BackupPlace = {
    name: target.name,
    names,
    read,
    write: async (path, body) => {
      await put(path, body);
      const [name = "", file] = path.split("/");
      if (file === manifestFile) await list([...(await names()), name]);
    },
    remove: async (name, given) => {
      const files = given ?? (await filesOf(name));
      const all = await names();
      if (all.includes(name)) await list(all.filter((one) => one !== name));
      for (const file of [manifestFile, ...files]) must(await target.remove(`${name}/${file}`));
    },
  };
  return place;
}
