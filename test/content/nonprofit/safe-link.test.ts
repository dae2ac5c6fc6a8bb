import { linkHost, safeLink } from "#content/nonprofit/safe-link.ts";
import { describe, expect, test } from "bun:test";

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
    ["no address", [null, "", "lantern.example", "https://", "https:///path"]],
    ["another scheme", ["javascript:alert(1)", "data:text/html,x", "ftp://lantern.example/"]],
    ["another's host", ["https:\\\\evil.example", "https://user@evil.example/"]],
    ["signs that leave it", ["https://a.example/ b", "https://a.example/'x"]],
    ["signs that nobody sees", ["https://a.example/\u0000", "https://a.example/\u202Egpj"]],
    ["another's mailbox", ["mailto:desk@lantern.example?bcc=all@evil.example"]],
    ["too much", [`https://a.example/${"x".repeat(2_048)}`]],
  ])("of %s may not", (_, links) => {
    expect(links.filter((link) => safeLink(link) !== null)).toEqual([]);
  });

  test.each([
    ["https://www.Lantern.example/a", "lantern.example"],
    ["http://lantern.example:8080?x", "lantern.example:8080"],
    ["mailto:desk@lantern.example", "mailto:desk@lantern.example"],
  ])("%s is shown as %s", (link, shown) => {
    expect(linkHost(link)).toBe(shown);
  });
});
