import { expect, test } from "bun:test";
import { noFilters } from "#content/contract/browse.ts";
import { answerBytes } from "#content/contract/base/json.ts";
import { listAnswer } from "#content/nonprofit/wire.ts";

const baseUrl = "https://almoner.example";
const asked = { filters: noFilters, sort: "relevance", limit: 50 } as const;
const page = (offset: number, total = 120) =>
  listAnswer({ baseUrl, total, query: { ...asked, offset }, nonprofits: [] });

test.each([
  [0, "/pages/2.json", null],
  [50, "/pages/3.json", ""],
  [100, null, "/pages/2.json"],
  [20, "?limit=50&offset=70", ""],
  [999_999, null, "?limit=50&offset=70"],
])("from %d the next page is %s and the one before is %s", (offset, next, prev) => {
  const address = (params: string | null) =>
    params === null ? null : `${baseUrl}/api/nonprofits${params}`;
  expect(page(offset)).toMatchObject({ next: address(next), prev: address(prev) });
});

test("the next page is narrowed and sorted as this one is", () => {
  const narrowed = { ...noFilters, cause: "health", city: "São Paulo" };
  const query = { ...asked, filters: narrowed, sort: "name", offset: 0 } as const;
  expect(listAnswer({ baseUrl, total: 60, query, nonprofits: [] }).next).toBe(
    `${baseUrl}/api/nonprofits?cause=health&city=S%C3%A3o+Paulo&sort=name&limit=50&offset=50`,
  );
});

test("a list of one page leads nowhere", () => {
  expect(page(0, 50)).toMatchObject({ total: 50, next: null, prev: null });
});

test("an answer is one line of JSON", () => {
  expect(answerBytes({ a: [1] })).toBe('{"a":[1]}\n');
});
