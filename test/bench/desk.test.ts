import { expect, test } from "bun:test";
import { reviewQueues } from "#api/operator/requests.ts";
import { openStore } from "#content/store/open.ts";
import { aNonprofit, saveNew } from "#test/support/records.ts";
import { fillQueues } from "./desk/fill-queues.ts";

test("the bench of the desk fills every queue, and the log", async () => {
  using store = await openStore({ url: ":memory:" });
  await saveNew(store, ...["one", "two", "three"].map((slug) => aNonprofit({ slug })));
  await fillQueues(store, 3);
  const queues = await reviewQueues({ store, clock: () => new Date() });
  expect(queues.map(({ kind, waiting }) => `${kind} ${waiting}`)).toEqual(
    queues.map(({ kind }) => `${kind} 3`),
  );
  expect(queues.length).toBeGreaterThan(5);
});
