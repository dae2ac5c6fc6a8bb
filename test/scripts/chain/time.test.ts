import { describe, expect, test } from "bun:test";
import { blockhashSlots, countSlots, slotsAsOnMainnet } from "#scripts/chain/ledger.ts";

// Slots, blockhashes and commitments come from the clock that is handed in.
function aCount() {
  let nowMs = Date.UTC(2026, 5, 1);
  const slots = countSlots(() => new Date(nowMs), slotsAsOnMainnet);
  return { slots, pass: (milliseconds: number) => (nowMs += milliseconds) };
}

describe("slots", () => {
  test("come every 400 ms and tell their time", () => {
    const { slots, pass } = aCount();
    const first = slots.now();
    pass(799);
    expect(slots.now() - first).toBeWithin(1, 3);
    expect(slots.timeOf(first)).toBeWithin(
      Date.UTC(2026, 5, 1) / 1_000 - 1,
      Date.UTC(2026, 5, 1) / 1_000 + 1,
    );
    expect(slots.timeOf(slots.now()) * 1_000).toBeLessThanOrEqual(Date.UTC(2026, 5, 1) + 799);
  });

  test("never go back, whatever the clock does", () => {
    const { slots, pass } = aCount();
    const before = slots.now();
    pass(-3_600_000);
    expect(slots.now()).toBe(before);
    // And they go on at once: what is sent now is confirmed in a second, not in an hour.
    pass(400);
    expect(slots.now()).toBe(before + 1);
    slots.goOnAfter(before + 9_000);
    expect(slots.now()).toBe(before + 9_001);
  });

  test("become confirmed and then final", () => {
    const { slots, pass } = aCount();
    const slot = slots.now();
    expect(slots.commitmentOf(slot)).toBe("processed");
    pass(400);
    expect(slots.commitmentOf(slot)).toBe("confirmed");
    pass(31 * 400);
    expect(slots.commitmentOf(slot)).toBe("finalized");
  });
});

describe("a blockhash", () => {
  test("belongs to its slot, on every machine", () => {
    const one = aCount().slots;
    const two = aCount().slots;
    expect(one.blockhash(7)).toBe(two.blockhash(7));
    expect(one.blockhash(7)).not.toBe(one.blockhash(8));
  });

  test("lives for 150 slots", () => {
    const { slots, pass } = aCount();
    const hash = slots.blockhash(slots.now());
    expect(slots.isValid(hash, "processed")).toBe(true);
    // A block that is not final yet is not known to the final one.
    expect(slots.isValid(hash, "finalized")).toBe(false);
    pass(blockhashSlots * 400);
    expect(slots.isValid(hash, "processed")).toBe(true);
    pass(400);
    expect(slots.isValid(hash, "processed")).toBe(false);
    expect(slots.isValid(hash, "finalized")).toBe(true);
    pass(32 * 400);
    expect(slots.isValid(hash, "finalized")).toBe(false);
  });

  test("of the future, or of nowhere, is not valid", () => {
    const { slots } = aCount();
    expect(slots.isValid(slots.blockhash(slots.now() + 1), "processed")).toBe(false);
    expect(slots.isValid("11111111111111111111111111111111", "processed")).toBe(false);
  });

  test("is known after a leap of years", () => {
    const { slots, pass } = aCount();
    slots.isValid("", "processed");
    pass(3 * 365 * 86_400_000);
    expect(slots.isValid(slots.blockhash(slots.now() - 3), "processed")).toBe(true);
  });
});
