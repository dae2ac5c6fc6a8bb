import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isFileDamaged } from "#content/store/store-faults.ts";
import type { Location } from "./segments.ts";

/** A file to be put into the bundle. `at`: the location of content that no release refers to yet. */
export type NewFile = { path: string; digest: string; size: number; at?: Location };
/** The manifest's entry for one path. `as_of`: the newest change that its data is known to include. */
export type ManifestFile = NewFile & { release: number };
export type HeldFile = ManifestFile & { as_of: number; doomed_at: number | null };
export type Release = {
  id: number;
  reason: string;
  created_at: number;
  changed_files: number;
  fast_sequence: number;
  slow_sequence: number;
  inputs_digest: string;
};

/** The publisher's state, with the values that it has at first. */
const initial = {
  current_release: 0,
  /** Changes up to here are in their profiles, and in lists where no entry moved. */
  fast_sequence: 0,
  /** Changes up to here are in all lists, counts and sitemaps. */
  slow_sequence: 0,
  /** The `inputs_digest` under which the dictionaries were made. */
  learnt_inputs: "",
  /** Digest of the compiled site and its settings. When it changes, every page is stale. */
  inputs_digest: "",
  /** The release to which an operator rolled back, 0 for none. Nothing is published until `--resume`. */
  held_at: 0,
  /** Releases up to here are known to be on the disk. */
  durable_release: 0,
  /** Id of the machine's boot in which releases were last written. */
  boot_id: "",
  /** When the newest full build ended, in milliseconds. Its findings are in the tables `differing` and `repaired`. */
  built_at: 0,
  /** A request to the running publisher, as `requestText` writes it; "" for none. */
  request: "",
  /** Releases up to here are completely exported to the folder for other web servers. */
  exported_release: 0,
  /** That folder, and whether its files have compressed siblings; "" until it is first noted. */
  exported_folder: "",
  /** Releases up to here are in the signed list of all files. */
  listed_release: 0,
  /** The `inputs_digest` under which that list was made. */
  listed_inputs: "",
  /** The mark (`snapshotState`) of the parts from which the snapshot was last joined. */
  snapshot_parts: "",
  /** The mark of the parts from which the files of /data were last made. */
  data_parts: "",
  /** Changes up to here are in the search indexes. */
  search_sequence: 0,
  /** Digest of the inputs, other than the store, of the search index for people; "off" when there is none. */
  search_inputs: "",
  /** The feed's epoch when the feed was last published; another store has another epoch. */
  epoch: "",
  /** The mark of the newest published change, "" until first noted; it differs in a restored store with another past. */
  known_change: "",
  /** When the running publisher last sent a heartbeat (a moment of content/runtime/timing.ts); "" for none. */
  heartbeat_at: "",
  /** Process id of the publisher that worked here last. */
  pid: 0,
};
export type PublisherState = typeof initial & {
  /** Caches were purged for releases up to here, and what `exported_release` was then. */
  purged_release?: number;
  purged_in_folder?: number;
};

export type Manifest = ReturnType<typeof openManifest>;

const tables = readFileSync(join(import.meta.dirname, "manifest.sql"), "utf8");

/** With `checkpointsApart`, the writer still checkpoints once the log has this many pages (40 MB). */
const logPagesMax = 10_000;

/**
 * Opens (and creates) the manifest in a folder. A reader sees one release or the next, never a mixture.
 * `checkpointsApart`: another process calls `checkpoint`, so that no commit has to wait for one.
 */
export function openManifest(folder: string, { readonly = false, checkpointsApart = false } = {}) {
  mkdirSync(folder, { recursive: true });
  const db = new Database(manifestPath(folder), { create: true, strict: true });
  try {
    db.run("PRAGMA busy_timeout = 5000");
    db.run("PRAGMA journal_mode = WAL");
    // A power loss may undo the newest releases, never half of one; the next start publishes them again.
    db.run("PRAGMA synchronous = NORMAL");
    if (checkpointsApart) db.run(`PRAGMA wal_autocheckpoint = ${logPagesMax}`);
    db.run(tables);
    if (readonly) db.run("PRAGMA query_only = ON");
  } catch (error) {
    db.close();
    throw error;
  }
  const finding = db.query<ManifestFile, [string]>(
    "SELECT path, lower(hex(digest)) AS digest, size, release FROM files WHERE path = ?",
  );
  const oldest = db.query<{ id: number | null }, []>("SELECT min(id) AS id FROM releases");
  const files = (
    where: string,
    values: readonly (string | number)[] = [],
  ): IterableIterator<HeldFile> =>
    db
      .query<HeldFile, (string | number)[]>(
        `SELECT path, lower(hex(digest)) AS digest, size, release, as_of, doomed_at FROM files WHERE ${where}`,
      )
      .iterate(...values);
  /** The column `path` of each row of a query. */
  const selectPaths = (sql: string, values: readonly (string | number)[] = []): string[] =>
    db
      .query<{ path: string }, (string | number)[]>(sql)
      .all(...values)
      .map(({ path }) => path);
  const stateQuery = db.query<{ name: string; value: string | number }, []>(
    "SELECT name, value FROM state",
  );
  const setting = db.query<null, [string, string | number]>(
    "INSERT INTO state (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
  return {
    folder,
    db,
    state: (): PublisherState => ({
      ...initial,
      ...Object.fromEntries(stateQuery.all().map(({ name, value }) => [name, value])),
    }),
    setState: (values: Partial<PublisherState>): void => {
      for (const [name, value] of Object.entries(values)) setting.run(name, value);
    },
    /** The files that match an SQL condition, read one by one. */
    files,
    find: (path: string): ManifestFile | null => finding.get(path),
    /** The oldest release that is kept; 0 for none. */
    oldestRelease: (): number => oldest.get()?.id ?? 0,
    selectPaths,
    removedSince: (release: number): string[] =>
      selectPaths(
        `SELECT DISTINCT path FROM history
         WHERE release > ? AND NOT EXISTS (SELECT 1 FROM files WHERE files.path = history.path)`,
        [release],
      ),
    /** The files whose paths begin with `start` (for a folder, include its slash) and that are not retired, by path. */
    under: (start: string): HeldFile[] => {
      const after = String.fromCodePoint((start.codePointAt(start.length - 1) ?? 0) + 1);
      const among = "path > ? AND path < ? AND doomed_at IS NULL ORDER BY path";
      return [...files(among, [start, start.slice(0, -1) + after])];
    },
    /** Copies the log into the file as far as no reader needs it; takes tens of milliseconds on a busy disk. */
    checkpoint: () => db.run("PRAGMA wal_checkpoint(PASSIVE)"),
    close: () => db.close(),
    [Symbol.dispose]: () => db.close(),
  };
}

export const publisherFolders = (dataDir: string) => ({
  bundle: join(dataDir, "bundle"),
  compiled: join(dataDir, "site"),
});

export const manifestPath = (folder: string): string => join(folder, "packs.db");

/** Whether a publisher ever worked in this folder. */
export const bundleExists = (folder: string): boolean => existsSync(manifestPath(folder));

/** Whether SQLite finds damage in the manifest. */
export const isManifestDamaged = (folder: string): boolean => isFileDamaged(manifestPath(folder));
