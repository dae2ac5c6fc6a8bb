import { describe, expect, test } from "bun:test";
import { retry } from "#content/runtime/concurrency.ts";

const options = { triesMax: 3, firstMs: 1 };
const mayPass = (outcome: string) => outcome === "busy";

/** Work with these outcomes, one after the other. */
function work(...outcomes: string[]) {
  let tries = 0;
  return { run: async () => outcomes[tries++] ?? "too many tries", tries: () => tries };
}

describe("work that is tried again", () => {
  test.each([
    [["done"], "done", 1],
    [["busy", "busy", "done"], "done", 3],
    [["busy", "refused", "done"], "refused", 2],
    [["busy", "busy", "busy", "done"], "busy", 3],
  ])("with the outcomes %p answers %p after %d tries", async (outcomes, answer, tries) => {
    const { run, tries: tried } = work(...outcomes);
    expect(await retry(run, mayPass, options)).toBe(answer);
    expect(tried()).toBe(tries);
  });
  test("ends with its last outcome when it is called off", async () => {
    const { run, tries } = work("busy", "busy", "done");
    const off = new AbortController();
    const waiting = retry(run, mayPass, { triesMax: 9, firstMs: 60_000, signal: off.signal });
    setTimeout(() => off.abort(), 5);
    expect(await waiting).toBe("busy");
    expect(tries()).toBe(1);
  });
  test("that throws is not", async () => {
    let tries = 0;
    const broken = () => (tries++, Promise.reject(new Error("a bug")));
    expect(await retry(broken, () => true, options).catch(String)).toBe("Error: a bug");
    expect(tries).toBe(1);
  });
});
