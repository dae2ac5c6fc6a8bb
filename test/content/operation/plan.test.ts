import { expect, test } from "bun:test";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { readAudit, verifyAudit } from "#content/operation/audit-store.ts";
import { carryOut, type Plan, planned } from "#content/operation/plan.ts";
import { type Queryable } from "#content/store/open.ts";
import { builder, statement } from "#content/store/query.ts";
import { directoryFacts } from "#content/store/tables/publishing.ts";
import { theStore } from "#test/support/blank-store.ts";

const store = await theStore({ url: ":memory:" });

const note = (value: string) =>
  statement(
    builder
      .insert(directoryFacts)
      .values({ name: "a", value, updated_at: 1 })
      .onConflictDoUpdate({ target: directoryFacts.name, set: { value } }),
  );
const entry = (subject: string) => ({ operator: "ada", action: "test", subject, at: 1 });

test("a plan is data, and its writes are done in order, those of a refusal too", async () => {
  const plan = planned(ok(1), note("first"), entry("one"), note("second"), entry("two"));
  expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
  const refusal = planned(fail("seen"), entry("three"));
  expect(await store.write((tx) => carryOut(tx, plan))).toEqual(ok(1));
  expect(await store.write((tx) => carryOut(tx, refusal))).toEqual(fail("seen"));
  expect(await store.write((tx) => carryOut(tx, fail("refused")))).toEqual(fail("refused"));
  expect(await store.db.select().from(directoryFacts)).toMatchObject([{ value: "second" }]);
  const { entries } = await readAudit({ store }, { limit: 9 });
  expect(entries.map(({ subject }) => subject)).toEqual(["three", "two", "one"]);
  expect(await verifyAudit(store, [])).toMatchObject({ entries: 3, faults: [] });
});

test("the types let no decision write, and no plan pass for what was done", () => {
  const plan: Plan<number, never> = planned(ok(1));
  // @ts-expect-error Only carryOut makes an outcome of it.
  const outcome: Result<number, never> = plan;
  expect(outcome).not.toHaveProperty("value");
  // @ts-expect-error A Queryable only reads.
  const writing = (from: Queryable) => from.db.insert;
  expect(writing).toBeFunction();
});
