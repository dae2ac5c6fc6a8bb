import { expect, test } from "bun:test";
import { sourceTexts } from "#test/support/source-files.ts";

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
  { name: "a retry", made: /from "p-retry"/, homes: ["content/runtime/concurrency.ts"] },
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
  { name: "escaped HTML", made: /escapeHTML\(/, homes: ["content/language/html.ts"] },
];

/** The files with such a text. */
const filesWith = (pattern: RegExp): string[] =>
  [...sourceTexts].flatMap(([file, text]) => (pattern.test(text) ? [file] : [])).sort();

test.each(mechanisms)("$name is made in one place", ({ made, homes }) => {
  expect(filesWith(made)).toEqual([...homes].sort());
});

test("the directory's store is asked in SQL by stores alone", () => {
  // The only writer of public data; a table in memory.
  const isStore = /^content\/store\/|\bstore\.ts$|^content\/nonprofit\/save\.ts$/;
  const isAsking =
    /import \{[^}]*\} from "drizzle-orm|\.execute\w*\(|\.db\s*\.(?:\$count|select|insert|update|delete)\b/;
  expect(filesWith(isAsking).filter((file) => !isStore.test(file))).toEqual([]);
});

test("a command begins when all of its file was read", () => {
  expect(filesWith(/^if \(import\.meta\.main\)[^]*\n\n/m)).toEqual([]);
});

test("strings are HTML only where a template, a text, a drawing or JSON-LD gives them", () => {
  expect(filesWith(/set:html|new Html\(/)).toEqual([
    "api/operator/desk/health-page.ts",
    "api/reconciliation/routes.ts",
    "content/language/html.ts",
    "content/language/texts.ts",
    "site/parts/chart.astro",
    "site/parts/page-frame.astro",
  ]);
});
