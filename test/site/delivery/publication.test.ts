import { expect, test } from "bun:test";
import { openPublicationWait } from "#site/delivery/bundle-reader.ts";

/** A reader whose bundle stands at one change; counts how often it is asked. */
function aReader(profilesTo: number, failed: string[] = []) {
  const asked = { times: 0 };
  const place = { release: 7, profilesTo, listsTo: 0, held: false };
  const current = () => (asked.times++, { ...place });
  return { asked, place, current, failures: () => new Set(failed) };
}
const profileOf = () => Promise.resolve(12);

test("a change that is published is told with its release", async () => {
  const reader = aReader(3);
  const waiting = openPublicationWait(reader, profileOf, 1_000)(5);
  reader.place.profilesTo = 5;
  expect(await waiting).toEqual({ release: "7" });
});

test("no one waits while a rollback holds publishing", async () => {
  const reader = aReader(3);
  reader.place.held = true;
  expect(await openPublicationWait(reader, profileOf, 5_000)(5)).toBeNull();
  expect(reader.asked.times).toBe(1);
});

test.each([
  ["is not published", 3, []],
  ["has a page that could not be rendered", 5, ["profile 12"]],
])("the wait for a change that %s ends by itself", async (_, profilesTo, failed) => {
  expect(await openPublicationWait(aReader(profilesTo, failed), profileOf, 20)(5)).toBeNull();
});

test("a thousand who wait look together, not each for itself", async () => {
  const reader = aReader(3);
  const wait = openPublicationWait(reader, profileOf, 50);
  const ended = await Promise.all(Array.from({ length: 1_000 }, () => wait(5)));
  expect(ended.every((outcome) => outcome === null)).toBe(true);
  expect(reader.asked.times).toBeLessThan(1_100);
});
