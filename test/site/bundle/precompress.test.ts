import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { aBundle, type TestBundle } from "#test/support/bundle.ts";
import { aDirectory, plainFolder } from "#test/support/publisher.ts";
import { openExport } from "#site/bundle/export-folder.ts";

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
    bundle.publish(files, openExport(bundle.exported.folder, { precompress: true }));

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

test("siblings come when they are switched on, and go when they are switched off", async () => {
  const directory = await aDirectory([{ slug: "oak-trust" }], { exported: true });
  const file = (path: string) => join(plainFolder(directory.dataDir), path);
  try {
    await directory.publisher.buildAll({ processes: 1 });
    const siblings = () => ["index.html.br", "index.html.gz"].map((path) => existsSync(file(path)));
    const publicDir = plainFolder(directory.dataDir);
    expect(siblings()).toEqual([false, false]);
    await directory.restart({ publicDir, precompress: true });
    expect(siblings()).toEqual([true, true]);
    const whole = readFileSync(file("index.html"), "utf8");
    expect(gunzipSync(readFileSync(file("index.html.gz"))).toString()).toBe(whole);
    // A server would go on sending what no one renews.
    await directory.restart({ publicDir, precompress: false });
    expect(siblings()).toEqual([false, false]);
    expect(existsSync(file("snapshot/nonprofits.ndjson.gz"))).toBe(true);
  } finally {
    directory.close();
  }
}, 240_000);
