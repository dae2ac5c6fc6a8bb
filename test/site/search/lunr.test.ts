import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import lunr from "lunr";
import {
  lunrDocumentsMax,
  lunrHead,
  lunrPartsFor,
  lunrPath,
  lunrShard,
  type SearchDocument,
} from "#site/documents/lunr.ts";
import { aBuiltDirectory, type Directory, plainFolder } from "#test/support/publisher.ts";
import { serveFolder } from "#test/support/static-server.ts";
import { aFolder } from "#test/support/at-file-top.ts";

const repository = join(import.meta.dirname, "../../..");

const aDocument = (parts: Partial<SearchDocument>): SearchDocument => ({
  url: "/nonprofits/a",
  slug: "a",
  name: "A",
  tagline: null,
  mission: null,
  country: null,
  region: null,
  city: null,
  causes: [],
  filters: { cause: [], country: [] },
  ...parts,
});
const head = { cause: "education", part: 1, parts: 1 };
const slugsFound = (file: string, words: string) => {
  const { documents, index } = JSON.parse(file);
  const hits = lunr.Index.load(index).query((query) => query.term(lunr.tokenizer(words), {}));
  return hits.map(({ ref }) => documents[Number(ref)].slug as string);
};

describe("a cause's index", () => {
  test.each([
    [0, 1],
    [lunrDocumentsMax, 1],
    [lunrDocumentsMax + 1, 2],
    [lunrDocumentsMax * 2 + 1, 4],
    [54_000, 32],
  ])("of %d nonprofits has %d parts", (count, parts) => {
    expect(lunrPartsFor(count)).toBe(parts);
  });
  test("ranks the name first, by stem and with or without accents", () => {
    const file = lunrShard(head, [
      aDocument({ slug: "mission", name: "Lantern", mission: "We run schools." }),
      aDocument({ slug: "name", name: "Night School" }),
      aDocument({ slug: "accent", name: "École de Saint-Étienne" }),
    ]);
    expect(slugsFound(file, "schooling")).toEqual(["name", "mission"]);
    expect(slugsFound(file, "ecole")).toEqual(["accent"]);
    expect(slugsFound(file, "etienne")).toEqual(["accent"]);
  });
  test("knows words of any script, and none of punctuation", () => {
    const file = lunrShard(head, [
      aDocument({ slug: "cyrillic", name: "Фонд «Свет»" }),
      aDocument({ slug: "apostrophe", name: "Women’s Shelter (North)" }),
    ]);
    expect(slugsFound(file, "свет")).toEqual(["cyrillic"]);
    expect(slugsFound(file, "womens")).toEqual(["apostrophe"]);
    expect(slugsFound(file, "north")).toEqual(["apostrophe"]);
  });
  test("takes words that are names of JavaScript's own things", () => {
    const words = ["constructor", "proto", "toString", "hasOwnProperty"];
    const file = lunrShard(
      head,
      words.map((name) => aDocument({ slug: name, name })),
    );
    expect(slugsFound(file, "constructor")).toEqual(["constructor"]);
    expect(slugsFound(file, "tostring")).toEqual(["toString"]);
  });
  test("is below 2 MB in brotli when all texts are as long as is indexed", () => {
    // Common words are frequent and rare ones many, as in any language; a quarter of a file stands for the whole.
    let state = 7;
    const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    const word = () => (1_700_000 + 31 * Math.floor(20_000 * random() ** 4)).toString(36);
    const text = (length: number) => {
      let made = "";
      while (made.length < length) made += `${word()} `;
      return made.slice(0, length);
    };
    const documents = Array.from({ length: lunrDocumentsMax / 4 }, (_, at) =>
      aDocument({ slug: `trust-${at}`, name: text(50), tagline: text(160), mission: text(300) }),
    );
    const file = lunrShard(head, documents);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
    expect(brotliCompressSync(file, { params }).length).toBeLessThan(2_000_000 / 4);
    expect(lunrHead(file.slice(0, 200))).toEqual({ ...head, count: documents.length });
  });
});

describe("the indexes of a directory", () => {
  let directory: Directory;
  beforeAll(async () => {
    directory = await aBuiltDirectory(
      [
        { slug: "night-school", name: "Night School", causes: ["education"], country_code: "KE" },
        { slug: "day-school", name: "Day School", causes: ["education", "health"] },
        { slug: "wells", name: "Village Wells", causes: ["water-sanitation"], mission: "Wells." },
      ],
      { exported: true },
    );
    await directory.drain();
  });
  afterAll(() => directory.close());

  const list = () =>
    JSON.parse(directory.read("search/index.json") ?? "") as {
      shards: { cause: string; path: string; documents: number; bytes: number }[];
    };
  const asOf = (path: string) =>
    directory.publisher.context.manifest.db
      .query<{ release: number }, [string]>("SELECT release FROM files WHERE path = ?")
      .get(path)?.release;

  test("are listed with their documents and bytes", () => {
    expect(list().shards.map(({ cause, documents }) => [cause, documents])).toEqual([
      ["education", 2],
      ["health", 1],
      ["water-sanitation", 1],
    ]);
    for (const { path, bytes } of list().shards) {
      expect(Buffer.byteLength(directory.read(path.slice(1)) ?? "")).toBe(bytes);
    }
  });
  test("follow a change; those of other causes stay as they are", async () => {
    const before = asOf(lunrPath("water-sanitation", 1, 1));
    await directory.publish("night-school", {
      name: "Evening Academy",
      causes: ["education", "housing"],
    });
    expect(slugsFound(directory.read("search/education.lunr.json") ?? "", "academy")).toEqual([
      "night-school",
    ]);
    expect(list().shards.map(({ cause }) => cause)).toContain("housing");
    expect(asOf(lunrPath("water-sanitation", 1, 1))).toBe(before);
  });
  test("lose what was withdrawn, and a cause that no one serves goes", async () => {
    await directory.publish("wells", { status: "withdrawn" });
    expect(directory.read("search/water-sanitation.lunr.json")).toBeNull();
    expect(list().shards.map(({ cause }) => cause)).not.toContain("water-sanitation");
  });
  test("the example of the docs searches them offline", async () => {
    const page = readFileSync(join(repository, "docs/search-offline.md"), "utf8");
    const example = /```js\n([\s\S]+?)```/.exec(page)?.[1] ?? "";
    expect(example.trim().split("\n").length).toBeLessThanOrEqual(24);
    using folder = aFolder();
    const server = serveFolder(plainFolder(directory.dataDir));
    try {
      writeFileSync(folder("search.mjs"), example);
      symlinkSync(join(repository, "node_modules"), folder("node_modules"));
      const child = Bun.spawn(
        [process.execPath, "search.mjs", server.url, "education", "academies"],
        { cwd: folder(), stdio: ["ignore", "pipe", "inherit"] },
      );
      expect(await new Response(child.stdout).json()).toMatchObject([
        { slug: "night-school", name: "Evening Academy", country: "Kenya" },
      ]);
    } finally {
      server.close();
    }
  });
});
