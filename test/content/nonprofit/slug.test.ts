import { describe, expect, test } from "bun:test";
import { numberedSlug, slugCandidates, slugOf } from "#content/nonprofit/slug.ts";

test.each([
  ["Friends of the Sample Library, Inc.", "friends-of-the-sample-library-inc"],
  ["St. Mary's & O’Brien", "st-marys-and-obrien"],
  ["Łódź Ökö Straße Øst", "lodz-oko-strasse-ost"],
  ["S A F E House", "s-a-f-e-house"],
  ["--", ""],
  ["日本", ""],
])("%s becomes %s", (text, slug) => {
  expect(slugOf(text)).toBe(slug);
  expect(slugOf(slug)).toBe(slug);
});

test("a long name is cut at a word, at 80 characters at most", () => {
  const slug = slugOf("International Association of Sample Organisations ".repeat(3));
  expect(slug.length).toBeLessThanOrEqual(80);
  expect(slug).toEndWith("-association-of");
  expect(slugOf("a".repeat(200)).length).toBeLessThanOrEqual(80);
});

describe("the slugs that a nonprofit may take", () => {
  const place = { city: "Easthaven", region: "Nevada" };

  test("are its name, then with its town, then with its region", () => {
    expect(slugCandidates("Grace Chapel", place, "x")).toEqual([
      "grace-chapel",
      "grace-chapel-easthaven",
      "grace-chapel-easthaven-nevada",
    ]);
  });

  test("do not repeat a town that ends the name", () => {
    expect(slugCandidates("Grace Chapel Easthaven", { ...place, region: null }, "x")).toEqual([
      "grace-chapel-easthaven",
    ]);
  });

  test("come from the org-id when no letter is Latin", () => {
    expect(slugCandidates("日本", { city: null, region: null }, "US-EIN-1")).toEqual(["us-ein-1"]);
    expect(slugCandidates("日本", { city: null, region: null }, "?")).toEqual(["nonprofit"]);
  });

  test("are never names of the bundle's own files", () => {
    expect(slugCandidates("Index", { city: null, region: null }, "x")).toEqual(["index-nonprofit"]);
    expect(slugCandidates("Pages", place, "x")[0]).toBe("pages-easthaven");
  });

  test("get a number in the end", () =>
    expect(numberedSlug("grace-chapel", 2)).toBe("grace-chapel-2"));
});
