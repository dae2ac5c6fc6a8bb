import { expect, test } from "bun:test";
import { countDurations } from "#content/runtime/timing.ts";

test("durations are counted by their labels, each in the first bucket that holds it", () => {
  const durations = countDurations();
  for (const seconds of [0.001, 0.004, 11]) durations.count({ route: "/a" }, seconds);
  durations.count({ route: "/b" }, 0.02);
  expect(durations.all()).toEqual([
    { labels: { route: "/a" }, counts: [1, 1, 0, 0, 0, 0, 0, 0, 1], sum: expect.closeTo(11.005) },
    { labels: { route: "/b" }, counts: [0, 0, 1, 0, 0, 0, 0, 0, 0], sum: 0.02 },
  ]);
});
