import { expect, test } from "bun:test";
import { Glob } from "bun";
import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { z } from "zod";
import { describeConfig } from "#api/config.ts";
import settingWords from "#content/editorial/settings.json";

const root = join(import.meta.dirname, "../..");
const text = (path: string): Promise<string> => Bun.file(join(root, path)).text();

const PackageFile = z.object({ scripts: z.record(z.string(), z.string()) });
const { scripts } = PackageFile.parse(JSON.parse(await text("package.json")));

/** README, what contributors read, and every page of docs, decisions included, by path. */
const pages = new Map<string, string>([["README.md", await text("README.md")]]);
for (const pattern of ["docs/**/*.md", ".github/*.md"]) {
  const paths = new Glob(pattern).scan({ cwd: root, dot: true });
  for await (const path of paths) pages.set(path, await text(path));
}

/** A row of a table, whatever its columns' widths. */
const cells = (row: string) => row.split("|").map((cell) => cell.trim());

test("docs/settings.md lists every setting with its meaning and default", () => {
  const page = pages.get("docs/settings.md") ?? "";
  const rows = page.split("\n").filter((line) => line.startsWith("| `ALMONER_"));
  expect(rows.map(cells)).toEqual(
    describeConfig().map(({ name, meaning, fallback }) => [
      "",
      `\`${name}\``,
      meaning,
      fallback,
      "",
    ]),
  );
  expect(Object.keys(settingWords)).toEqual(describeConfig().map(({ name }) => name));
});

test("README fits into one screen and a half", () => {
  expect((pages.get("README.md") ?? "").trim().split("\n").length).toBeLessThanOrEqual(80);
});

test("no page names a command that does not exist", () => {
  const unknown = [...pages].flatMap(([path, page]) => {
    const code = page.match(/```[^]*?```|`[^`\n]+`/g) ?? [];
    return [...code.join("\n").matchAll(/(?:bun|npm) run ([a-z][a-z:-]*)/g)]
      .map(([, name = ""]) => name)
      .filter((name) => !(name in scripts))
      .map((name) => `${path}: ${name}`);
  });
  expect(unknown).toEqual([]);
});

test("the links of every page lead to a file", async () => {
  const broken: string[] = [];
  for (const [path, page] of pages) {
    for (const [, link = ""] of page.matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)) {
      const target = relative(root, join(root, dirname(path), link));
      if (!(await Bun.file(join(root, target)).exists())) broken.push(`${path}: ${link}`);
    }
  }
  expect(broken).toEqual([]);
});

test("every page and every decision is in its index", () => {
  const indexOf = (folder: string) => pages.get(`${folder}/README.md`) ?? "";
  const missing = [...pages.keys()].filter((path) => {
    const folder = dirname(path);
    const name = path.slice(folder.length + 1);
    return (
      folder.startsWith("docs") && name !== "README.md" && !indexOf(folder).includes(`](${name})`)
    );
  });
  expect(missing).toEqual([]);
});

/** `content/enrichment/consensus.ts`, `site/pages/nonprofits/[slug].astro`; not the paths of URLs. */
const namedFile =
  /(?<![\w./-])(?:content|api|site|scripts|test)\/[\w./[\]-]*[\w\]]\.(?:ts|astro|css|md|yaml|conf|vcl|js)\b/g;
const namedFolder = /`((?:content|api|site|scripts|test)(?:\/[\w-]+)*)\/?`/g;

test("the files and folders of the code that a page names exist", async () => {
  const missing: string[] = [];
  for (const [path, page] of pages) {
    const folders = [...page.matchAll(namedFolder)].map(([, folder = ""]) => folder);
    for (const folder of folders) {
      if (!existsSync(join(root, folder))) missing.push(`${path}: ${folder}`);
    }
    for (const [file] of page.matchAll(namedFile)) {
      if (!existsSync(join(root, file))) missing.push(`${path}: ${file}`);
    }
  }
  expect(missing).toEqual([]);
});

test("docs/architecture.md follows the code through its files", () => {
  const named = pages.get("docs/architecture.md")?.match(namedFile) ?? [];
  expect(new Set(named).size).toBeGreaterThan(40);
});
