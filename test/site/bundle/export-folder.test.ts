import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBlobs } from "#site/bundle/blobs.ts";
import { openExport } from "#site/bundle/export-folder.ts";
import { checkExport } from "#site/bundle/export-release.ts";
import { aDirectory, type Directory } from "#test/support/publisher.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (path: string) => readFileSync(path, "utf8");
const elsewhere = "/dev/shm";
const hasElsewhere = existsSync(elsewhere) && statSync(elsewhere).dev !== statSync(tmpdir()).dev;

describe("the folder for other web servers", () => {
  const folder = mkdtempSync(join(tmpdir(), "almoner-export-"));
  const blobs = openBlobs(join(folder, "blobs"));
  const [one, two] = ["one", "two"].map((content) => blobs.pathOf(blobs.put(bytes(content)))) as [
    string,
    string,
  ];
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("is made again where somebody removed a part of it", () => {
    const exported = openExport(join(folder, "public"));
    exported.put("a/b/c.html", one);
    rmSync(join(folder, "public", "a"), { recursive: true });
    exported.put("a/b/d.html", two);
    expect(text(join(folder, "public/a/b/d.html"))).toBe("two");
    expect(() => exported.put("a/e.html", join(folder, "no-blob"))).toThrow("ENOENT");
  });

  test.skipIf(!hasElsewhere)("may lie on another disk, where files are copied", () => {
    const other = mkdtempSync(join(elsewhere, "almoner-export-"));
    try {
      const exported = openExport(other);
      for (const blob of [one, two, one]) {
        exported.put("a/c.html", blob);
        expect(text(join(other, "a/c.html"))).toBe(blob === one ? "one" : "two");
        expect(exported.shows("a/c.html", blob)).toBe(true);
      }
      expect(exported.shows("a/c.html", two)).toBe(false);
    } finally {
      rmSync(other, { recursive: true, force: true });
    }
  });

  test("holds files that no one writes into by mistake: releases share them", () => {
    expect(statSync(one).mode & 0o222).toBe(0);
  });
});

describe("a full build", () => {
  let directory: Directory;
  beforeAll(async () => {
    directory = await aDirectory([{ slug: "trust-a" }, { slug: "trust-b" }]);
    await directory.publisher.buildAll({ processes: 1 });
  }, 240_000);
  afterAll(() => directory.close());

  test("names and repairs what somebody changed in place, and what is wrong in the folder", async () => {
    const { publisher } = directory;
    const { context } = publisher;
    const path = "nonprofits/trust-a.html";
    const whole = directory.read(path) ?? "";
    const shown = join(context.exported.folder, path);
    // The blob and the file in the folder are one.
    chmodSync(shown, 0o644);
    writeFileSync(shown, "defaced");
    expect(directory.read(path)).toBe("defaced");
    rmSync(join(context.exported.folder, "llms.txt"));
    writeFileSync(join(context.exported.folder, "own.txt"), "not ours");
    const { differing, repaired } = await publisher.buildAll({ processes: 1 });
    expect([differing, repaired]).toEqual([[], [path]]);
    expect(directory.read(path)).toBe(whole);
    expect(await checkExport(context)).toEqual(["llms.txt", path]);
    expect(text(shown)).toBe(whole);
    expect(await checkExport(context)).toEqual([]);
    expect(text(join(context.exported.folder, "own.txt"))).toBe("not ours");
  });
});
