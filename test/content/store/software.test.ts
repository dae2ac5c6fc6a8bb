import { expect, test } from "bun:test";
import { chownSync, cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { commitOf } from "#content/store/software.ts";
import { runProgram } from "#test/support/processes.ts";
import { theFolder } from "#test/support/at-file-top.ts";

const folder = theFolder();

async function git(...words: string[]): Promise<string> {
  const identity = ["-c", "user.name=A", "-c", "user.email=a@almoner.example"];
  const { code, out, err } = await runProgram(["git", "-C", clone, ...identity, ...words]);
  expect([code, err]).toEqual([0, ""]);
  return out.trim();
}

/** What git needs of this repository to tell the commit of an archive. */
const clone = join(folder, "clone");
for (const path of [".gitattributes", "content/runtime/commit.txt"])
  cpSync(join(import.meta.dirname, "../../..", path), join(clone, path));
await git("init", "--quiet");
await git("add", ".");
await git("commit", "--quiet", "--message", "One");
const expected = (await git("rev-parse", "HEAD")).slice(0, 12);

test("an archive knows the commit that it was made of", async () => {
  const archive = join(folder, "archive");
  mkdirSync(archive);
  await git("archive", "--output", join(folder, "archive.tar"), "HEAD");
  await runProgram(["tar", "-xf", join(folder, "archive.tar"), "-C", archive]);
  expect(commitOf(archive)).toBe(expected);
});

test("a clone knows its commit, also when it belongs to another user", () => {
  expect(commitOf(clone)).toBe(expected);
  // Git asks no clone of others by itself, and under systemd the code is root's.
  if (process.getuid?.() === 0) chownSync(join(clone, ".git"), 65_534, 65_534);
  expect(commitOf(clone)).toBe(expected);
});

test("a copy without its history tells none, whatever folder it lies in", () => {
  const copy = join(clone, "copy");
  cpSync(join(clone, "content"), join(copy, "content"), { recursive: true });
  expect(commitOf(copy)).toBeNull();
});
