import * as fc from "fast-check";

const between = (min: number, max: number) =>
  fc.integer({ min, max }).map((code) => String.fromCodePoint(code));

/** Half of it printable ASCII; else any code point but halves of surrogate pairs. */
const unit = fc.oneof(
  { arbitrary: between(0x20, 0x7e), weight: 3 },
  { arbitrary: between(0, 0x6ff), weight: 2 },
  { arbitrary: between(0, 0xd7ff), weight: 2 },
  { arbitrary: between(0xe000, 0x10ffff), weight: 1 },
);

/** Any text. The library's own unit "binary" takes a second of processor time before it makes the first. */
export const anyText = (maxLength = 40) => fc.string({ unit, maxLength });
