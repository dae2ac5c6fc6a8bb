import { expect, test } from "bun:test";
import { utimesSync } from "node:fs";
import { sweepBlobs } from "#site/bundle/garbage-collection.ts";
import { aDirectory } from "#test/support/publisher.ts";

test("only old blobs that nothing names are swept", async () => {
  const directory = await aDirectory([{ slug: "oak-trust" }]);
  try {
    await directory.publisher.buildAll({ processes: 1 });
    const { context } = directory.publisher;
    const [old, young] = ["left behind long ago", "just being written"].map((text) =>
      context.blobs.put(new TextEncoder().encode(text)),
    ) as [string, string];
    const named = context.manifest.find("nonprofits/oak-trust.html")?.digest ?? "";
    const longAgo = new Date("2020-01-01");
    for (const digest of [old, named]) utimesSync(context.blobs.pathOf(digest), longAgo, longAgo);
    expect(await sweepBlobs(context)).toBe(1);
    expect([old, young, named].map((digest) => context.blobs.has(digest))).toEqual([
      false,
      true,
      true,
    ]);
  } finally {
    directory.close();
  }
});
