import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { z } from "zod";
import { version } from "#content/contract/base/version.ts";
import journal from "#content/store/migrations/meta/_journal.json";

const root = join(import.meta.dirname, "../..");

const Versions = z.record(z.string(), z.string()).default({});
const Package = z.object({
  dependencies: Versions,
  devDependencies: Versions,
  overrides: z.record(z.string(), Versions).default({}),
});
const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      name: z.string().optional(),
      resolved: z.string().optional(),
      link: z.boolean().default(false),
      dependencies: Versions,
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

const workspaces = ["kit-8", "pay-0", "pay-1"].map((name) => `test/clients/${name}/`);

describe.each(["", "test/clients/", ...workspaces])("packages of ./%s", (folder) => {
  test("are pinned to one version", async () => {
    const { dependencies, devDependencies } = Package.parse(await read(`${folder}package.json`));
    const versions = Object.entries({ ...dependencies, ...devDependencies });
    expect(versions.filter(([, pinned]) => !/^\d+\.\d+\.\d+(-r\.\d+)?$/.test(pinned))).toEqual([]);
  });
});

// Without all of them `npm ci` refuses the lock file, on every platform. A registry that lacks a package of a
// foreign platform makes `npm install` leave it out: choose a version that exists for all platforms.
test("packages are locked for every platform, and come from no registry by name", async () => {
  const { packages } = Lock.parse(await read("package-lock.json"));
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !placesOf(name, path).some((place) => place in packages),
    ),
  );
  expect(missing).toEqual([]);
  const named = Object.values(packages).filter(({ link, resolved }) => !link && resolved);
  expect(named).toEqual([]);
  expect(await Bun.file(join(root, "test/clients/bun.lock")).text()).not.toContain("://");
});

// Without it npm installs the packages of both C libraries, 10 MB of which nobody needs.
test("libSQL's packages for Linux name their C library in the lock file", async () => {
  const { packages } = Lock.parse(await read("package-lock.json"));
  const linux = Object.entries(packages).filter(([path]) => path.includes("@libsql/linux-"));
  const wrong = linux.filter(
    ([path, { libc }]) => libc?.join() !== (path.includes("-musl") ? "musl" : "glibc"),
  );
  expect(linux.length).toBeGreaterThan(2);
  expect(wrong).toEqual([]);
});

test("no package finds an empty one in place of another that it needs, unless package.json says so", async () => {
  const { packages } = Lock.parse(await read("package-lock.json"));
  const { overrides } = Package.parse(await read("package.json"));
  const emptied = new Set(Object.values(overrides).flatMap((group) => Object.keys(group)));
  const links = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => {
      const place = placesOf(name, path).find((one) => one in packages) ?? "";
      const isEmpty = packages[place]?.name === "empty-npm-package";
      return isEmpty ? [{ from: path.split("node_modules/").at(-1) ?? "", name }] : [];
    }),
  );
  expect(links.length).toBeGreaterThan(10);
  const unnamed = links.filter(({ from, name }) => !(name in (overrides[from] ?? {})));
  expect(unnamed.filter(({ name }) => !isBinding(name) || !emptied.has(name))).toEqual([]);
});

/** What a package needs on platforms that have none of its own bindings stands with the package above it. */
const isBinding = (name: string): boolean => name.endsWith("-wasm32-wasi");

test("the code knows the version of package.json", async () => {
  expect(await read("package.json")).toMatchObject({ version });
  expect(await read("package-lock.json")).toMatchObject({ version, packages: { "": { version } } });
});

test("the third number of the version is raised with each migration after the baseline", () => {
  expect(version).toBe(`0.5.${journal.entries.length - 1}`);
});
