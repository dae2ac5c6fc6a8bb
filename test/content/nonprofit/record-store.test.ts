import { expect, test } from "bun:test";
import type { RegisterRecord } from "#content/nonprofit/record.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { openStore } from "#content/store/open.ts";
import { aNonprofit } from "#test/support/records.ts";

test("summaries leave out the money of many years, which records have", async () => {
  const store = await openStore({ url: ":memory:" });
  const filed: RegisterRecord = {
    ...{ org_id: "US-EIN-530196605", register: "irs-990-xml", name: "A", as_of: "2024-01-31" },
    ...{ scope: "", state: "filed", facts: { period_end: "2023-06-30" } },
    finances: [
      {
        ...{ period_start: null, period_end: "2023-06-30", form: "990", currency: "USD" },
        ...{ revenue: 1, expenses: 2, assets: 3, liabilities: 4, net_assets: -1 },
        ...{ amended: false, filed_at: null, filing_url: null },
      },
    ],
  };
  const after = aNonprofit({ register_records: [filed] });
  const context = { origin: "test", now: new Date("2026-11-01") };
  const saved = await store.write((tx) => saveNonprofits(tx, [{ before: null, after }], context));
  const ids = saved.map(({ id }) => id);
  const [whole] = await recordsById(store, ids);
  const [summary] = await recordsById(store, ids, { summaries: true });
  expect(whole?.register_records).toEqual([filed]);
  expect(summary?.register_records).toEqual([{ ...filed, finances: [] }]);
  store.close();
});
