import { expect, test } from "bun:test";
import { withoutContacts } from "#content/nonprofit/text.ts";

test.each([
  ["wells for ann.lee+x@oak.example please", "wells for [address] please"],
  ["call +44 20 7946 0958 or (020) 7946-0958", "call [number] or ([number]"],
  ["schools founded 1998 with 120 pupils", "schools founded 1998 with 120 pupils"],
  ["", ""],
])("%p is logged as %p", (text, logged) => expect(withoutContacts(text)).toBe(logged));

test("takes no long time over a hostile text", () => {
  const startMs = performance.now();
  for (const text of [
    "a@".repeat(32_000),
    "1 ".repeat(32_000),
    "@".repeat(64_000),
    "1".repeat(64_000),
  ])
    withoutContacts(text);
  expect(performance.now() - startMs).toBeLessThan(500);
});
