import { expect, test } from "bun:test";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { carryOut, type Plan, planned, type Write } from "#content/store/plan.ts";

const tx = {} as WriteTransaction;

test("writes are done in order, those of a refusal too", async () => {
  const done: string[] = [];
  const write =
    (name: string): Write =>
    async () =>
      done.push(name);
  expect(await carryOut(tx, planned(ok(1), write("a"), write("b")))).toEqual(ok(1));
  expect(await carryOut(tx, planned(fail("seen"), write("c")))).toEqual(fail("seen"));
  expect(await carryOut(tx, fail("refused"))).toEqual(fail("refused"));
  expect(done).toEqual(["a", "b", "c"]);
});

test("the types let no decision write, and no plan pass for what was done", () => {
  const plan: Plan<number, never> = planned(ok(1));
  // @ts-expect-error Only carryOut makes an outcome of it.
  const outcome: Result<number, never> = plan;
  expect(outcome).not.toHaveProperty("value");
  // @ts-expect-error A Queryable only reads.
  const writing = (store: Queryable) => store.db.insert;
  expect(writing).toBeFunction();
});
