import { expect, test } from "bun:test";
import { join } from "node:path";
import { describeConfig } from "#api/config.ts";

const root = join(import.meta.dirname, "../..");
const readme = await Bun.file(join(root, "README.md")).text();
const { scripts } = (await Bun.file(join(root, "package.json")).json()) as {
  scripts: Record<string, string>;
};

/** A row of a table, whatever its columns' widths. */
const cells = (row: string) => row.split("|").map((cell) => cell.trim());

test("README lists every setting with its meaning and default", () => {
  const rows = readme.split("\n").filter((line) => line.startsWith("| `ALMONER_"));
  expect(rows.map(cells)).toEqual(
    describeConfig().map(({ name, meaning, fallback }) => [
      "",
      `\`${name}\``,
      meaning,
      fallback,
      "",
    ]),
  );
});

test("README names no command that is not there", () => {
  const named = [...readme.matchAll(/bun run ([a-z:-]+)/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

test("README's pictures and pages are there", async () => {
  const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path = ""]) => path);
  const absent: string[] = [];
  for (const path of links) {
    if (!(await Bun.file(join(root, path)).exists()) && path !== "docs/decisions")
      absent.push(path);
  }
  expect(absent).toEqual([]);
});
