import { afterAll, beforeAll, expect, test } from "bun:test";
import { Charts, Stats } from "#content/contract/stats.ts";
import { recordDonation } from "#content/giving/store.ts";
import { micro } from "#content/contract/base/money.ts";
import { sourceFrom } from "#content/nonprofit/record.ts";
import { countCharts, storeCharts, storedCharts } from "#content/statistics/charts-store.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, type TestService } from "#test/support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await aService();
});
afterAll(() => service.close());

const charts = async () =>
  Charts.parse(Stats.parse(await service.json("/api/stats?include=charts")).charts);

test("charts are counted from the rows, kept, and answered as they were kept", async () => {
  const { store, clock } = service.context;
  const month = clock().toISOString().slice(0, 7);
  const name = sourceFrom("register", 0, { source: "sample" });
  const provenance = { name, causes: { ...name, rule: "by its code" } };
  const [{ slug, id } = { slug: "", id: 0 }] = await service.add(
    aNonprofit({ country_code: "KE", mission: "m", provenance }),
    aNonprofit({ country_code: "KE", city: "Kisumu", provenance: { name } }),
    aNonprofit({ country_code: "NO", status: "withdrawn", provenance: { name } }),
  );
  const before = await charts();
  expect(before.countries).toEqual([{ country_code: "KE", country: "Kenya", nonprofits: 2 }]);
  expect(before.growth.at(-1)).toEqual({ month, added: 2, nonprofits: 2 });
  expect([before.decisions, before.gifts]).toEqual([[], []]);
  for (const [agent_id, value] of Object.entries({ a: "Nairobi", b: "Lamu", c: "Nairobi" })) {
    await service.post(`/api/enrich/${slug}`, { field: "city", value, agent_id });
  }
  for (const tx_signature of ["one", "two"])
    await store.write((tx) =>
      recordDonation(tx, {
        nonprofit_id: id,
        amount_micro_usdc: micro(2_500_000n),
        tx_signature,
        slot: 1,
        network: tx_signature === "one" ? "here" : "elsewhere",
        commitment: "finalized",
        recipient: "r",
        source: null,
        destination: "d",
        mint: "m",
        donor: null,
        memo: null,
        settled_at: clock().getTime(),
        recorded_at: clock().getTime(),
      }),
    );
  await store.raw.execute(
    "INSERT INTO directory_facts VALUES ('donation_network', 'here', 0) ON CONFLICT DO UPDATE SET value = 'here'",
  );
  await storeCharts(store, clock());
  const after = await storedCharts(store);
  expect(after).toEqual(await countCharts(store, after.as_of));
  expect(after.decisions.at(-1)).toEqual({ month, applied: 2, rejected: 1 });
  expect(after.gifts.at(-1)).toEqual({ month, gifts: 1, usdc: 2.5 });
  expect(after.sources.filter(({ values }) => values > 0)).toEqual([
    { source: "register", values: 2, percent: 50 },
    { source: "derived", values: 1, percent: 25 },
    { source: "consensus", values: 1, percent: 25 },
  ]);
  const share = (field: string) => after.completeness.find((one) => one.field === field)?.percent;
  expect(["causes", "city", "mission", "website"].map(share)).toEqual([100, 100, 50, 0]);
});
