import { expect, test } from "bun:test";
import { Glob } from "bun";
import { join } from "node:path";
import { reviewKinds } from "#content/contract/review.ts";

const root = join(import.meta.dirname, "../..");
const room = join(root, "content/requests");
const desk = join(root, "api/operator/desk");

/** Where kinds of requests stand, and what they are stored in. */
const ofKinds =
  /"#content\/(?:correction|enrichment|giving|onboarding|operator|recommendation|register|store\/tables)\//;

const kindsIn = (text: string) =>
  reviewKinds.filter((kind) =>
    new RegExp(`["'\`]${kind}\\b|\\b${kind}(?:Requests|-kind)`).test(text),
  );

test("the engine of requests names no kind, no room of one and no table", async () => {
  const named: string[] = [];
  for await (const file of new Glob("*.ts").scan(room)) {
    const text = await Bun.file(join(room, file)).text();
    if (ofKinds.test(text)) named.push(`${file} imports a room or a table of a kind`);
    named.push(...kindsIn(text).map((kind) => `${file} names ${kind}`));
  }
  expect(named).toEqual([]);
});

test.each(["queues.ts", "forms.ts", "review-page.ts"])(
  "%s of the desk names no kind of request",
  async (file) => {
    expect(kindsIn(await Bun.file(join(desk, file)).text())).toEqual([]);
  },
);
