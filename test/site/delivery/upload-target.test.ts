import { describe, expect, test } from "bun:test";
import { readConfig } from "#api/config.ts";
import { openS3Target } from "#site/delivery/upload-target.ts";
import { serveHere } from "#test/support/serve-here.ts";

const keys = { S3_ACCESS_KEY_ID: "id", S3_SECRET_ACCESS_KEY: "secret" };

const openWith = (text: string, env: Record<string, string>) =>
  openS3Target(text, readConfig(env).s3);

/** The target's name, or why there is none. */
const nameOf = (text: string, env: Record<string, string> = {}) => {
  const opened = openWith(text, { ...keys, ...env });
  return opened.ok ? opened.value.name : opened.failure;
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
    expect(nameOf(text, env as Record<string, string>)).toBe(`${baseUrl}/${prefix}`);
  });

  test("another address is none", () => {
    for (const text of ["books", "s3://", "s3:/books", "s3://B", "https://store.example/books"])
      expect(nameOf(text)).toContain("s3://bucket");
  });

  test("an endpoint with a path is refused", () => {
    expect(nameOf("s3://books", { S3_ENDPOINT: "https://store.example/path" })).toBe(
      "The store's endpoint is an origin like https://s3.store.example.",
    );
  });

  test("without keys there is no target; those of the AWS tools serve too", async () => {
    const without = openWith("s3://books", {});
    expect(without.ok ? "" : without.failure).toContain("ALMONER_S3_ACCESS_KEY_ID");
    let sent = new Headers();
    using store = serveHere(({ headers }) => {
      sent = headers;
      return new Response("");
    });
    const opened = openWith("s3://books", {
      S3_ENDPOINT: `http://127.0.0.1:${store.port}`,
      AWS_ACCESS_KEY_ID: "a",
      AWS_SECRET_ACCESS_KEY: "b",
      AWS_SESSION_TOKEN: "c",
    });
    expect(opened.ok && (await opened.value.remove("index.html"))).toBeNull();
    expect(sent.get("authorization")).toContain("Credential=a/");
    expect(sent.get("x-amz-security-token")).toBe("c");
  });
});
