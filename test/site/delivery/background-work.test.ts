import { expect, test } from "bun:test";
import { inBackground } from "#content/runtime/timing.ts";

test.each([
  ["went well", []],
  ["failed", ["Error: no answer"]],
])("work noticed during a run that %s is done by one more run", async (_, expected) => {
  let runs = 0;
  const errors: string[] = [];
  const gate = Promise.withResolvers<void>();
  const work = inBackground(
    () => (++runs === 1 ? gate.promise : Promise.resolve()),
    (error) => errors.push(String(error)),
  );
  for (let notice = 0; notice < 3; notice++) work.notice();
  if (expected.length === 0) gate.resolve();
  else gate.reject(new Error("no answer"));
  await work.idle();
  expect([runs, errors]).toEqual([2, expected]);
});
