import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { translations } from "#content/language/languages.ts";
import { aDirectory, type Directory } from "#test/support/publisher.ts";

// Configurations of other servers cannot read which languages there are: they know them by their form.

const textOf = (...files: string[]) => files.map((file) => readFileSync(file, "utf8")).join("\n");
const edge = "site/delivery/edge";
const inPattern = /\[a-z\]\{2\}(?:\([^)]*\)\?)?/g;
const forms: [server: string, patterns: RegExp[]][] = [
  ["nginx", patternsOf(textOf(`${edge}/nginx/server.conf`, `${edge}/nginx/http.conf`))],
  ["Varnish", patternsOf(textOf(`${edge}/varnish.vcl`))],
  [
    "CloudFront",
    [...textOf("docs/cdn.md").matchAll(/`\/(\?\?[^/`]*)\/\*`/g)].map(
      ([, form = ""]) => new RegExp(`^${form.replaceAll("?", ".").replace("*", ".*")}$`),
    ),
  ],
];

function patternsOf(text: string): RegExp[] {
  return [...text.matchAll(inPattern)].map(([pattern]) => new RegExp(`^${pattern}$`));
}

let directory: Directory;
beforeAll(async () => {
  directory = await aDirectory([{}], { pictures: true });
  await directory.publisher.buildAll({ processes: 1 });
}, 240_000);
afterAll(() => directory.close());

test.each(forms)("%s knows every language, and takes no folder for one", (server, patterns) => {
  expect(patterns.length).toBeGreaterThan(0);
  const isLanguage = (name: string) =>
    server === "CloudFront"
      ? patterns.some((pattern) => pattern.test(name))
      : patterns.every((pattern) => pattern.test(name));
  const languages = translations.map(({ language }) => language);
  const possible = [...languages, "pt-br", "zh-hant"];
  expect(possible.filter((name) => !isLanguage(name))).toEqual([]);
  const paths = directory.publisher.context.manifest.db
    .query<{ path: string }, []>("SELECT path FROM files WHERE path LIKE '%/%'")
    .all();
  const folders = new Set(paths.map(({ path }) => path.split("/")[0] ?? ""));
  expect(folders.size).toBeGreaterThan(10);
  const taken = [...folders].filter(
    (name) => !languages.includes(name) && patterns.some((pattern) => pattern.test(name)),
  );
  expect(taken).toEqual([]);
});
