import { describe, expect, test } from "bun:test";
import { errorFacts, plainLine, queryFacts, scrub } from "#api/log.ts";

describe("what is logged", () => {
  test.each([
    ["cannot reach ann.lee+x@oak.example", "cannot reach [e-mail]"],
    ["from 192.0.2.77:443", "from [address]:443"],
    ["from 2001:db8:1:2:3:4:5:6.", "from [address]."],
    ["from 2001:db8::17", "from [address]"],
    ["Authorization: Bearer abc.def-123", "Authorization: Bearer [token]"],
    ["GET /x?token=abc&q=1", "GET /x?token=[secret]&q=1"],
    [
      "Failed query: insert into x\nparams: Ann,17,oak",
      "Failed query: insert into x\nparams: [left out]",
    ],
    ["at 12:34:56 on 2026-06-01", "at 12:34:56 on 2026-06-01"],
    ["file.ts:12:34", "file.ts:12:34"],
  ])("of %p is %p", (text, logged) => {
    expect(scrub(text)).toBe(logged);
  });

  test("of an error are its causes too, without personal data, however long the chain", () => {
    let error = new Error("deep ann@oak.example");
    for (let depth = 0; depth < 50; depth++) error = new Error(`level ${depth}`, { cause: error });
    const facts = JSON.stringify(errorFacts(error));
    expect(facts).toContain("level 49");
    expect(facts).toContain("level 45");
    expect(facts).not.toContain("level 40");
    const short = errorFacts(new Error("top", { cause: new Error("ann@oak.example") }));
    expect(short.cause?.message).toBe("[e-mail]");
    expect(JSON.stringify(short)).not.toContain("ann@");
  });

  test("of a query is no personal data", () => {
    const asked = { q: "wells ann@oak.example +44 20 7946 0958 192.0.2.7", cause: null, limit: 20 };
    expect(queryFacts(asked)).toEqual({
      q: "wells [e-mail] [number] [address]",
      cause: null,
      limit: 20,
    });
  });

  test("takes no long time over a hostile text", () => {
    const hostile = [
      "a@".repeat(40_000),
      ":".repeat(80_000),
      "1.".repeat(40_000),
      "f:".repeat(40_000),
    ];
    for (const text of hostile) expect(scrub(text).length).toBeLessThan(20_000);
  });
});

test("a plain line has time, level and words, and each fact once", () => {
  const facts = { code: "store_busy", text: "two words", err: { type: "Error" }, pid: 7 };
  const json = JSON.stringify({ level: 40, time: "2026-06-01T12:00:00.000Z", ...facts, msg: "no" });
  expect(plainLine(json)).toBe(
    '2026-06-01T12:00:00.000Z WARN  no code=store_busy text="two words" err={"type":"Error"}\n',
  );
});
