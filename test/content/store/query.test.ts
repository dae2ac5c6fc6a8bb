import { expect, test } from "bun:test";
import { insertMany } from "#content/store/query.ts";
import { curatedPicks } from "#content/store/tables/recommendations.ts";
import { theStore } from "#test/support/blank-store.ts";

const store = await theStore({ url: ":memory:" });

test("each row is inserted with all it names, and no JSON is NULL", async () => {
  const pick = { recommended_for: ["visitors"], why_recommended: "It is open." };
  await store.write((tx) =>
    insertMany(tx, curatedPicks, [
      { nonprofit_id: 1, ...pick },
      { nonprofit_id: 2, ...pick, causes: ["health"] },
      { nonprofit_id: 3, ...pick, causes: null },
    ]),
  );
  const { rows } = await store.raw.execute(
    "SELECT causes FROM curated_picks ORDER BY nonprofit_id",
  );
  expect(rows.map(({ causes }) => causes)).toEqual([null, '["health"]', null]);
});
