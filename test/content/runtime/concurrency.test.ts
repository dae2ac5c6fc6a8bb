import { describe, expect, test } from "bun:test";
import { singleFlight } from "#content/runtime/concurrency.ts";

const place = {};

describe("work that several ask for at once", () => {
  test("is done once, and again when it is asked for later", async () => {
    let done = 0;
    const work = () => Bun.sleep(5).then(() => ++done);
    expect(
      await Promise.all([singleFlight(place, "a", work), singleFlight(place, "a", work)]),
    ).toEqual([1, 1]);
    expect(await singleFlight(place, "a", work)).toBe(2);
  });

  test("is another's under another key, and in another place", async () => {
    let done = 0;
    const work = () => Bun.sleep(5).then(() => ++done);
    await Promise.all([
      singleFlight(place, "a", work),
      singleFlight(place, "b", work),
      singleFlight({}, "a", work),
    ]);
    expect(done).toBe(3);
  });
});
