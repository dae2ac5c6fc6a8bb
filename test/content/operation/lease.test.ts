import { expect, test } from "bun:test";
import { openLease } from "#content/operation/lease-store.ts";
import { theStore } from "#test/support/blank-store.ts";

const store = await theStore({ url: ":memory:" });

let now = Date.parse("2026-11-21T12:00:00Z");
const lease = (name: string) => openLease(store, () => new Date(now), { name, ms: 30_000 });

test("one process holds the work, another takes over when it leaves or dies", async () => {
  const one = lease("w");
  const two = lease("w");
  expect(await one.hold()).toBe(true);
  expect(await two.hold()).toBe(false);
  now += 25_000;
  expect(await one.hold()).toBe(true); // Renewed.
  now += 25_000;
  expect(await two.hold()).toBe(false);
  await one.leave();
  expect(await two.hold()).toBe(true);
  now += 31_000; // The second died.
  expect(two.isHeld()).toBe(false);
  expect(await one.hold()).toBe(true);
  expect(await two.hold()).toBe(false);
});

test("of processes that start at once, one gets it", async () => {
  const held = await Promise.all(Array.from({ length: 20 }, () => lease("x").hold()));
  expect(held.filter(Boolean)).toHaveLength(1);
});

test("a clock that is set back frees the lease of who died, and keeps that of who lives", async () => {
  const dead = lease("y");
  const alive = lease("z");
  now += 365 * 86_400_000;
  for (const holder of [dead, alive]) expect(await holder.hold()).toBe(true);
  now -= 365 * 86_400_000;
  expect(await lease("y").hold()).toBe(true);
  expect(await alive.hold()).toBe(true);
  expect(await lease("z").hold()).toBe(false);
});

test("a lease of a machine whose clock is some minutes ahead is respected", async () => {
  now += 10 * 60_000;
  expect(await lease("a").hold()).toBe(true);
  now -= 10 * 60_000;
  expect(await lease("a").hold()).toBe(false);
});
