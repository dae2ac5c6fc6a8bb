import { expect, test } from "bun:test";
import { compareFirst, listFiles } from "#site/parts/address.ts";

test.each([
  ["/api/nonprofits", "/api/nonprofits?format=csv"],
  ["/api/nonprofits?limit=100&offset=200", "/api/nonprofits?format=csv"],
  ["/api/nonprofits?cause=health&limit=100&offset=100", "/api/nonprofits?cause=health&format=csv"],
  ["/api/search?q=a%26limit%3D5&offset=20", "/api/search?q=a%26limit%3D5&format=csv"],
])("the whole list of %s is at %s", (json, csv) => {
  expect(listFiles(json)).toEqual({ csv, ndjson: csv.replace("csv", "ndjson") });
});

test("the first four of a list stand side by side", () => {
  const entries = ["a", "b", "c", "d", "e"].map((slug) => ({ path: `/nonprofits/${slug}` }));
  expect(compareFirst(entries)).toBe("/compare?orgs=a,b,c,d");
});
