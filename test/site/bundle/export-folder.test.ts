import { sha256Of } from "#content/runtime/digest.ts";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openExport } from "#site/bundle/export-folder.ts";
import { checkExport } from "#site/bundle/export-release.ts";
import { flipBit } from "#test/support/bundle.ts";
import { aDirectory, type Directory, plainFolder } from "#test/support/publisher.ts";

const text = (path: string) => readFileSync(path, "utf8");

describe("the folder for other web servers", () => {
  const folder = mkdtempSync(join(tmpdir(), "almoner-export-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const exported = openExport(folder);
  const show = (path: string, body: string) =>
    exported.put(path, (draft) => writeFileSync(draft, body));

  test("is made again where somebody removed a part of it", () => {
    show("a/b/c.html", "one");
    rmSync(join(folder, "a"), { recursive: true });
    show("a/b/d.html", "two");
    expect(text(join(folder, "a/b/d.html"))).toBe("two");
  });

  test("keeps no draft of what could not be written", () => {
    const failing = () =>
      exported.put("a/e.html", (draft) => {
        writeFileSync(draft, "half");
        throw new Error("no space left on device");
      });
    expect(failing).toThrow("no space");
    expect(readdirSync(folder)).toEqual(["a"]);
  });

  test("knows what a file shows", () => {
    const content = (body: string) => ({ digest: sha256Of(body), size: body.length });
    for (const body of ["one", "two", "one"]) {
      show("a/c.html", body);
      expect(exported.shows("a/c.html", content(body))).toBe(true);
    }
    expect(exported.shows("a/c.html", content("two"))).toBe(false);
    expect(exported.shows("a/none.html", content("one"))).toBe(false);
    expect(statSync(join(folder, "a/c.html")).mode & 0o222).toBe(0);
  });
});

describe("a full build", () => {
  let directory: Directory;
  beforeAll(async () => {
    directory = await aDirectory([{ slug: "trust-a" }, { slug: "trust-b" }], { exported: true });
    await directory.publisher.buildAll({ processes: 1 });
  }, 240_000);
  afterAll(() => directory.close());

  test("names and repairs what somebody changed in place, and what is wrong in the folder", async () => {
    const { publisher } = directory;
    const { context } = publisher;
    const path = "nonprofits/trust-a.html";
    const whole = directory.read(path) ?? "";
    const folder = plainFolder(directory.dataDir);
    const shown = join(folder, path);
    chmodSync(shown, 0o644);
    writeFileSync(shown, "defaced");
    flipBit(context.manifest, context.manifest.find(path)?.digest ?? "");
    expect(() => directory.read(path)).toThrow("gone or damaged");
    rmSync(join(folder, "llms.txt"));
    writeFileSync(join(folder, "own.txt"), "not ours");
    const { differing, repaired } = await publisher.buildAll({ processes: 1 });
    expect([differing, repaired]).toEqual([[], [path]]);
    expect(directory.read(path)).toBe(whole);
    expect(await checkExport(context)).toEqual(["llms.txt", path]);
    expect(text(shown)).toBe(whole);
    expect(await checkExport(context)).toEqual([]);
    expect(text(join(folder, "own.txt"))).toBe("not ours");
  });
});
