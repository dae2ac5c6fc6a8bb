import { expect, test } from "bun:test";
import { recordDonation } from "#content/giving/store.ts";
import { micro } from "#content/contract/base/money.ts";
import { donorCounts } from "#content/recommendation/pick-store.ts";
import { aDonation, aNonprofit } from "#test/support/records.ts";
import { theService } from "#test/support/service.ts";

const service = await theService({ records: [aNonprofit({ slug: "well" })] });

const give = (donor: string, microUsdc: bigint, count = 1) =>
  service.store.write(async (tx) => {
    for (let n = 0; n < count; n++) {
      await recordDonation(tx, aDonation({ donor, amount_micro_usdc: micro(microUsdc) }));
    }
  });

/** What the ranking knows of the gifts. */
const ranked = async () => (await donorCounts(service.store, [1])).get(1) ?? 0;

test("gifts under 0.01 USDC, and many gifts of one donor, do not lift a nonprofit in the ranking", async () => {
  await give("one", 9_999n, 150);
  for (let n = 0; n < 20; n++) await give(`sybil-${n}`, 9_999n);
  expect(await ranked()).toBe(0);
  await give("one", 10_000n, 150);
  expect(await ranked()).toBe(1);
  await give("two", 5_000_000n);
  expect(await ranked()).toBe(2);
  const history = await service.json("/api/donations/well");
  expect(history).toMatchObject({ donation_count: 321, donor_count: 22 });
  expect((history as { total_donated_usdc: number }).total_donated_usdc).toBeCloseTo(8.19983, 5);
});
