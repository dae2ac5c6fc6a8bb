import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { sampleFiles } from "#test/support/bundle.ts";
import { givingProfileOf, urlPathsOf } from "#site/delivery/http-headers.ts";

type Answer = { uri?: string; statusCode?: number; headers?: { location: { value: string } } };

const source = readFileSync("site/delivery/edge/cloudfront-function.js", "utf8");
// It is no module: CloudFront calls a global function.
// oxlint-disable-next-line no-implied-eval
const handler = new Function(`${source}; return handler;`)() as (event: unknown) => Answer;
const ask = (uri: string) => handler({ request: { uri, querystring: {}, headers: {} } });

test.each(Object.keys(sampleFiles))("every address of %s leads to its key", (path) => {
  for (const url of urlPathsOf(path)) expect(ask(url).uri).toBe(`/${path}`);
});

test("country codes may be written in any letter case", () => {
  expect(ask("/countries/KE-2").uri).toBe("/countries/ke-2.html");
});

test("a slash at the end is sent to the address without, and nowhere else", () => {
  expect(ask("/causes/")).toMatchObject({
    statusCode: 301,
    headers: { location: { value: "/causes" } },
  });
  for (const uri of ["//evil.example/", "/\\evil.example/"]) {
    expect(ask(uri).statusCode).toBeUndefined();
  }
});

test("what the bucket does not have of /donate is asked of the service by its key", () => {
  expect(ask("/donate/no-wallet").uri).toBe("/donate/no-wallet.html");
  expect(givingProfileOf("/donate/no-wallet.html")).toEqual(givingProfileOf("/donate/no-wallet"));
});
