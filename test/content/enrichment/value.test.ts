import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { normalise } from "#content/enrichment/value.ts";
import { readWebsite } from "#content/nonprofit/website.ts";
import { enrichableFields } from "#content/contract/enrichment.ts";
import { anyText } from "#test/support/any-text.ts";
import { isFull } from "#test/support/measured.ts";

const isCompared = (field: keyof typeof normalise, raw: string, compared: string) => {
  expect(normalise[field](raw)).toBe(compared);
  expect(normalise[field](compared)).toBe(compared); // Normal forms are stable.
};

describe("a website", () => {
  test.each([
    ["https://oak.example", ["https://oak.example", "https://oak.example/", "oak.example"]],
    ["https://oak.example", ["http://oak.example", "HTTPS://WWW.Oak.Example/"]],
    ["https://oak.example", ["https://oak.example./", "https://oak.example/#team"]],
    ["https://oak.example", ["https://oak.example?", "  https://oak.example  "]],
    ["https://oak.example", ["https://oak.example/?utm_source=x&utm_medium=y"]],
    ["https://oak.example", ["https://www.www.oak.example"]],
    ["https://oak.example/a", ["//oak.example/a", "https://oak.example:443/a"]],
    ["https://oak.example/a", ["http://oak.example:80/a", "https://oak.example/a?%75tm_source=x"]],
    ["https://oak.example:8080", ["http://oak.example:8080"]],
    ["https://oak.example/about", ["https://oak.example/About"]],
    ["https://oak.example/about/", []],
    ["https://oak.example/a?B=2&a=1", ["https://oak.example/a?UTM_Source=x&B=2&a=1"]],
    ["https://oak.example/a?id=7", ["https://oak.example/a?ref=x&gclid=1&fbclid=2&id=7"]],
    ["https://oak.example/a?refuge=1", []],
    ["https://xn--mnchen-3ya.example", ["https://münchen.example/"]],
    ["https://xn--e1afmkfd.xn--p1ai", ["https://пример.рф/"]],
    ["https://oak.example/%c3%a9cole", ["https://oak.example/%C3%89cole", "oak.example/École"]],
    ["https://www.org", ["https://www.org/"]],
    ["https://oak.example/b", ["https://oak.example/a/../b"]],
  ])("%s is how %j are compared", (compared, texts) => {
    for (const text of [compared, ...texts]) expect(normalise.website(text)).toBe(compared);
  });

  test.each([
    [
      "of an address",
      ["https://10.0.0.1/", "http://[::1]/", "https://192.0.2.7", "169.254.169.254"],
    ],
    ["of a hidden address", ["http://0x7f.1/", "http://2130706433/", "http://127.1/"]],
    ["of this network", ["http://localhost:8080", "http://intranet", "https://printer.local"]],
    ["of a private name", ["https://db.internal/x", "host.arpa", "oak.onion", "oak.test"]],
    ["of a street or of no website", ["3oakdrive.exmouth.ex84ej", "7.oakgardens", "none.provided"]],
    ["with a user", ["https://user@oak.example", "https://user:pw@oak.example"]],
    ["with another host behind", ["https://oak.example\\@evil.example"]],
    ["of another scheme", ["javascript:alert(1)", "mailto:a@oak.example", "ftp://oak.example"]],
    ["of a file or data", ["file:///etc/passwd", "data:text/html,x"]],
    ["without a host", ["", "https://", "oak", "n/a", "https://oak.e", "https://oak..example"]],
    ["of a bad host", ["https://-oak.example", "two words.example", "https://oak.example:99999"]],
    ["of two words", ["https://oak.example/a b"]],
  ])("%s is none of a public host", (_, texts) => {
    expect(texts.filter((text) => normalise.website(text) !== "")).toEqual([]);
  });

  test.each([
    ["Oak.example", "https://oak.example"],
    ["https://Oak.example/About-Us", "https://oak.example/About-Us"],
    ["https://oak.example/", "https://oak.example/"],
    ["https://oak.example/a?utm_source=x", "https://oak.example/a"],
    ["http://www.oak.example", "http://www.oak.example"],
    ["https://oak.example/A?b=C#D", "https://oak.example/A?b=C#D"],
    ["https://oak.example/a?b?", "https://oak.example/a?b?"],
    ["https://oak.example/a?#", "https://oak.example/a"],
    ["https://oak.example?#", "https://oak.example"],
  ])("%s goes live as %s", (raw, live) => {
    expect(readWebsite(raw)?.live).toBe(live);
  });

  test("whatever is typed: the form is stable, and what goes live compares as what was sent", () => {
    const text = fc.oneof(
      fc.webUrl({ withQueryParameters: true, withFragments: true }),
      fc.webPath().map((path) => `https://www.oak.example${path}`),
      anyText().map((rest) => `https://oak.example/${rest}`),
      anyText(),
    );
    fc.assert(
      fc.property(text, (raw) => {
        const compared = normalise.website(raw);
        expect(normalise.website(compared)).toBe(compared);
        const live = readWebsite(raw)?.live;
        if (live !== undefined) expect(normalise.website(live)).toBe(compared);
      }),
      { numRuns: isFull ? 5_000 : 800 },
    );
  });
});

test.each([
  ["contact_email", "Office@Oak.Example", "office@oak.example"],
  ["contact_email", " office@oak.example ", "office@oak.example"],
  ["contact_email", "info@münchen.example", "info@xn--mnchen-3ya.example"],
  ["contact_email", "office", ""],
  ["contact_email", "@oak.example", ""],
  ["contact_email", "a@b/c.example", ""],
  // A place keeps its letter case.
  ["city", "  New   York , , ", "New York"],
  ["city", "new york", "new york"],
  ["city", "Zürich", "Zürich"],
  ["city", ",", ""],
  ["region", "Nairobi  County,", "Nairobi County"],
  ["founded_year", "founded in 1998", "1998"],
  ["founded_year", "1998-05-04", "1998"],
  ["founded_year", "c. 1923, moved 1950", "1923"],
  ["founded_year", "12345", ""],
  ["founded_year", "98", ""],
] as const)("the %s %s is compared as %s", isCompared);

test("every field's form is stable whatever is typed", () => {
  for (const field of enrichableFields) {
    fc.assert(
      fc.property(anyText(60), (raw) => {
        const compared = normalise[field](raw);
        expect(normalise[field](compared)).toBe(compared);
      }),
      { numRuns: 100 },
    );
  }
});
