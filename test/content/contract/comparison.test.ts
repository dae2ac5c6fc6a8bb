import { expect, test } from "bun:test";
import { slugsIn } from "#content/contract/comparison.ts";

test.each([
  ["a,b", ["a", "b"]],
  [" a , b\nc ,,", ["a", "b", "c"]],
  ["a,b,a", ["a", "b"]],
  ["https://almoner.example/nonprofits/hope-kitchen", ["hope-kitchen"]],
  ["https://almoner.example/es/nonprofits/a/?x=1#give b", ["a", "b"]],
  ["", []],
  [" , / , ?x", []],
])("%j names %j", (text, slugs) => {
  expect(slugsIn(text)).toEqual(slugs);
});

test("no more than 50 names are read", () => {
  expect(slugsIn(Array.from({ length: 60 }, (_, at) => at).join())).toHaveLength(50);
});
