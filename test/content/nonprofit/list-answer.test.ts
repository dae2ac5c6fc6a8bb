import { expect, test } from "bun:test";
import { answerBytes, listAnswer } from "#content/nonprofit/wire.ts";

const baseUrl = "https://almoner.example";
const page = (offset: number, total = 120) =>
  listAnswer({ baseUrl, total, limit: 50, offset, nonprofits: [] });

test.each([
  [0, "?limit=50&offset=50", null],
  [50, "?limit=50&offset=100", "?limit=50&offset=0"],
  [100, null, "?limit=50&offset=50"],
  [20, "?limit=50&offset=70", "?limit=50&offset=0"],
  [999_999, null, "?limit=50&offset=70"],
])("from %d the next page is %s and the one before is %s", (offset, next, prev) => {
  const address = (query: string | null) =>
    query === null ? null : `${baseUrl}/api/nonprofits${query}`;
  expect(page(offset)).toMatchObject({ next: address(next), prev: address(prev) });
});

test("a list of one page leads nowhere", () => {
  expect(page(0, 50)).toMatchObject({ total: 50, next: null, prev: null });
});

test("an answer is one line of JSON", () => {
  expect(answerBytes({ a: [1] })).toBe('{"a":[1]}\n');
});
