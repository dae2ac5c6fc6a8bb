import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { load } from "cheerio";
import { sans, widthOf, wrapped } from "#site/pictures/lettering.ts";
import { canDraw, drawPicture } from "#site/pictures/picture.ts";
import type { NewFile } from "#site/bundle/manifest.ts";
import type { PictureTask } from "#site/pictures/wanted.ts";
import { openPictureJob } from "#site/publisher/picture-job.ts";
import { rollBackTo } from "#site/publisher/publish-loop.ts";
import { hostileMarkup } from "#test/support/hostile-markup.ts";
import { aDirectory, type Directory } from "#test/support/publisher.ts";

const shown = {
  kicker: "Education",
  title: "Lantern School",
  line: "Kisumu, Kenya",
  country: "KE",
};
const drawn = (title: string, isSample = false) =>
  drawPicture({ ...shown, title, verified: true, isSample });
/** Width and height of a PNG. Source: PNG specification, IHDR. */
const sizeOf = (png: Uint8Array) => {
  const view = new DataView(png.buffer, png.byteOffset);
  return [view.getUint32(16), view.getUint32(20)];
};

describe("a picture", () => {
  test.each([
    "Lantern School",
    "Žluťoučký kůň 🌍👩🏽‍🚒",
    "W".repeat(5_000),
    "help ".repeat(1_000),
    hostileMarkup.join(" "),
  ])("of %s has the size that other sites ask for", (title) => {
    const png = drawn(title);
    expect(sizeOf(png)).toEqual([1_200, 630]);
    expect(png.length).toBeLessThan(300_000);
  });

  test("is the same for the same words, and another for others", () => {
    expect(drawn("Lantern School")).toEqual(drawn("Lantern School"));
    expect(drawn("Lantern Schools")).not.toEqual(drawn("Lantern School"));
    expect(drawn("Lantern School", true)).not.toEqual(drawn("Lantern School"));
  });

  test.each(["中文", "Пример", "עברית", "العربية", "हिन्दी", "ไทย", "🌍", "", " \u200B "])(
    "is not made for the name “%s”: it would show boxes, or nothing",
    (name) => expect(canDraw(name)).toBe(false),
  );

  test("has lines that fit, cut at a word", () => {
    const [size, width, linesMax] = [50, 1_056, 3];
    const { lines, isCut } = wrapped("help people ".repeat(99), sans, { size, width, linesMax });
    expect([lines.length, isCut, / (?:help|people)…$/.test(lines.at(-1) ?? "")]).toEqual([
      3,
      true,
      true,
    ]);
    const long = wrapped(`a ${"W".repeat(300)}`, sans, { size, width, linesMax: 30 }).lines;
    for (const line of [...lines, ...long])
      expect(widthOf(line, sans, size)).toBeLessThanOrEqual(width);
    expect(long.join("").replaceAll(" ", "")).toBe(`a${"W".repeat(300)}`);
  });
});

describe("pictures of a directory", () => {
  let directory: Directory;
  beforeAll(async () => {
    const claimed = { verified: 1 as const, status: "claimed" as const, causes: ["education"] };
    directory = await aDirectory(
      [
        { slug: "claimed", name: "Lantern School", ...claimed },
        { slug: "listed", name: "Listed alone", causes: ["education"] },
        { slug: "other-letters", name: "中文", ...claimed },
      ],
      { pictures: true },
    );
    await directory.publisher.buildAll({ processes: 1 });
  });
  afterAll(() => directory.close());
  const imageOf = (page: string) =>
    load(directory.read(page) ?? "")('meta[property="og:image"]').attr("content");
  const ofCause = "http://localhost:8080/pictures/causes/education.png";
  const held = () =>
    directory.publisher.context.manifest.under("pictures/nonprofits/").map(({ path }) => path);
  const run = () => directory.publisher.pictureJob.run();

  test("are made after all else, once; until then a profile shows that of its cause", async () => {
    expect(imageOf("nonprofits/claimed.html")).toBe(ofCause);
    expect(await run()).toBeGreaterThan(30);
    expect(imageOf("nonprofits/claimed.html")).toBe(`http://localhost:8080/${held()[0]}`);
    expect(held()).toHaveLength(1);
    for (const slug of ["listed", "other-letters"])
      expect(imageOf(`nonprofits/${slug}.html`)).toBe(ofCause);
    expect(imageOf("causes/education.html")).toBe(ofCause);
    expect(imageOf("index.html")).toBe("http://localhost:8080/pictures/home.png");
    expect(imageOf("countries/ke.html")).toBe("http://localhost:8080/pictures/countries/ke.png");
    expect(directory.read("pictures/countries/ke.png")).toContain("PNG");
    expect(await run()).toBe(0);
    // A full build leaves them, and gives the same pages.
    expect((await directory.publisher.buildAll({ processes: 1 })).differing).toEqual([]);
    expect(held()).toHaveLength(1);
  });

  test("follow what they show, and nothing else", async () => {
    const [before = ""] = held();
    await directory.edit("claimed", { mission: "Another mission" });
    await directory.drain();
    expect(await run()).toBe(0);
    await directory.edit("claimed", { name: "Lantern College" });
    await directory.drain();
    expect(imageOf("nonprofits/claimed.html")).toBe(ofCause);
    expect(await run()).toBe(1);
    const [after = ""] = held();
    expect(imageOf("nonprofits/claimed.html")).toEndWith(after);
    // Pages that were fetched before name it for another day.
    expect([after === before, directory.read(before) === null]).toEqual([false, false]);
  });

  test.each([1, 2])("are named after a run whose release %d could not be made", async (failing) => {
    const { context } = directory.publisher;
    await directory.edit("claimed", { name: `Lantern Academy ${failing}` });
    await directory.drain();
    let asked = 0;
    const clock = () => {
      if (++asked === failing) throw new Error("the disk is full");
      return context.clock();
    };
    const onFullDisk = openPictureJob({ ...context, clock }, { pictures: true });
    expect(onFullDisk.run()).rejects.toThrow("the disk is full");
    await onFullDisk.run();
    expect(held().map((path) => `http://localhost:8080/${path}`)).toContain(
      imageOf("nonprofits/claimed.html") ?? "",
    );
  });

  test("stop for a build, which would render pages without them", async () => {
    const { context } = directory.publisher;
    await directory.edit("claimed", { name: "Lantern Institute" });
    await directory.drain();
    const tasks: number[] = [];
    const background = {
      ...context.background,
      drawPictures: async (task: PictureTask) => {
        tasks.push(task.length);
        context.manifest.setState({ request: "full" });
        return context.background.drawPictures(task);
      },
    };
    const asked = openPictureJob({ ...context, background }, { pictures: true });
    expect([await asked.run(), await asked.run(), tasks]).toEqual([null, null, [1]]);
    context.manifest.setState({ request: "" });
    expect(await run()).toBe(1);
  });

  test("that went before they were published are drawn again, all of them", async () => {
    const { context } = directory.publisher;
    context.manifest.setState({ picture_inputs: "drawn another way" });
    const lose = (one: NewFile): NewFile => ({ ...one, digest: "0".repeat(64) });
    const background = {
      ...context.background,
      drawPictures: async (task: PictureTask) =>
        (await context.background.drawPictures(task)).map(lose),
    };
    const losing = openPictureJob({ ...context, background }, { pictures: true });
    expect(await losing.run()).toBeNull();
    expect(context.manifest.state().picture_inputs).toBe("drawn another way");
    expect(await run()).toBeGreaterThan(30);
    expect(await run()).toBe(0);
  });

  test("are drawn again when a file that says what they show is another", async () => {
    const read = (path: string) => Bun.file(join(import.meta.dirname, "../../..", path)).text();
    const job = await read("site/publisher/picture-job.ts");
    const code = await Promise.all(
      ["picture", "wanted", "lettering"].map((name) => read(`site/pictures/${name}.ts`)),
    );
    const imported = [
      ...code
        .join("\n")
        .matchAll(/^import (?!type ).*? from "#((?:content|site\/parts)\/[^"]+)";/gms),
    ].map(([, path = ""]) => path);
    expect(imported).toContain("site/parts/page-picture.ts");
    expect(imported.filter((path) => !/store/.test(path) && !job.includes(`"${path}"`))).toEqual(
      [],
    );
  });

  test("wait while a rollback holds publishing", async () => {
    const { context } = directory.publisher;
    rollBackTo(context, context.manifest.state().current_release - 1);
    await directory.edit("claimed", { name: "Lantern University" });
    expect(await run()).toBeNull();
  });
});
