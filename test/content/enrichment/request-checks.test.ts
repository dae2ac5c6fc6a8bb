import { expect, test } from "bun:test";
import { checksOf } from "#content/enrichment/request-checks.ts";

const now = new Date("2026-06-01");
const source_url = "https://example.org/about";

test.each([
  ["mission", "We feed people.", source_url, ["passed", "passed", "passed"]],
  ["mission", "The best kitchen of all.", null, ["passed", "noted", "noted"]],
  ["founded_year", "2100", source_url, ["failed", "passed"]],
] as const)("%s %s is checked before an operator reads it", (field, value, source, outcomes) => {
  expect(checksOf(field, { value, source_url: source }, now).map(({ outcome }) => outcome)).toEqual(
    [...outcomes],
  );
});
