import { describe, expect, test } from "bun:test";
import { linkHost, safeLink } from "#content/nonprofit/safe-link.ts";

describe("a link", () => {
  test.each([
    "https://www.lantern.example/",
    "http://lantern.example",
    "HTTPS://Lantern.example/a/b?c=d&e=f#g",
    "https://bücher.example/é?q=1",
    "https://lantern.example:8443/x",
    "https://lantern.example/a@b",
    "mailto:desk@lantern.example",
  ])("%s may stand on a page as it is", (link) => {
    expect(safeLink(link)).toBe(link);
  });

  test.each([
    null,
    "",
    "lantern.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "ftp://lantern.example/",
    "https://",
    "https:///path",
    "https:\\\\evil.example",
    "https://user@evil.example/",
    "https://a.example/ b",
    "https://a.example/'x",
    "https://a.example/\u0000",
    "https://a.example/\u202Egpj",
    "mailto:desk@lantern.example?bcc=all@evil.example",
    `https://a.example/${"x".repeat(2_048)}`,
  ])("%j may not", (link) => {
    expect(safeLink(link)).toBeNull();
  });

  test.each([
    ["https://www.Lantern.example/a", "lantern.example"],
    ["http://lantern.example:8080?x", "lantern.example:8080"],
    ["mailto:desk@lantern.example", "mailto:desk@lantern.example"],
  ])("%s is shown as %s", (link, shown) => {
    expect(linkHost(link)).toBe(shown);
  });
});
