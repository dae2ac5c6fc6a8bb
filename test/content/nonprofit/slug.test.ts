import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { numberedSlug, slugCandidates, slugIn, slugOf } from "#content/nonprofit/slug.ts";
import { anyText } from "#test/support/any-text.ts";

test.each([
  ["Friends of the Sample Library, Inc.", "friends-of-the-sample-library-inc"],
  ["St. Mary's & O’Brien", "st-marys-and-obrien"],
  ["Łódź Ökö Straße Øst", "lodz-oko-strasse-ost"],
  ["--", ""],
  ["Habitat® ½ ❤", "habitat-1-2"],
  ["Фонд «Вера»", "fond-vera"],
  ["جمعية الهلال الأحمر", "jmya-alhlal-alahmr"],
  ["מגן דוד אדום", "mgn-dvd-advm"],
  ["स्वच्छ जल ट्रस्ट", "svacch-jal-trast"],
  ["क्\u200dषेत्र", "ksetr"],
  ["लड़का घर", "ladaka-ghar"],
  ["বাংলাদেশ রেড ক্রিসেন্ট", "bamlades-red-krisent"],
  ["தமிழ் அறக்கட்டளை", "tamil-arakkattalai"],
  ["มูลนิธิเด็ก", "mulnithidek"],
  ["中国红十字会", "zhong-guo-hong-shi-zi-hui"],
])("%s becomes %s", (text, slug) => {
  expect(slugOf(text)).toBe(slug);
  expect(slugOf(slug)).toBe(slug);
});

test("any text becomes letters, digits and single hyphens, and stays that", () => {
  fc.assert(
    fc.property(anyText(60), (text) => {
      const slug = slugOf(text);
      expect(slug).toMatch(/^(?:[a-z0-9]+(?:-[a-z0-9]+)*)?$/);
      expect(slugOf(slug)).toBe(slug);
    }),
    { numRuns: 200 },
  );
});

test("a long name is cut at a word, at 80 characters at most", () => {
  const slug = slugOf("International Association of Sample Organisations ".repeat(3));
  expect(slug.length).toBeLessThanOrEqual(80);
  expect(slug).toEndWith("-association-of");
  expect(slugOf("a".repeat(200)).length).toBeLessThanOrEqual(80);
});

const chapel = "grace-chapel";
const nowhere = { city: null, region: null };
const inNevada = { city: "Easthaven", region: "Nevada" };

test.each([
  [
    "Grace Chapel",
    inNevada,
    ["", "-easthaven", "-easthaven-nevada"].map((end) => `${chapel}${end}`),
  ],
  // A town that ends the name is not repeated.
  ["Grace Chapel Easthaven", { ...inNevada, region: null }, ["grace-chapel-easthaven"]],
  // A name without a letter.
  ["★", nowhere, ["us-ein-1"]],
  // Names of the bundle's own files.
  ["Index", nowhere, ["index-nonprofit"]],
  ["Pages", inNevada, ["pages-easthaven", "pages-easthaven-nevada"]],
])(
  "%s may take the slugs of its name, with its town, with its region: %j",
  (name, place, slugs) => {
    expect([...slugCandidates(name, place, "US-EIN-1")]).toEqual(slugs);
  },
);

test("who has neither name nor number in letters is a nonprofit, and numbers end a slug", () => {
  expect(slugCandidates("★", nowhere, "?")).toEqual(["nonprofit"]);
  expect(numberedSlug("grace-chapel", 2)).toBe("grace-chapel-2");
});

test.each([
  "hope-kitchen",
  "https://a.example/nonprofits/hope-kitchen?x#y",
  "/nonprofits/hope-kitchen/",
])("%s names hope-kitchen", (text) => expect(slugIn(text)).toBe("hope-kitchen"));
