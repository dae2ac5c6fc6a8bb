import { describe, expect, test } from "bun:test";
import { readConfig } from "#api/config.ts";
import { readS3Target } from "#site/delivery/upload-target.ts";

const keys = { S3_ACCESS_KEY_ID: "id", S3_SECRET_ACCESS_KEY: "secret" };

const readWith = (text: string, env: Record<string, string>) =>
  readS3Target(text, readConfig(env).s3);

const addressOf = (text: string, env: Record<string, string> = {}) => {
  const read = readWith(text, { ...keys, ...env });
  return read.ok ? read.value.address : read.failure.kind;
};

describe("the address of a target", () => {
  test.each([
    ["s3://books", {}, "https://books.s3.us-east-1.amazonaws.com", ""],
    ["s3://books/", { AWS_REGION: "eu-north-1" }, "https://books.s3.eu-north-1.amazonaws.com", ""],
    ["s3://books/a/b/", {}, "https://books.s3.us-east-1.amazonaws.com", "a/b/"],
    ["s3://my.books", {}, "https://s3.us-east-1.amazonaws.com/my.books", ""],
    ["s3://books", { S3_ENDPOINT: "https://store.example/" }, "https://store.example/books", ""],
    ["s3://books", { AWS_ENDPOINT_URL: "http://box:9000" }, "http://box:9000/books", ""],
    [
      "s3://books",
      { ALMONER_S3_ENDPOINT: "http://own:9000", S3_ENDPOINT: "http://box:9000" },
      "http://own:9000/books",
      "",
    ],
  ])("%s with %o is below %s", (text, env, baseUrl, prefix) => {
    expect(addressOf(text, env as Record<string, string>)).toMatchObject({ baseUrl, prefix });
  });

  test.each(["books", "s3://", "s3:/books", "s3://B", "https://store.example/books"])(
    "%s is none",
    (text) => {
      expect(addressOf(text)).toBe("not_an_address");
    },
  );

  test("an endpoint with a path is refused", () => {
    expect(addressOf("s3://books", { S3_ENDPOINT: "https://store.example/path" })).toBe(
      "bad_endpoint",
    );
  });

  test("without keys there is no target; those of the AWS tools serve too", () => {
    const without = readWith("s3://books", {});
    expect(without.ok ? "" : without.failure.kind).toBe("no_keys");
    const aws = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b", AWS_SESSION_TOKEN: "c" };
    const read = readWith("s3://books", aws);
    expect(read.ok && read.value.keys).toEqual({
      accessKeyId: "a",
      secretAccessKey: "b",
      sessionToken: "c",
    });
  });
});
