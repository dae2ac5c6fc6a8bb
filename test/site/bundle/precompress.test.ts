import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { aBundle, type TestBundle } from "#test/support/bundle.ts";
import { compressedExport, openWebExport, precompressFolder } from "#site/bundle/precompress.ts";
import type { ExportFolder } from "#site/bundle/export-folder.ts";

let bundle: TestBundle;
beforeEach(() => {
  bundle = aBundle();
});
afterEach(() => bundle.close());

const page = (title: string) => `<!doctype html><title>${title}</title>${"words ".repeat(400)}`;
const at = (path: string) => join(bundle.exported.folder, path);

/** What a server that sends siblings as they are would show. */
function shown(path: string) {
  const plain = readFileSync(at(path), "utf8");
  const br = existsSync(at(`${path}.br`))
    ? brotliDecompressSync(readFileSync(at(`${path}.br`))).toString()
    : plain;
  const gz = existsSync(at(`${path}.gz`))
    ? gunzipSync(readFileSync(at(`${path}.gz`))).toString()
    : plain;
  return { plain, br, gz };
}

const same = (body: string) => ({ plain: body, br: body, gz: body });

describe("an export with siblings", () => {
  const publish = (files: Record<string, string | null>) =>
    bundle.publish(files, compressedExport(bundle.exported));

  test("keeps them in step with each release", () => {
    publish({ "a.html": page("one"), "data.json": JSON.stringify({ text: page("one") }) });
    expect(existsSync(at("a.html.br")) && existsSync(at("data.json.gz"))).toBe(true);
    expect(shown("a.html")).toEqual(same(page("one")));
    publish({ "a.html": page("two") });
    expect(shown("a.html")).toEqual(same(page("two")));
    publish({ "a.html": "short" });
    expect(shown("a.html")).toEqual(same("short"));
    expect(existsSync(at("a.html.br"))).toBe(false);
    publish({ "data.json": null });
    for (const name of ["data.json", "data.json.br", "data.json.gz"]) {
      expect(existsSync(at(name))).toBe(false);
    }
  });

  test("has none for what is small or compressed already", () => {
    publish({ "small.html": "<p>small", "snapshot/nonprofits.ndjson.gz": page("packed") });
    expect(existsSync(at("small.html.gz"))).toBe(false);
    expect(existsSync(at("snapshot/nonprofits.ndjson.gz.gz"))).toBe(false);
  });
});

describe("a whole folder", () => {
  test("gets its siblings once, and only what changed again", async () => {
    bundle.publish({
      "a.html": page("a"),
      "deep/er/b.json": JSON.stringify(page("b")),
      "c.txt": "c",
    });
    expect(await precompressFolder(bundle.exported.folder)).toEqual({ compressed: 2, removed: 0 });
    expect(shown("a.html")).toEqual(same(page("a")));
    expect(await precompressFolder(bundle.exported.folder)).toEqual({ compressed: 0, removed: 0 });
    await Bun.sleep(10); // The clock of file times is coarse.
    bundle.publish({ "a.html": page("new") });
    expect(await precompressFolder(bundle.exported.folder)).toEqual({ compressed: 1, removed: 0 });
    expect(shown("a.html")).toEqual(same(page("new")));
  });

  test("loses siblings whose file is gone or small now, and keeps archives", async () => {
    bundle.publish({ "a.html": page("a"), "b.html": page("b"), "snapshot/n.ndjson.gz": "packed" });
    await precompressFolder(bundle.exported.folder);
    bundle.publish({ "a.html": null, "b.html": "short" });
    expect(await precompressFolder(bundle.exported.folder)).toMatchObject({ removed: 2 });
    expect(existsSync(at("a.html.br"))).toBe(false);
    expect(existsSync(at("b.html.br"))).toBe(false);
    expect(existsSync(at("snapshot/n.ndjson.gz"))).toBe(true);
  });

  test("passes by files that are being written", async () => {
    writeFileSync(at(".1-1.draft"), page("half"));
    expect(await precompressFolder(bundle.exported.folder)).toEqual({ compressed: 0, removed: 0 });
  });
});

describe("the folder that web servers show", () => {
  const open = (precompress: boolean) => openWebExport(bundle.exported.folder, { precompress });
  const show = (exported: ExportFolder, files: Record<string, string | null>) =>
    bundle.publish(files, exported);

  test("gets its siblings when they are switched on, and loses them when they are switched off", async () => {
    show(await open(false), { "a.html": page("one"), "snapshot/n.ndjson.gz": page("packed") });
    expect(existsSync(at("a.html.br"))).toBe(false);
    await open(true);
    expect(shown("a.html")).toEqual(same(page("one")));
    expect(existsSync(at("a.html.br"))).toBe(true);
    // A server would go on sending what no one renews.
    await open(false);
    expect(existsSync(at("a.html.br"))).toBe(false);
    expect(existsSync(at("a.html.gz"))).toBe(false);
    expect(existsSync(at("snapshot/n.ndjson.gz"))).toBe(true);
  });
});
