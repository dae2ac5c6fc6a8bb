import { expect, test } from "bun:test";
import { freePort } from "#test/support/processes.ts";

test("a port of a test is one that the system gives to nobody else", async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, freePort));
  expect(new Set(ports).size).toBe(20);
  expect(Math.max(...ports)).toBeLessThan(32_768);
});
