import { expect, test } from "bun:test";
import { atMostEvery, every, processorMs } from "#content/runtime/timing.ts";

const everyMs = 1;

test("work is done at once, again after each pause, and no more once stopped", async () => {
  let runs = 0;
  const loop = every(async () => (runs += 1), { everyMs, onFailure: () => {} });
  expect(runs).toBe(1);
  while (runs < 3) await Bun.sleep(1);
  await loop.stop();
  const runsAtStop = runs;
  await Bun.sleep(10);
  expect(runs).toBe(runsAtStop);
});

test("a failure is told once, and again only after the work has worked", async () => {
  const outcomes = ["bad", "bad", "good", "worse"];
  const told: unknown[] = [];
  const done = Promise.withResolvers<void>();
  const loop = every(
    async () => {
      const outcome = outcomes.shift();
      if (outcome === undefined) return done.resolve();
      if (outcome !== "good") throw outcome;
    },
    { everyMs, onFailure: (error) => told.push(error) },
  );
  await done.promise;
  await loop.stop();
  expect(told).toEqual(["bad", "worse"]);
});

test("stop waits for the run under way, and not longer than it may", async () => {
  const held = Promise.withResolvers<void>();
  const loop = every(() => held.promise, { everyMs, onFailure: () => {}, stopWaitMs: 20 });
  const beganMs = performance.now();
  await loop.stop();
  expect(performance.now() - beganMs).toBeGreaterThanOrEqual(15);
  held.resolve();
});

test("something is due again only after so much time of its own clock", () => {
  let nowMs = Math.floor(processorMs());
  const isDue = atMostEvery(250, () => nowMs);
  expect([isDue(), isDue()]).toEqual([true, false]);
  for (const [passedMs, due] of [
    [249, false],
    [1, true],
  ] as const) {
    nowMs += passedMs;
    expect(isDue()).toBe(due);
  }
});
