import { describe, expect, test } from "bun:test";
import { inTurn, once } from "#content/runtime/keyed-lock.ts";

const place = {};
const waitMs = 5_000;

describe("work that several ask for at once", () => {
  test("is done once, and again when it is asked for later", async () => {
    let done = 0;
    const work = () => Bun.sleep(5).then(() => ++done);
    expect(await Promise.all([once(place, "a", work), once(place, "a", work)])).toEqual([1, 1]);
    expect(await once(place, "a", work)).toBe(2);
  });

  test("is another's under another key, and in another place", async () => {
    let done = 0;
    const work = () => Bun.sleep(5).then(() => ++done);
    await Promise.all([once(place, "a", work), once(place, "b", work), once({}, "a", work)]);
    expect(done).toBe(3);
  });
});

describe("work in turn", () => {
  test("begins when what came before has ended, well or badly", async () => {
    const seen: string[] = [];
    const work = (name: string, fails: boolean) => async () => {
      seen.push(`${name} begins`);
      await Bun.sleep(5);
      seen.push(`${name} ends`);
      if (fails) throw new Error(name);
    };
    const turn = { key: "money", waitMs };
    await Promise.allSettled([
      inTurn(place, turn, work("first", true)),
      inTurn(place, turn, work("second", false)),
      inTurn(place, { ...turn, key: "other" }, work("aside", false)),
    ]);
    expect(seen.filter((one) => !one.startsWith("aside"))).toEqual([
      "first begins",
      "first ends",
      "second begins",
      "second ends",
    ]);
    expect(seen.indexOf("aside begins")).toBeLessThan(seen.indexOf("first ends"));
  });

  test("is not done when its turn does not come in time; whoever came after it waits no longer", async () => {
    const held = Promise.withResolvers<void>();
    const first = inTurn(place, { key: "slow", waitMs }, () => held.promise.then(() => "first"));
    let done = false;
    const late = inTurn(place, { key: "slow", waitMs: 10 }, async () => (done = true));
    const third = inTurn(place, { key: "slow", waitMs }, async () => "third");
    expect(await late).toBeNull();
    held.resolve();
    expect([await first, await third, done]).toEqual(["first", "third", false]);
  });
});
