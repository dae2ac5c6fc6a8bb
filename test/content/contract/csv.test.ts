import { expect, test } from "bun:test";
import { csvLine } from "#content/contract/base/csv.ts";

test.each([
  ["=1+1", "'=1+1"],
  [" @x", " '@x"],
  ["+44 20", "'+44 20"],
  ["-cmd", "'-cmd"],
  ["＝1", "'＝1"],
  ["\t=1", `"\t'=1"`],
  ["\r=1", `"\r'=1"`],
  ["a\n=1", `"a\n'=1"`],
  ["one; =two", `"one; '=two"`],
  ["a, b", '"a, b"'],
  ['say "no"', '"say ""no"""'],
  ["-5", "-5"],
  ["a=b", "a=b"],
  [-5, "-5"],
  [0, "0"],
  ["", ""],
])("the cell %j is written as %j", (cell, written) => {
  expect(csvLine([cell, "x"])).toBe(`${written},x\r\n`);
});
