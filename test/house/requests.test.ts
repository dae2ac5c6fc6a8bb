import { expect, test } from "bun:test";
import { sourceTexts } from "#test/support/source-files.ts";
import { reviewKinds } from "#content/contract/review.ts";

/** Where kinds of requests stand, and what they are stored in. */
const ofKinds =
  /"#content\/(?:correction|enrichment|giving|onboarding|operator|recommendation|register|store\/tables)\//;

const kindsIn = (text: string) =>
  reviewKinds.filter((kind) =>
    new RegExp(`["'\`]${kind}\\b|\\b${kind}(?:Requests|-kind)`).test(text),
  );

test("the engine of requests names no kind, no room of one and no table", () => {
  const named: string[] = [];
  for (const [file, text] of sourceTexts) {
    if (!file.startsWith("content/requests/")) continue;
    if (ofKinds.test(text)) named.push(`${file} imports a room or a table of a kind`);
    named.push(...kindsIn(text).map((kind) => `${file} names ${kind}`));
  }
  expect(named).toEqual([]);
});

test.each(["queues.ts", "forms.ts", "review-page.ts"])(
  "%s of the desk names no kind of request",
  (file) => {
    const text = sourceTexts.get(`api/operator/desk/${file}`);
    expect(text && kindsIn(text)).toEqual([]);
  },
);
