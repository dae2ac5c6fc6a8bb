import { expect, test } from "bun:test";
import { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { documentKinds } from "#site/documents/kinds.ts";
import { compileSite, readCompiled, siteDigest } from "#site/renderer/compile.ts";
import { openRenderer } from "#site/renderer/renderer.ts";
import { compiledSites } from "#test/support/processes.ts";
import { aRenderer, aRichNonprofit, theSite, type TestSite } from "#test/support/compiled-site.ts";
import { aFolder, theFolder } from "#test/support/at-file-top.ts";

const folder = theFolder();
const site = await theSite([aRichNonprofit()]);

const everything = async (source: TestSite) => {
  const files: [string, string][] = [];
  for (const kind of documentKinds) {
    for await (const keys of kind.all(source)) {
      for (const { path, body } of await kind.render(keys, source)) {
        files.push([path, Bun.SHA256.hash(body ?? "null", "hex")]);
      }
    }
  }
  return Object.fromEntries(files);
};

/** Compiles at no cost: what the compiler made for all tests. */
const copying = async (workFolder: string): Promise<void> => {
  const { folder: from } = await compileSite(compiledSites);
  const isSite = (path: string) => !path.endsWith("compiled.json");
  cpSync(from, join(workFolder, "out"), { recursive: true, filter: isSite });
};

test("two compilations give the same bytes", async () => {
  const compiled = await compileSite(folder);
  expect(compiled.digest).toBe(siteDigest());
  const renderer = await openRenderer(compiled.folder);
  expect(await everything({ ...site, renderer })).toEqual(await everything(site));
});

test("two compile side by side, and leave nothing half-done behind", async () => {
  const place = join(folder, "side-by-side");
  const begun = Promise.withResolvers<void>();
  const both = Promise.withResolvers<void>();
  const first = compileSite(place, (to) => (begun.resolve(), both.promise.then(() => copying(to))));
  await begun.promise;
  const second = compileSite(place, (to) => (both.resolve(), copying(to)));
  const compiled = await Promise.all([first, second]);
  expect(compiled[0]).toEqual(compiled[1]);
  expect(readdirSync(place)).toEqual([siteDigest().slice(0, 16)]);
});

test("a folder that was left half-compiled, or that somebody damaged, is compiled again", async () => {
  using place = aFolder();
  const broken = place(siteDigest().slice(0, 16));
  cpSync((await compileSite(compiledSites)).folder, broken, { recursive: true });
  writeFileSync(join(broken, "server/entry.mjs"), "throw new Error('half')");
  expect(readCompiled(broken)).rejects.toThrow("are not as they were compiled");
  rmSync(join(broken, "compiled.json"));
  // It may be named from the working folder.
  const compiled = await compileSite(relative(process.cwd(), place()), copying);
  expect(compiled.folder).toBe(broken);
  await readCompiled(broken);
});

test("a page that cannot be rendered is an error with its cause", async () => {
  const renderer = await aRenderer();
  const rendering = renderer.render("/nonprofits/[slug]", { baseUrl: "https://almoner.example" });
  expect(rendering).rejects.toThrow(/^\/nonprofits\/slug cannot be rendered: .+/);
});
