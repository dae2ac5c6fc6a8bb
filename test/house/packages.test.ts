import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { z } from "zod";
import { version } from "#content/contract/base/version.ts";
import journal from "#content/store/migrations/meta/_journal.json";

const root = join(import.meta.dirname, "../..");

const Versions = z.record(z.string(), z.string()).default({});
const Package = z.object({ dependencies: Versions, devDependencies: Versions });
const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      resolved: z.string().optional(),
      libc: z.array(z.string()).optional(),
      optionalDependencies: Versions,
    }),
  ),
});

const read = (path: string): Promise<unknown> => Bun.file(join(root, path)).json();

/** The places where Node looks for a package that the one at `from` imports, nearest first. */
function placesOf(name: string, from: string): string[] {
  const parts = from === "" ? [] : from.split("/node_modules/");
  const folders = parts.map((_, index) =>
    parts.slice(0, parts.length - index).join("/node_modules/"),
  );
  return [...folders.map((folder) => `${folder}/node_modules/${name}`), `node_modules/${name}`];
}

describe.each(["", "test/clients/"])("packages of ./%s", (folder) => {
  test("are pinned to one version", async () => {
    const { dependencies, devDependencies } = Package.parse(await read(`${folder}package.json`));
    const versions = Object.entries({ ...dependencies, ...devDependencies });
    expect(versions.filter(([, pinned]) => !/^\d+\.\d+\.\d+$/.test(pinned))).toEqual([]);
  });

  // Without all of them `npm ci` refuses the lock file, on every platform. A registry that lacks a package of a
  // foreign platform makes `npm install` leave it out: choose a version that exists for all platforms.
  test("are locked for every platform, and come from no registry by name", async () => {
    const { packages } = Lock.parse(await read(`${folder}package-lock.json`));
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !placesOf(name, path).some((place) => place in packages),
      ),
    );
    expect(missing).toEqual([]);
    expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
  });
});

// Without it npm installs the packages of both C libraries, 10 MB of which nobody needs.
test("libSQL's packages for Linux name their C library in the lock file", async () => {
  const { packages } = Lock.parse(await read("package-lock.json"));
  const silent = Object.entries(packages).flatMap(([path, { libc }]) =>
    path.startsWith("node_modules/@libsql/linux-") && libc === undefined ? [path] : [],
  );
  expect(silent).toEqual([]);
});

test("the code knows the version of package.json", async () => {
  expect(await read("package.json")).toMatchObject({ version });
  expect(await read("package-lock.json")).toMatchObject({ version, packages: { "": { version } } });
});

/** The number of the newest migration of 0.4.0. It is set once, when 0.4.0 is released; 0.5 begins to count again. */
const newestOf040 = 29;

test("the third number of the version is raised with each migration", () => {
  const newest = journal.entries.at(-1)?.idx ?? 0;
  expect(version).toBe(`0.4.${newest - newestOf040}`);
});
