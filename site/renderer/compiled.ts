import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** A file that pages refer to: its path inside the bundle and inside the compiled folder. */
export type Asset = { path: string; file: string };

/** A compiled site in its folder. */
export type CompiledSite = {
  folder: string;
  /** SHA-256 in hex of all that the site was compiled from. */
  digest: string;
  assets: Asset[];
};

/** Written last into a compiled folder: a folder without it is not complete. */
export const compiledMark = "compiled.json";

/** The module that renders, inside a compiled folder. */
export const compiledEntry = "server/entry.mjs";

/** What a compiled folder holds. Throws when it is not complete. */
export async function readCompiled(folder: string): Promise<CompiledSite> {
  const { digest } = JSON.parse(await readFile(join(folder, compiledMark), "utf8"));
  const entry = join(folder, compiledEntry);
  if (!(await Bun.file(entry).exists())) throw new Error(`there is no ${entry}`);
  const client = join(folder, "client");
  return {
    folder,
    digest: String(digest),
    assets: (await filesUnder(client)).map((path) => ({ path, file: join(client, path) })),
  };
}

const root = join(import.meta.dirname, "..", "..");

/**
 * SHA-256 in hex over what decides how documents look: the site, the content sources that it imports, and the
 * versions of packages. Tests, data and the service play no part. Reads about 200 small files.
 */
export async function siteDigest(): Promise<string> {
  const paths = ["astro.config.mjs", "package-lock.json"];
  for (const folder of ["content", "site"]) {
    for (const path of await filesUnder(join(root, folder))) paths.push(`${folder}/${path}`);
  }
  const bodies = await Promise.all(paths.map((path) => readFile(join(root, path))));
  const whole = createHash("sha256");
  for (const [at, path] of paths.entries()) {
    const body = bodies[at] ?? "";
    whole.update(`${path}\0${body.length}\0`).update(body);
  }
  return whole.digest("hex");
}

/** Paths of all files under a folder, relative to it, sorted; none when there is no such folder. */
async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
