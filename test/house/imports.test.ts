import { expect, test } from "bun:test";
import { Glob } from "bun";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** Which rooms a room may import by name, and which packages are kept to it. Source: the house's picture in README. */
const mayImport: Record<string, RegExp> = {
  "content/shapes": /^(zod$|#content\/(editorial|shapes)\/)/,
  "content/rules":
    /^(zod$|node:|punycode|bs58$|mailchecker$|@noble\/curves\/|#content\/(editorial|shapes|rules)\/)/,
  "content/signing": /^(zod$|node:|jose$|canonicalize$|#content\/(shapes|signing)\/)/,
  "content/openapi": /^(zod$|node:|#content\/(editorial|shapes|rules)\/)/,
  "content/store":
    /^(zod$|node:|drizzle-orm|@libsql\/client|libsql\/promise$|bun:sqlite$|#content\/)/,
  "api/chain": /^(node:|zod$|bs58$|@solana\/|@x402\/|#content\/(shapes|rules)\/|#api\/chain\/)/,
  "api/verbs":
    /^(node:|zod$|#content\/(shapes|rules|store|editorial|signing)\/|#api\/(verbs\/|chain\/chain\.ts$))/,
  api: /^(?!#(site|scripts|test)\/|astro|pagefind|lunr|@solana|@x402)/,
  site: /^(?!#(api|scripts|test)\/|elysia|@solana|@x402)/,
};

/** The longest room that holds the file. */
const roomOf = (file: string) =>
  Object.keys(mayImport)
    .filter((room) => file.startsWith(`${room}/`))
    .toSorted((a, b) => b.length - a.length)[0];

const imported = /(?:from|import)\s*\(?\s*["']([^"'\n]+)["']/g;

test("rooms import only what they may, types included", async () => {
  const wrong: string[] = [];
  for await (const file of new Glob("{content,api,site}/**/*.{ts,astro}").scan(root)) {
    const room = roomOf(file);
    if (room === undefined) continue;
    const text = await Bun.file(join(root, file)).text();
    for (const [, name = ""] of text.matchAll(imported)) {
      if (name.startsWith(".")) {
        const target = join(file, "..", name);
        if (roomOf(target) !== room) wrong.push(`${file} reaches ${name} by path`);
      } else if (mayImport[room]?.test(name) === false) wrong.push(`${file} imports ${name}`);
    }
  }
  expect(wrong).toEqual([]);
});
