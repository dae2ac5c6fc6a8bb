import { describe, expect, test } from "bun:test";
import { acceptsEncoding } from "#content/contract/base/request.ts";

describe("brotli", () => {
  test.each(["br", "gzip, br", "gzip, deflate, BR;q=0.5, zstd", "br;q=1", "gzip;q=0,br"])(
    "is accepted by %p",
    (header) => expect(acceptsEncoding(header, "br")).toBe(true),
  );

  test.each([null, "", "gzip", "brotli", "xbr", "br;q=0", "gzip, br; q=0.0", "br ; Q=0.000"])(
    "is not accepted by %p",
    (header) => expect(acceptsEncoding(header, "br")).toBe(false),
  );

  test("is not looked for behind fifty other names", () => {
    expect(acceptsEncoding(`${"x,".repeat(60)}br`, "br")).toBe(false);
  });
});
