import { describe, expect, test } from "bun:test";
import { load } from "cheerio";
import causes from "#content/editorial/causes.json";
import { drawPicture, sans, widthOf, wrapped } from "#site/pictures/picture.ts";
import { aBuiltDirectory } from "#test/support/publisher.ts";
import { forTests } from "#test/support/at-file-top.ts";

const words = { kicker: "Cause", title: "Education", line: "Schools.", isSample: false };
/** Width and height of a PNG. Source: PNG specification, IHDR. */
const sizeOf = (png: Uint8Array) => {
  const view = new DataView(png.buffer, png.byteOffset);
  return [view.getUint32(16), view.getUint32(20)];
};

describe("a picture", () => {
  test("is the same for the same words, and another for others", () => {
    const png = drawPicture(words);
    expect(drawPicture(words)).toEqual(png);
    expect(drawPicture({ ...words, title: "Schools" })).not.toEqual(png);
    expect(drawPicture({ ...words, isSample: true })).not.toEqual(png);
  });

  test("is not made of letters that the fonts lack, nor of words that it has no room for", () => {
    expect(() => drawPicture({ ...words, title: "中文" })).toThrow("has no letter 中");
    expect(() => drawPicture({ ...words, line: "help ".repeat(200) })).toThrow("has no room");
  });

  test("has lines that fit", () => {
    const size = 50;
    const width = 1_056;
    const lines = wrapped("help people ".repeat(99).trim(), sans, { size, width });
    expect(lines.join(" ")).toBe("help people ".repeat(99).trim());
    expect(lines.filter((line) => widthOf(line, sans, size) > width)).toEqual([]);
  });
});

describe("pictures of a directory", () => {
  const directory = forTests(() =>
    aBuiltDirectory(
      [
        { slug: "school", causes: ["education", "health"], verified: 1, status: "claimed" },
        { slug: "of-no-cause", causes: [] },
      ],
      { pictures: true },
    ),
  );
  const imageOf = (page: string) =>
    load(directory.read(page) ?? "")('meta[property="og:image"]').attr("content");
  const held = () =>
    directory.publisher.context.manifest.under("pictures/").map(({ path }) => path);

  test("are one of each cause and one of the site, of the size that other sites ask for", () => {
    const { manifest, blobs } = directory.publisher.context;
    const expected = ["home", ...causes.map(({ id }) => `causes/${id}`)];
    expect(held()).toEqual(expected.map((name) => `pictures/${name}.png`).sort());
    for (const path of held()) {
      const png = blobs.read(manifest.find(path)?.digest ?? "");
      expect(sizeOf(png)).toEqual([1_200, 630]);
      expect(png.length).toBeLessThan(300_000);
    }
  });

  test.each([
    ["nonprofits/school.html", "causes/education"],
    ["nonprofits/of-no-cause.html", "home"],
    ["causes/education.html", "causes/education"],
    ["countries/ke.html", "home"],
    ["index.html", "home"],
  ])("%s names %s", (page, name) => {
    expect(imageOf(page)).toBe(`http://localhost:8080/pictures/${name}.png`);
  });

  test("differ in no other build, and go with one without them", async () => {
    expect(await directory.rebuilt()).toEqual([]);
    await directory.restart({ pictures: false });
    await directory.publisher.buildAll();
    expect(held()).toEqual([]);
  });
});
