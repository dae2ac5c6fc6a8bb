import { expect, test } from "bun:test";
import { listLinks } from "#site/parts/address.ts";

test.each([
  ["/api/nonprofits", "/api/nonprofits?format=csv"],
  ["/api/nonprofits?limit=100&offset=200", "/api/nonprofits?format=csv"],
  ["/api/nonprofits?cause=health&limit=100&offset=100", "/api/nonprofits?cause=health&format=csv"],
  ["/api/search?q=a%26limit%3D5&offset=20", "/api/search?q=a%26limit%3D5&format=csv"],
])("the whole list of %s is at %s, and its first four side by side", (json, csv) => {
  const entries = ["a", "b", "c", "d", "e"].map((slug) => ({ path: `/nonprofits/${slug}` }));
  const compare = "/compare?orgs=a,b,c,d";
  expect(listLinks({ json, entries })).toEqual({
    csv,
    ndjson: csv.replace("csv", "ndjson"),
    compare,
  });
});
