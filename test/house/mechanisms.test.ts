import { Glob } from "bun";
import { expect, test } from "bun:test";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** What makes one of each mechanism, and the files that may. */
const mechanisms: readonly { name: string; made: RegExp; homes: readonly string[] }[] = [
  {
    name: "a digest",
    made: /\bcreateHash\(|\bCryptoHasher\b/,
    homes: ["content/runtime/digest.ts"],
  },
  {
    name: "a draft that is renamed",
    made: /\brename(?:Sync)?\(/,
    homes: [
      "content/runtime/files.ts",
      // What is streamed; store and keys, which change together; a part that goes on later; a folder.
      "scripts/backup/bring-back.ts",
      "scripts/export.ts",
      "scripts/import/fetch-file.ts",
      "site/bundle/blobs.ts",
      "site/renderer/compile.ts",
    ],
  },
  {
    name: "a cache",
    made: /from "lru-cache"|\.size >=? \w+\) \w+\.clear\(/,
    homes: ["content/runtime/cache.ts"],
  },
  {
    name: "a retry",
    made: /from "p-retry"/,
    homes: ["content/runtime/concurrency.ts"],
  },
  {
    name: "a process",
    made: /\bspawn\w*\(/,
    homes: [
      "content/runtime/supervised-child.ts",
      // Programs of the system, and one whose output is read.
      "content/runtime/systemd.ts",
      "content/store/software.ts",
      "site/bundle/durable.ts",
      "site/renderer/compile.ts",
    ],
  },
  {
    name: "a channel to another thread or process",
    made: /\.on\("message"/,
    // Both workers answer by `TaskAnswer`; the last hears of changes.
    homes: [
      "api/search/pool.ts",
      "api/search/worker.ts",
      "site/publisher/background-worker-entry.ts",
      "scripts/publish/watch.ts",
    ],
  },
  {
    name: "CSV that is read",
    made: /from "csv-parse/,
    // As a stream, a small table at once, and in the browser.
    homes: [
      "content/reconciliation/table.ts",
      "scripts/import/read-file.ts",
      "scripts/import/run-import.ts",
    ],
  },
  {
    name: "escaped HTML",
    made: /escapeHTML\(/,
    homes: ["content/language/html.ts"],
  },
];

const files: string[] = [];
for (const floor of ["content", "api", "site", "scripts"]) {
  for await (const file of new Glob(`${floor}/**/*.{ts,astro}`).scan(root)) files.push(file);
}
const texts = await Promise.all(
  files.map(async (file) => ({ file, text: await Bun.file(join(root, file)).text() })),
);

test.each(mechanisms)("$name is made in one place", ({ made, homes }) => {
  const makers = texts.filter(({ text }) => made.test(text)).map(({ file }) => file);
  expect(makers.sort()).toEqual([...homes].sort());
});

test("the directory's store is asked in SQL by stores alone", () => {
  // The only writer of public data; a table in memory.
  const isStore = /^content\/store\/|\bstore\.ts$|^content\/nonprofit\/save\.ts$/;
  const isAsking =
    /import \{[^}]*\} from "drizzle-orm|\.execute\w*\(|\.db\s*\.(?:\$count|select|insert|update|delete)\b/;
  const askers = texts.filter(({ file, text }) => isAsking.test(text) && !isStore.test(file));
  expect(askers.map(({ file }) => file)).toEqual([]);
});

test("a command begins when all of its file was read", () => {
  const early = texts.filter(({ text }) => /^if \(import\.meta\.main\)[^]*\n\n/m.test(text));
  expect(early.map(({ file }) => file)).toEqual([]);
});

test("strings are HTML only where a template, a text, a drawing or JSON-LD gives them", () => {
  const makers = texts.filter(({ text }) => /set:html|new Html\(/.test(text));
  expect(makers.map(({ file }) => file).sort()).toEqual([
    "api/operator/desk/health-page.ts",
    "api/reconciliation/routes.ts",
    "content/language/html.ts",
    "content/language/texts.ts",
    "site/parts/chart.astro",
    "site/parts/page-frame.astro",
  ]);
});
