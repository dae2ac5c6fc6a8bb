import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { sha256Of } from "#content/runtime/digest.ts";
import { removeDrafts } from "#site/bundle/blobs.ts";
import { type ExportFolder, openExport } from "#site/bundle/export-folder.ts";
import { checkExport, exportInSlices, exportRelease } from "#site/bundle/export-release.ts";
import { commitRelease, storeFiles } from "#site/bundle/release.ts";
import { runProfileJob } from "#site/publisher/profile-job.ts";
import { aBundle, flipBit } from "#test/support/bundle.ts";
import { theBuiltDirectory, plainFolder } from "#test/support/publisher.ts";
import { forEachTest, theFolder } from "#test/support/at-file-top.ts";

const text = (path: string) => readFileSync(path, "utf8");

const directory = await theBuiltDirectory([{ slug: "trust-a" }, { slug: "trust-b" }], {
  exported: true,
});

describe("the folder for other web servers", () => {
  const folder = theFolder();
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

const shown = (path = "api/nonprofits/trust-a.json") =>
  text(join(plainFolder(directory.dataDir), path));

/** The folder on a disk that is full. */
const fullDisk = (): ExportFolder => ({
  ...openExport(plainFolder(directory.dataDir)),
  put: () => {
    throw new Error("no space left on device");
  },
});

/** The folder shows the newest release. */
function expectShownAll(): void {
  const { exported_release, current_release } = directory.publisher.context.manifest.state();
  expect(exported_release).toBe(current_release);
}

test.each([
  ["by the next start", () => Promise.resolve(exportRelease(directory.publisher.context))],
  [
    "with the next release",
    async () => {
      await directory.edit("trust-b", { tagline: "Room again" });
      await runProfileJob(directory.publisher.context);
    },
  ],
])(
  "a release that did not get into the folder for other web servers is shown there %s",
  async (what, goOn) => {
    const { context } = directory.publisher;
    await directory.edit("trust-a", { tagline: `Not shown ${what}` });
    const running = runProfileJob({ ...context, exported: fullDisk() });
    expect(await running.catch(String)).toContain("no space");
    expect(shown()).not.toContain(what);
    await goOn();
    expect(shown()).toContain(`Not shown ${what}`);
    expectShownAll();
  },
);

test("drafts of a killed process are removed, and nothing else", () => {
  const folder = plainFolder(directory.dataDir);
  const drafts = [".123-4.draft", ".123-4.br.draft", "123-snapshot.draft"];
  for (const name of drafts) writeFileSync(join(folder, name), "half");
  removeDrafts(folder);
  expect(drafts.filter((name) => existsSync(join(folder, name)))).toEqual([]);
  expect(existsSync(join(folder, "index.html"))).toBe(true);
});

test("a full build names and repairs what somebody changed in place, and what is wrong in the folder", async () => {
  await directory.drain();
  const { publisher } = directory;
  const { context } = publisher;
  const path = "nonprofits/trust-a.html";
  const whole = directory.read(path) ?? "";
  const folder = plainFolder(directory.dataDir);
  const file = join(folder, path);
  chmodSync(file, 0o644);
  writeFileSync(file, "defaced");
  flipBit(context.manifest, context.manifest.find(path)?.digest ?? "");
  expect(() => directory.read(path)).toThrow("gone or damaged");
  rmSync(join(folder, "llms.txt"));
  writeFileSync(join(folder, "own.txt"), "not ours");
  const { differing, repaired } = await publisher.buildAll();
  expect([differing, repaired]).toEqual([[], [path]]);
  expect(directory.read(path)).toBe(whole);
  expect(await checkExport(context)).toEqual(["llms.txt", path]);
  expect(text(file)).toBe(whole);
  expect(await checkExport(context)).toEqual([]);
  expect(text(join(folder, "own.txt"))).toBe("not ours");
});

describe("a release of many files", () => {
  const encoder = new TextEncoder();
  const release = (word: string) => {
    const { context } = directory.publisher;
    const files = Array.from({ length: 60 }, (_, at) => ({
      path: `many/${at}.txt`,
      body: encoder.encode(`${word} ${at}`),
    }));
    const { fast_sequence } = context.manifest.state();
    return commitRelease(context.manifest, {
      files: storeFiles(context, files).files,
      reason: word,
      asOf: fast_sequence,
      state: {},
      now: new Date(),
    });
  };
  const shownOf = (at: number) => shown(`many/${at}.txt`);

  test("is shown bit by bit, and newer releases in between are not overwritten", async () => {
    const { context } = directory.publisher;
    release("one");
    let turns = 0;
    await exportInSlices(context, async () => {
      if (++turns !== 2) return;
      // Another big release and a small one overtake it.
      release("two");
      await exportInSlices(context, async () => {});
      await directory.edit("trust-b", { tagline: "In between" });
      await runProfileJob(context);
    });
    for (const at of [0, 30, 59]) expect(shownOf(at)).toBe(`two ${at}`);
    expectShownAll();
    expect(turns).toBeGreaterThan(3);
  });

  test("that could not be shown whole is shown with the next one", async () => {
    const { context } = directory.publisher;
    const exported = openExport(plainFolder(directory.dataDir));
    const put: typeof exported.put = (path, write) => {
      if (path === "many/40.txt") throw new Error("no space left on device");
      exported.put(path, write);
    };
    const full = { ...context, exported: { ...exported, put } };
    release("three");
    expect(await exportInSlices(full, async () => {}).catch(String)).toContain("no space");
    expect(shownOf(40)).toBe("two 40");
    await directory.edit("trust-b", { tagline: "Room again" });
    await runProfileJob(context);
    expect(shownOf(40)).toBe("three 40");
    expectShownAll();
  });
});

const page = (title: string) => `<!doctype html><title>${title}</title>${"words ".repeat(400)}`;
describe("an export with siblings", () => {
  const bundle = forEachTest(aBundle);
  const at = (path: string) => join(bundle.exported.folder, path);
  const siblings = (path: string) =>
    ["", ".br", ".gz"].map((ending) => existsSync(at(path + ending)));
  const [all, plainOnly] = [
    [true, true, true],
    [true, false, false],
  ];
  const publish = (files: Record<string, string | null>) =>
    bundle.publish(files, openExport(bundle.exported.folder, { precompress: true }));

  test("keeps them in step with each release", () => {
    publish({ "a.html": page("one"), "data.json": JSON.stringify({ text: page("one") }) });
    expect([siblings("a.html"), siblings("data.json")]).toEqual([all, all]);
    for (const words of ["one", "two"]) {
      publish({ "a.html": page(words) });
      expect(text(at("a.html"))).toBe(page(words));
      expect(brotliDecompressSync(readFileSync(at("a.html.br"))).toString()).toBe(page(words));
      expect(gunzipSync(readFileSync(at("a.html.gz"))).toString()).toBe(page(words));
    }
    publish({ "a.html": "short", "data.json": null });
    expect([text(at("a.html")), siblings("a.html")]).toEqual(["short", plainOnly]);
    expect(siblings("data.json")).not.toContain(true);
  });

  test("has none for what is small or compressed already", () => {
    publish({ "small.html": "<p>small", "snapshot/nonprofits.ndjson.gz": page("packed") });
    for (const path of ["small.html", "snapshot/nonprofits.ndjson.gz"])
      expect(siblings(path)).toEqual(plainOnly);
  });
});

test("siblings come when they are switched on, and go when they are switched off", async () => {
  const file = (path: string) => join(plainFolder(directory.dataDir), path);
  const shownSiblings = () =>
    ["index.html.br", "index.html.gz"].map((path) => existsSync(file(path)));
  const publicDir = plainFolder(directory.dataDir);
  expect(shownSiblings()).toEqual([false, false]);
  await directory.restart({ publicDir, precompress: true });
  expect(shownSiblings()).toEqual([true, true]);
  const whole = readFileSync(file("index.html"), "utf8");
  expect(gunzipSync(readFileSync(file("index.html.gz"))).toString()).toBe(whole);
  // A server would go on sending what no one renews.
  await directory.restart({ publicDir, precompress: false });
  expect(shownSiblings()).toEqual([false, false]);
  expect(existsSync(file("snapshot/nonprofits.ndjson.gz"))).toBe(true);
});
