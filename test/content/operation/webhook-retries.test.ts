import { describe, expect, test } from "bun:test";
import {
  isGivenUp,
  pauseMs,
  retryAfterMs,
  retryDelayMs,
  webhookAttemptsMax,
} from "#content/operation/webhook-retries.ts";

const hourMs = 3_600_000;

describe("the wait after an attempt that failed", () => {
  test.each([
    [1, 5_000],
    [2, 15_000],
    [3, 45_000],
    [4, 135_000],
    [7, 3_645_000],
    [8, 2 * hourMs],
    [50, 2 * hourMs],
  ])("number %i is %i ms, give or take a fifth", (attempts, steady) => {
    expect(retryDelayMs(attempts, 0.5)).toBe(steady);
    expect(retryDelayMs(attempts, 0)).toBe(steady * 0.8);
    expect(retryDelayMs(attempts, 1)).toBe(steady * 1.2);
  });

  test("is what the receiver asks for when that is longer, up to two hours", () => {
    expect(retryDelayMs(1, 0.5, 60_000)).toBe(60_000);
    expect(retryDelayMs(3, 0.5, 1_000)).toBe(45_000);
    expect(retryDelayMs(1, 0.5, 48 * hourMs)).toBe(2 * hourMs);
  });

  test("adds up to about half a day", () => {
    const waits = Array.from({ length: webhookAttemptsMax - 1 }, (_, at) =>
      retryDelayMs(at + 1, 1),
    );
    const total = waits.reduce((sum, wait) => sum + wait, 0);
    expect(total).toBeGreaterThan(6 * hourMs);
    expect(total).toBeLessThan(16 * hourMs);
  });
});

test("a message is given up after twelve attempts, or a day", () => {
  expect([
    isGivenUp(11, 0),
    isGivenUp(12, 0),
    isGivenUp(1, 24 * hourMs - 1),
    isGivenUp(1, 24 * hourMs),
  ]).toEqual([false, true, false, true]);
});

test("a receiver is left alone the longer, the more often it failed", () => {
  expect([0, 1, 2, 3, 7, 1_000].map(pauseMs)).toEqual([0, 1_000, 2_000, 4_000, 60_000, 60_000]);
});

describe("Retry-After", () => {
  const now = new Date("2026-06-01T12:00:00Z");
  test.each([
    [null, 0],
    ["", 0],
    ["120", 120_000],
    [" 7 ", 7_000],
    ["-5", 0],
    ["soon", 0],
    ["99999999999", 0],
    ["Mon, 01 Jun 2026 12:01:00 GMT", 60_000],
    ["Mon, 01 Jun 2026 11:59:00 GMT", 0],
  ] as const)("%p is %i ms", (header, expected) => {
    expect(retryAfterMs(header, now)).toBe(expected);
  });
});
