import { describe, expect, test } from "bun:test";
import { instrumented, testsThatRun } from "./faults/coverage.ts";
import { faultsIn, sharesOf } from "./faults/draw.ts";

const faultsOf = (text: string, kind: string): string[] =>
  faultsIn("content/giving/x.ts", `${text}\n`, new Map())
    .filter((fault) => fault.kind === kind)
    .map(({ start, end, after }) => text.slice(0, start) + after + text.slice(end));

describe("a fault", () => {
  test.each([
    ["boundary", "a < b", "a <= b"],
    ["direction", "a < b", "a >= b"],
    ["equality", "a === b", "a !== b"],
    ["connective", "a && b", "a || b"],
    ["condition", "if (a) b()", "if (!(a)) b()"],
    ["answer", "const f = () => a > b", "const f = () => !(a > b)"],
    ["answer", "function f(): boolean { return g }", "function f(): boolean { return !(g) }"],
    ["number", "const most = 30", "const most = 31"],
    ["number", "const most = 10_000n", "const most = 20000n"],
    ["statement", "await save(a)", ";"],
    ["refusal", "if (a) return b; else_()", "; else_()"],
    ["element", "const a = [b, c, d]", "const a = [c, d]"],
    ["code", 'const a = { "retry-after": "3" }', 'const a = { "retry-after": "3x" }'],
    ["default", "a ?? 0", "a ?? 1"],
    ["selection", "a.filter(b).map(c)", "a.map(c)"],
    ["clause", '"SELECT a FROM b ORDER BY c"', '"SELECT a FROM b "'],
    ["clause", '"SELECT a FROM b WHERE c = 1 AND d = 2"', '"SELECT a FROM b WHERE c = 1 "'],
  ])("of the kind %s makes of %s: %s", (kind, text, after) => {
    expect(faultsOf(text, kind)).toContain(after);
  });

  test.each([
    ["number", 'z.string().describe("x", 30)'],
    ["number", "const waitMs = 30"],
    ["statement", "log.info(a)"],
    ["refusal", "if (a === null) return b"],
    ["refusal", 'if (a) throw new Error("a bug")'],
    ["clause", '"SELECT a FROM b WHERE c = ? ORDER BY d = ?"'],
  ])("of the kind %s is not made of %s", (kind, text) => {
    expect(faultsOf(text, kind)).toEqual([]);
  });
});

test("each room has one fault, and the larger ones the rest", () => {
  const sizes = new Map([
    ["small", 10],
    ["middle", 300],
    ["large", 690],
  ]);
  expect([...sharesOf(sizes, 13)]).toEqual([
    ["large", 8],
    ["middle", 4],
    ["small", 1],
  ]);
  expect([...sharesOf(sizes, 2).keys()]).toEqual(["large", "middle"]);
});

test("a place is reached by the tests that run its block, those first that find it soonest", () => {
  const text = "const f = (a) => { if (a) { b(); } };\n";
  const blocks: Parameters<typeof instrumented>[1] = [];
  const written = instrumented({ file: "x.ts", text }, blocks, "/hits");
  expect(written).toContain("if (a) {globalThis.__hit?.(2); b(); }");
  const start = text.indexOf("b()");
  const end = text.indexOf("b()") + 3;
  const coverage = [
    { test: "loads it", seconds: 1, passes: true, blocks: [0] },
    { test: "slow", seconds: 9, passes: true, blocks: [0, 1, 2] },
    { test: "quick", seconds: 1, passes: true, blocks: [0, 1, 2] },
  ];
  const reaching = testsThatRun({ file: "x.ts", start, end }, blocks, coverage);
  expect(reaching.map((file) => file.test)).toEqual(["quick", "slow"]);
});
