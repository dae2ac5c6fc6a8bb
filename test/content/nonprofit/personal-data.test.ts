import { expect, test } from "bun:test";
import { withoutContacts } from "#content/nonprofit/text.ts";

test.each([
  ["wells for ann.lee+x@oak.example please", "wells for [address] please"],
  ["call +44 20 7946 0958 or (020) 7946-0958", "call [number] or ([number]"],
  ["schools founded 1998 with 120 pupils", "schools founded 1998 with 120 pupils"],
  ["", ""],
])("%p is logged as %p", (text, logged) => expect(withoutContacts(text)).toBe(logged));

test.each(["a@", "1 ", "@", "1"])(
  "a hostile text of %p alone is read in one pass",
  (piece) => {
    expect(withoutContacts(piece.repeat(64_000)).length).toBeGreaterThan(0);
  },
  5_000,
);
