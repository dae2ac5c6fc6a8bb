import { z } from "zod";
import { count, named, textOrNull, texts } from "#content/contract/base/json.ts";

/** The most changes in one file of the feed. */
export const feedEntriesMax = 1_000;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "64 hexadecimal digits");

/** What a change does to a profile. */
export const changeKinds = ["added", "changed", "withdrawn", "restored"] as const;
export type ChangeKind = (typeof changeKinds)[number];

/** One change of the directory. `slug` is null for a change of the directory as a whole. */
export const FeedEntry = named("FeedEntry", {
  sequence: z.int().min(1).describe("Number of the change; each follows the one before by 1"),
  slug: textOrNull.describe("Null: numbers of the directory as a whole"),
  kind: z
    .enum([...changeKinds, "directory"])
    .describe("withdrawn: the profile stays, with status withdrawn, and leaves every list"),
  fields: texts.describe("Names of the changed fields, as in the profile"),
  at: z.string().describe("ISO 8601, UTC"),
});
export type FeedEntry = z.infer<typeof FeedEntry>;

/** GET /changes/{number}.json. It never changes once published. */
export const FeedFile = named("FeedFile", {
  epoch: z.string(),
  number: count,
  first_sequence: z.int(),
  last_sequence: z.int(),
  entries: z.array(FeedEntry).max(feedEntriesMax).describe("Oldest first"),
});
export type FeedFile = z.infer<typeof FeedFile>;

/** GET /changes/state.json. */
export const FeedState = named("FeedState", {
  epoch: z.string().min(1).max(64).describe("When it changes, the numbers start again"),
  sequence: count.describe("Number of the newest feed file, 0 for none"),
  change_sequence: count.describe("The newest change in it"),
  snapshot: z.object({
    path: textOrNull.describe(
      "Every profile, one JSON object per line, gzip; null: there are its parts alone",
    ),
    sequence: count.describe("The snapshot holds this feed file and all before it"),
    parts: count.describe("Number of files; joined in order they are the snapshot"),
    part_path: z.string().describe("Path of a part; {n} counts from 1"),
  }),
  manifest: z.string().describe("Path of the signed list of all files"),
  registers: z
    .array(
      z.object({
        id: z.string().describe("As in register_facts, and after register: in provenance"),
        name: z.string(),
        licence: z.object({ name: z.string(), url: z.string() }),
        tags_licence: z
          .object({ name: z.string(), url: z.string() })
          .optional()
          .describe("Of the tags that causes are derived from, where it is another one"),
        attribution: z.string().describe("What to say when you show what comes from it"),
      }),
    )
    .describe("Licences of what the snapshot and the profiles take from public registers"),
});
export type FeedState = z.infer<typeof FeedState>;

/** A path in the bundle: plain segments, no leading slash. A mirror writes no other paths. */
export const BundlePath = z.string().min(1).max(1_024).refine(isPlainPath, "a plain relative path");

const ShardReference = z.object({
  path: BundlePath,
  sha256,
  size: count,
  files: count,
  bytes: count.describe("Of the files that the shard lists"),
});
export type ShardReference = z.infer<typeof ShardReference>;

/** GET /snapshot/manifest/{shard}.json: files by this prefix of their path's SHA-256, or, if many, lists of them. */
export const ManifestShard = named("ManifestShard", {
  shard: z.string().regex(/^[0-9a-f]{2,4}$/),
  files: z.array(z.object({ path: BundlePath, sha256, size: count })).optional(),
  parts: z
    .array(ShardReference)
    .optional()
    .describe("In place of files: 16 lists of the same form"),
});
export type ManifestShard = z.infer<typeof ManifestShard>;
export type ManifestEntry = NonNullable<ManifestShard["files"]>[number];

/** When a list was issued, and until when a mirror may treat it as the newest. */
export const ListIssue = z.object({
  sequence: z.int().min(1).describe("Grows with each list, over restores and rollbacks too"),
  issued_at: z.iso.datetime(),
  expires_at: z.iso.datetime().describe("A newer list comes before: daily, also without changes"),
});

/** GET /snapshot/manifest.json. It is signed as a whole and, through its shards, vouches for every file. */
export const BundleManifest = named("BundleManifest", {
  version: z.literal(1),
  issue: ListIssue,
  files: count,
  bytes: count,
  shards: z.array(ShardReference).length(256),
});
export type BundleManifest = z.infer<typeof BundleManifest>;

export const feedPaths = {
  state: "changes/state.json",
  audit: "changes/audit.json",
  file: (number: number) => `changes/${number}.json`,
  snapshot: "snapshot/nonprofits.ndjson.gz",
  snapshotPart: (part: number | "{n}") => `snapshot/nonprofits/${part}.ndjson.gz`,
  manifest: "snapshot/manifest.json",
  signature: "snapshot/manifest.json.jws",
  shard: (shard: string) => `snapshot/manifest/${shard}.json`,
  keys: ".well-known/almoner-keys.json",
  data: "data/",
  dataPackage: "data/datapackage.json",
} as const;

type Licence = { title: string; path: string };
/** A register by its id, with the number of nonprofits that it covers. */
export type DataSource = {
  name: string;
  title: string;
  rows: number;
  attribution: string;
  licence: Licence;
};
/** A file of /data as its Frictionless Data Package describes it, for a country or register; title "" for all. */
export type DataResource = {
  name: string;
  path: string;
  title: string;
  format: string;
  mediatype: string;
  rows: number;
  bytes: number;
  /** "sha256:" and 64 hexadecimal digits. */
  hash: string;
  licenses?: Licence[];
  sources: DataSource[];
};
export type DataPackage = { resources: readonly DataResource[] };

/** The files of the manifest itself, which it cannot list. */
export const isManifestPath = (path: string): boolean =>
  path === feedPaths.manifest ||
  path === feedPaths.signature ||
  path.startsWith("snapshot/manifest/");

/** Names that begin with a dot are "." and "..", or settings of web servers and other programs. */
const isHidden = (segment: string, at: number): boolean =>
  segment.startsWith(".") && !(at === 0 && segment === ".well-known");

function isPlainPath(path: string): boolean {
  // Control characters, backslashes and colons mean something to one file system or another.
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f\\:]/.test(path)) return false;
  return path
    .split("/")
    .every((segment, at) => segment !== "" && segment.length < 256 && !isHidden(segment, at));
}
