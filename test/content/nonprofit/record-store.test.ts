import { expect, test } from "bun:test";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { openStore } from "#content/store/open.ts";
import { redCross } from "#test/support/filed.ts";
import { saveNew } from "#test/support/records.ts";

test("summaries leave out the money of many years, which records have", async () => {
  using store = await openStore({ url: ":memory:" });
  const [saved] = await saveNew(store, redCross());
  const ids = [saved?.id ?? 0];
  const [whole] = await recordsById(store, ids);
  const [summary] = await recordsById(store, ids, { summaries: true });
  expect(whole?.register_records).toEqual(redCross().register_records);
  expect(summary?.register_records).toEqual(
    redCross().register_records.map((one) => ({ ...one, finances: [] })),
  );
});
