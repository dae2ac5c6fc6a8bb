import { sha256OfFiles } from "#content/runtime/digest.ts";
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { everyPath } from "#content/runtime/files.ts";

const compileWaitMs = 120_000;

/**
 * Compiles the site into a folder under `outFolder`, named by the digest of its sources, and returns it; a site that is
 * already compiled is not compiled again. Takes about 2 s, in a child process, so that this one never loads Vite. Writes
 * nothing outside `outFolder`; processes may compile at once. Throws with the compiler's own words when the site does not
 * compile. `compile` puts the site into the folder `out` of a work folder.
 */
export async function compileSite(
  outFolder: string,
  compile: (workFolder: string) => Promise<void> = runCompiler,
) {
  const digest = siteDigest();
  // Astro would resolve a relative folder from its own root, and the result would end up elsewhere.
  const compiledFolder = resolve(outFolder);
  const folder = join(compiledFolder, digest.slice(0, 16));
  const marked = await readCompiled(folder).catch(() => null);
  if (marked?.digest === digest) return marked;
  await mkdir(compiledFolder, { recursive: true });
  const workFolder = await mkdtemp(join(compiledFolder, "compiling-"));
  try {
    // Astro resolves its own modules from the root folder, which must not be the checkout, because it writes types there.
    await symlink(
      join(import.meta.dirname, "../../node_modules"),
      join(workFolder, "node_modules"),
    );
    await compile(workFolder);
    const compiled = join(workFolder, "out");
    await mkdir(join(compiled, "client"), { recursive: true });
    if (!(await Bun.file(join(compiled, compiledEntry)).exists())) {
      throw new Error(`the compiler wrote no ${compiledEntry} into ${compiled}`);
    }
    const files = sha256OfFiles(compiled, filesUnder(compiled));
    await writeFile(join(compiled, compiledMark), JSON.stringify({ digest, files }));
    await moveInto(folder, compiled);
    return await readCompiled(folder);
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
}

async function runCompiler(workFolder: string): Promise<void> {
  const script = join(import.meta.dirname, "compile-child.ts");
  const child = Bun.spawn(
    [process.execPath, "--smol", "--bun", "--no-install", script, workFolder],
    {
      env: {
        ...process.env,
        ASTRO_TELEMETRY_DISABLED: "1",
        NODE_ENV: "production",
        NO_COLOR: "1",
        // The bundler uses memory for each of its threads, and the site is too small to need more than one.
        RAYON_NUM_THREADS: "1",
        ROLLDOWN_WORKER_THREADS: "1",
        ROLLDOWN_MAX_BLOCKING_THREADS: "1",
        TOKIO_WORKER_THREADS: "1",
        // The allocator returns freed memory at once: 110 MB less at the peak.
        MIMALLOC_PURGE_DELAY: "0",
        MIMALLOC_ARENA_EAGER_COMMIT: "0",
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: compileWaitMs,
      // A process group of its own: otherwise a signal to the service's group would look like a site that does not compile.
      detached: true,
    },
  );
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (exitCode === 0) return;
  const error = new Error(`the site does not compile:\n${output}${errors}`);
  // A full disk is told in an operator's words, without the compiler's.
  throw /No space left on device|ENOSPC/.test(errors)
    ? Object.assign(error, { code: "ENOSPC", path: workFolder })
    : error;
}

/** Moves a compiled folder into place, unless another process has put the same there; one without the mark is replaced. */
async function moveInto(folder: string, compiled: string): Promise<void> {
  try {
    await rename(compiled, folder);
  } catch {
    const complete = await readCompiled(folder).catch(() => null);
    if (complete !== null) return;
    await rm(folder, { recursive: true, force: true });
    await rename(compiled, folder);
  }
}

/** Written last into a compiled folder: a folder without it is not complete. */
const compiledMark = "compiled.json";

/** The module that renders, inside a compiled folder. */
export const compiledEntry = "server/entry.mjs";

/**
 * Reads a compiled folder: the SHA-256 in hex of its sources, and the files that pages use, with their paths in the bundle.
 * Throws when it is incomplete or damaged.
 */
export async function readCompiled(folder: string) {
  const { digest, files } = JSON.parse(await readFile(join(folder, compiledMark), "utf8"));
  const paths = filesUnder(folder).filter((path) => path !== compiledMark);
  if (sha256OfFiles(folder, paths) !== files) {
    throw new Error(`files in ${folder} are not as they were compiled`);
  }
  const client = join(folder, "client");
  return {
    folder,
    digest: String(digest),
    assets: filesUnder(client).map((path) => ({ path, file: join(client, path) })),
  };
}

const root = join(import.meta.dirname, "..", "..");

/**
 * SHA-256 in hex of everything that decides how documents look: the site, the content sources that it imports, and the
 * versions of packages; not tests, data or the service. Reads about 200 small files.
 */
export function siteDigest(): string {
  const paths = ["astro.config.mjs", "package-lock.json"];
  for (const folder of ["content", "site"]) {
    for (const path of filesUnder(join(root, folder))) paths.push(`${folder}/${path}`);
  }
  return sha256OfFiles(root, paths);
}

const filesUnder = (folder: string): string[] => [...everyPath(folder)].sort();
