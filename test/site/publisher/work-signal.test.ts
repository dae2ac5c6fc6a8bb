import { afterAll, describe, expect, test } from "bun:test";
import { openWorkSignal } from "#site/publisher/publish-loop.ts";
import { aDirectory } from "#test/support/publisher.ts";

const directory = await aDirectory([{ slug: "trust-a" }]);
afterAll(() => directory.close());

/** Whether a wait told of news. What does not end it before its time lets the test run out of its own. */
const waited = (work: ReturnType<typeof openWorkSignal>) =>
  work.wait(performance.now() + 3_600_000);

describe("waiting for work", () => {
  test("ends at once when a process tells of it, also before the wait", async () => {
    const work = openWorkSignal(directory.publisher.context, 5_000);
    await work.wait(0);
    work.notify();
    const early = await waited(work);
    setTimeout(() => work.notify(), 20);
    const late = await waited(work);
    expect([early, late]).toEqual([true, true]);
  });
  test("ends soon after another connection has written, without being told", async () => {
    const work = openWorkSignal(directory.publisher.context, 10);
    await work.wait(0);
    setTimeout(() => void directory.edit("trust-a", { tagline: "Written elsewhere" }), 20);
    expect(await waited(work)).toBe(true);
  });
  test("ends when its time has come or it is woken, with no news", async () => {
    const work = openWorkSignal(directory.publisher.context, 10);
    await work.wait(0);
    expect(await work.wait(performance.now() + 30)).toBe(false);
    setTimeout(() => work.wake(), 20);
    expect(await waited(work)).toBe(false);
  });
});
