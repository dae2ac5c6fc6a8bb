import { expect, test } from "bun:test";
import { Charts, Stats } from "#content/contract/stats.ts";
import { recordDonation } from "#content/giving/store.ts";
import { sourceFrom } from "#content/nonprofit/record.ts";
import { countCharts, storeCharts, storedCharts } from "#content/statistics/charts-store.ts";
import { aDonation, aNonprofit } from "#test/support/records.ts";
import { theService } from "#test/support/service.ts";

const service = await theService();

const charts = async () =>
  Charts.parse(Stats.parse(await service.json("/api/stats?include=charts")).charts);

test("charts are counted from the rows, kept, and answered as they were kept", async () => {
  const { store, clock } = service.context;
  const month = clock().toISOString().slice(0, 7);
  const name = sourceFrom("register", 0, { source: "sample" });
  const provenance = {
    name,
    causes: { ...name, rule: "by its code" },
    mission: { ...name, source: "irs-990", rule: "Form 990" },
  };
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
  for (const network of ["here", "elsewhere"])
    await store.write((tx) => recordDonation(tx, aDonation({ nonprofit_id: id, network })));
  await store.raw.execute(
    "INSERT INTO directory_facts VALUES ('donation_network', 'here', 0) ON CONFLICT DO UPDATE SET value = 'here'",
  );
  await storeCharts(store, clock());
  const after = await storedCharts(store);
  expect(after).toEqual(await countCharts(store, after.as_of));
  expect(after.decisions.at(-1)).toEqual({ month, applied: 2, rejected: 1 });
  expect(after.gifts.at(-1)).toEqual({ month, gifts: 1, usdc: 2.5 });
  expect(after.sources.filter(({ values }) => values > 0)).toEqual([
    { source: "register", values: 3, percent: 60 },
    { source: "derived", values: 1, percent: 20 },
    { source: "consensus", values: 1, percent: 20 },
  ]);
  const share = (field: string) => after.completeness.find((one) => one.field === field)?.percent;
  expect(["causes", "city", "mission", "website"].map(share)).toEqual([100, 100, 50, 0]);
});
