import { describe, expect, test } from "bun:test";
import { nearestName, usualName } from "#content/contract/other-names.ts";

const search = ["q", "cause", "country", "claimed", "has_website", "limit", "offset", "within_km"];

describe("a name from elsewhere", () => {
  test.each([
    ["query", search, "q"],
    ["name", search, "q"],
    ["name", ["slug", "amount"], "slug"],
    ["name", ["name", "slug"], "name"],
    ["amount_usdc", ["slug", "amount"], "amount"],
    ["countryCode", search, "country"],
    ["Country", search, "country"],
    ["verified", search, "claimed"],
  ])("%s means the same here", (given, known, meant) => {
    expect(usualName(given, known)).toBe(meant);
    expect(nearestName(given, known)).toBe(meant);
  });

  test.each([
    ["page", search, "offset"],
    ["usd", ["amount", "payer"], "amount"],
    ["contry", search, "country"],
    ["quary", search, "q"],
    ["lmit", search, "limit"],
    ["amount_in_total", ["amount"], "amount"],
    ["website", search, "has_website"],
  ])("%s is near a known one, which may mean something else", (given, known, near) => {
    expect(usualName(given, known)).toBeNull();
    expect(nearestName(given, known)).toBe(near);
  });

  test.each(["x", "constructor", "", "zzzzzzzz", "a".repeat(10_000)])(
    "%p is near none",
    (given) => {
      expect(nearestName(given, search)).toBeNull();
      expect(usualName(given, search)).toBeNull();
    },
  );
});
