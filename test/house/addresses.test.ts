import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { type Address, addresses } from "#content/contract/addresses.ts";
import { patternOf } from "#content/language/address-pattern.ts";
import { languages } from "#content/language/languages.ts";
import { pathIn } from "#content/language/texts.ts";
import { edgeParts, withParts } from "#site/delivery/edge-addresses.ts";
import { urlPathsOf } from "#site/delivery/http-headers.ts";
import { aDirectory, type Directory } from "#test/support/publisher.ts";
import { aService, type TestService } from "#test/support/service.ts";

let service: TestService;
let directory: Directory;
beforeAll(async () => {
  service = await aService();
  directory = await aDirectory([
    { slug: "water", name: "Water", causes: ["education"], country_code: "KE" },
    {
      slug: "wells",
      usdc_wallet: "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T",
      status: "claimed",
    },
  ]);
  await directory.publisher.buildAll({ processes: 1 });
}, 240_000);
afterAll(() => {
  service.close();
  directory.close();
});

const table = Object.entries<Address>(addresses);
const englishForm = (address: Address) => ({ ...address, translated: false });

/** The entry that a path belongs to: the first that fits. */
const entryOf = (path: string) =>
  table.find(([, address]) => new RegExp(`^${patternOf(englishForm(address))}$`).test(path));

/** The English path of a path in any language. */
const inEnglish = (path: string): string => {
  const [, code = "", rest = ""] = /^\/([^/]+)(.*)$/.exec(path) ?? [];
  return languages.has(code) && code !== "en" ? rest || "/" : path;
};

test("an address stands in the table once", () => {
  const paths = table.map(([, { path }]) => path);
  expect(paths.filter((path, at) => paths.indexOf(path) !== at)).toEqual([]);
});

test("every route has its entry, every entry of the service its route", () => {
  const routes = service.app.routes.map(({ path }) => path.replaceAll(/:(\w+)/g, "{$1}"));
  const paths = new Set(table.map(([, { path }]) => path));
  const unowned = routes.filter(
    (path) => !paths.has(inEnglish(path)) && !path.startsWith("/desk/"),
  );
  expect(unowned).toEqual([]);
  const routed = new Set(routes);
  const languageOf = ({ translated }: Address) =>
    translated === undefined || translated === "file" ? ["en"] : [...languages.keys()];
  const missing = table
    .filter(([, { from, path }]) => from !== "file" && !path.endsWith("*"))
    .flatMap(([, address]) => languageOf(address).map((code) => pathIn(code, address.path)))
    // Elysia takes a whole part of the path for the name.
    .map((path) => path.replace(/\}\.\w+$/, "}"))
    .filter((path) => !routed.has(path));
  expect(missing).toEqual([]);
});

test("every file of a release has its entry, which says that there is one", () => {
  const { manifest } = directory.publisher.context;
  const files = manifest.db.query<{ path: string }, []>("SELECT path FROM files").all();
  const wrong = files.flatMap(({ path }) => {
    const [url = ""] = urlPathsOf(path);
    const entry = entryOf(
      inEnglish(url).replace(/^(?!\/[^/]+\.md$)(?!\/nonprofits\/)(.*)\.md$/, "$1"),
    );
    return entry === undefined || entry[1].from === "service" ? [`${path}: ${entry?.[0]}`] : [];
  });
  expect(wrong).toEqual([]);
});

test.each(Object.entries(edgeParts))("%s has the addresses of the table", (file, parts) => {
  const text = readFileSync(`site/delivery/${file}`, "utf8");
  expect(withParts(text, parts)).toBe(text); // `bun run edge` writes them.
  for (const name of Object.keys(parts)) expect(text).toContain(`table of addresses: ${name}\n`);
});
