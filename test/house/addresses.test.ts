import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Resvg } from "@resvg/resvg-js";
import { type Address, addresses, pathIn } from "#content/contract/addresses.ts";
import { patternOf } from "#content/language/address-pattern.ts";
import { languages } from "#content/language/languages.ts";
import { openApiDocument, operations } from "#content/openapi/document.ts";
import { edgeParts, withParts } from "#site/delivery/edge-addresses.ts";
import { urlPathsOf } from "#site/delivery/http-headers.ts";
import { theDirectory } from "#test/support/publisher.ts";
import { aRegisterRecord } from "#test/support/records.ts";
import { theService } from "#test/support/service.ts";

const service = await theService();
const directory = await theDirectory([
  {
    slug: "water",
    name: "Water",
    causes: ["education"],
    country_code: "KE",
    register_records: [aRegisterRecord()],
  },
  { slug: "wells", usdc_wallet: "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T", status: "claimed" },
]);
await directory.publisher.buildAll();

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

/** What pages, crawlers of pictures and scripts load; what is asked with a form; and what catches all other paths. */
const ofPages =
  /^\/(?:pictures|pagefind|_astro|widget)\/|\.(?:png|svg|ico|webmanifest)$|\/page$|^\/(?:api|api\/admin|reconcile)\/\*$/;

test("the description names every address for programs", () => {
  const described = operations.map(({ path }) => path.replaceAll(/\{\w+\}/g, "1"));
  const missing = table.filter(([, address]) => {
    if (address.for !== undefined || address.moved !== undefined || address.local) return false;
    const pattern = new RegExp(`^${patternOf(englishForm(address))}$`);
    return !ofPages.test(address.path) && !described.some((path) => pattern.test(path));
  });
  expect(missing).toEqual([]);
});

test("every file that the description names belongs to an address of files", () => {
  const wrong = operations.filter(({ tag, path }) => {
    const entry = entryOf(path.replaceAll(/\{\w+\}/g, "1"));
    return entry === undefined || (tag === "Files" && entry[1].from !== "file");
  });
  expect(wrong).toEqual([]);
});

test("files of the feed are described as never limited", () => {
  const { paths } = openApiDocument("https://almoner.example") as {
    paths: Record<string, { get: { responses: Record<string, { headers?: object }> } }>;
  };
  const headersOf = (path: string) => Object.keys(paths[path]?.get.responses["200"]?.headers ?? {});
  expect(headersOf("/api/causes")).toContain("RateLimit");
  expect(headersOf("/changes/state.json")).not.toContain("RateLimit");
});

test("favicon.ico has the mark of favicon.svg in three sizes", async () => {
  const svg = readFileSync("site/public/favicon.svg", "utf8");
  const icon = readFileSync("site/public/favicon.ico");
  const sizes = [16, 32, 48];
  expect([icon.readUInt16LE(2), icon.readUInt16LE(4)]).toEqual([1, sizes.length]);
  for (const [at, value] of sizes.entries()) {
    const entry = 6 + 16 * at;
    const start = icon.readUInt32LE(entry + 12);
    const held = icon.subarray(start, start + icon.readUInt32LE(entry + 8));
    const drawn = new Resvg(svg, { fitTo: { mode: "width", value } }).render().asPng();
    expect([icon[entry], held.equals(drawn)]).toEqual([value, true]);
  }
});

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

test("the description has the files of folders for programs", () => {
  const described = operations.map(
    ({ path }) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  );
  const files = directory.publisher.context.manifest.db
    .query<{ path: string }, []>("SELECT path FROM files")
    .all()
    .map(({ path }) => `/${path}`)
    .filter((path) => /^\/(?:snapshot|standing|changes|search|statistics)\//.test(path));
  expect(files).toContain("/standing/US-EIN/all.json");
  expect(files.filter((path) => !described.some((pattern) => pattern.test(path)))).toEqual([]);
});

test.each(Object.entries(edgeParts))("%s has the addresses of the table", (file, parts) => {
  const text = readFileSync(`site/delivery/${file}`, "utf8");
  expect(withParts(text, parts)).toBe(text); // `bun run edge` writes them.
  for (const name of Object.keys(parts)) expect(text).toContain(`table of addresses: ${name}\n`);
});
