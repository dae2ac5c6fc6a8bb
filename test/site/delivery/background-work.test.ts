import { describe, expect, test } from "bun:test";
import { inBackground } from "#site/delivery/background-work.ts";

describe("work in the background", () => {
  test("runs once more for what was noticed during a run", async () => {
    let runs = 0;
    const gate = Promise.withResolvers<void>();
    const work = inBackground(
      () => (++runs === 1 ? gate.promise : Promise.resolve()),
      () => {},
    );
    work.notice();
    work.notice();
    work.notice();
    gate.resolve();
    await work.idle();
    expect(runs).toBe(2);
  });
  test("does not lose a notice that came during a run that failed", async () => {
    let runs = 0;
    const errors: unknown[] = [];
    const gate = Promise.withResolvers<void>();
    const work = inBackground(
      () => (++runs === 1 ? gate.promise : Promise.resolve()),
      (error) => errors.push(error),
    );
    work.notice();
    work.notice();
    gate.reject(new Error("no answer"));
    await work.idle();
    expect(runs).toBe(2);
    expect(errors.map(String)).toEqual(["Error: no answer"]);
  });
});
