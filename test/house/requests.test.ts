import { expect, test } from "bun:test";
import { Glob } from "bun";
import { join } from "node:path";
import { reviewKinds } from "#content/contract/review.ts";

const room = join(import.meta.dirname, "../../content/requests");

/** Where kinds of requests stand, and what they are stored in. */
const ofKinds =
  /"#content\/(?:correction|enrichment|giving|onboarding|operator|recommendation|register|store\/tables)\//;

test("the engine of requests names no kind, no room of one and no table", async () => {
  const named: string[] = [];
  for await (const file of new Glob("*.ts").scan(room)) {
    const text = await Bun.file(join(room, file)).text();
    if (ofKinds.test(text)) named.push(`${file} imports a room or a table of a kind`);
    for (const kind of reviewKinds) {
      if (new RegExp(`["'\`]${kind}\\b|\\b${kind}(?:Requests|-kind)`).test(text)) {
        named.push(`${file} names ${kind}`);
      }
    }
  }
  expect(named).toEqual([]);
});
