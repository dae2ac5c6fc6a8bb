import { createHash } from "node:crypto";
import { createReadStream, lstatSync } from "node:fs";
import { join } from "node:path";
import { feedPaths, type ManifestEntry } from "#content/contract/feed.ts";
import { everyPath } from "#content/runtime/files.ts";
import { retry } from "#content/runtime/retry.ts";
import {
  eachEntry,
  type ListPins,
  type ReadFile,
  readList,
  type SignedList,
} from "./signed-list.ts";
import { readBytes, Unproven, unreadable } from "./source.ts";

/** The list's own files, which it cannot list. They come last: a copy's list is then no older than its files. */
const ownPaths = ({ manifest }: SignedList): string[] => [
  ...manifest.shards.map(({ path }) => path),
  feedPaths.manifest,
  feedPaths.signature,
];

/** What may pass: the origin replaces the list, its signature and its shards one after the other. */
const mayPass: ReadonlySet<string> = new Set(["altered", "not_signed_by", "unreachable"]);

/** The addresses of all files of the directory at a URL. */
export async function addressesOf(url: string, pins: ListPins) {
  const base = url.replace(/\/+$/, "");
  const addressOf = (path: string) =>
    `${base}/${path.split("/").map(encodeURIComponent).join("/")}`;
  const read: ReadFile = (path, bytesMax) => readBytes(addressOf(path), bytesMax);
  const readAll = async () => {
    const list = await readList(read, pins);
    const paths: string[] = [];
    await eachEntry(read, list, ({ path }) => void paths.push(path));
    return { list, addresses: [...paths, ...ownPaths(list)].map(addressOf) };
  };
  const outcome = await retry(
    () => readAll().catch((error: unknown) => ({ error })),
    (ended) => "error" in ended && ended.error instanceof Unproven && mayPass.has(ended.error.kind),
    { triesMax: 4, firstMs: 250 },
  );
  if ("error" in outcome) throw outcome.error;
  return outcome;
}

/** Compares every file of a copy with its signed list. Links are no files. */
export async function compareCopy(folder: string, pins: ListPins) {
  const read: ReadFile = (path, bytesMax) => {
    const file = join(folder, path);
    const isFile = lstatSync(file, { throwIfNoEntry: false })?.isFile() === true;
    return isFile ? readBytes(file, bytesMax) : Promise.reject(unreadable(file, "there is none"));
  };
  const list = await readList(read, pins);
  const listed = new Set(ownPaths(list));
  const paths = { missing: [] as string[], altered: [] as string[], extra: [] as string[] };
  await eachEntry(read, list, async (entry) => {
    listed.add(entry.path);
    const state = await stateOf(join(folder, entry.path), entry);
    if (state !== "whole") paths[state].push(entry.path);
  });
  for (const path of everyPath(folder)) if (!listed.has(path)) paths.extra.push(path);
  return { list, ...paths };
}

async function stateOf(path: string, { sha256, size }: ManifestEntry) {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return "missing";
  // No more is read than the list allows.
  if (!stat.isFile() || stat.size !== size) return "altered";
  const hasher = createHash("sha256");
  for await (const piece of createReadStream(path)) hasher.update(piece as Uint8Array);
  return hasher.digest("hex") === sha256 ? "whole" : "altered";
}
