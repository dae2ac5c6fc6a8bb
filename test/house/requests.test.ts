import { expect, test } from "bun:test";
import { Glob } from "bun";
import { join } from "node:path";
import { reviewKinds } from "#content/contract/review.ts";

const room = join(import.meta.dirname, "../../content/requests");

test("the engine of requests names no kind", async () => {
  const named: string[] = [];
  for await (const file of new Glob("*.ts").scan(room)) {
    const text = await Bun.file(join(room, file)).text();
    for (const kind of reviewKinds) {
      if (new RegExp(`["'\`]${kind}\\b|\\b${kind}(?:Reviews|-kind)`).test(text)) {
        named.push(`${file} names ${kind}`);
      }
    }
  }
  expect(named).toEqual([]);
});
