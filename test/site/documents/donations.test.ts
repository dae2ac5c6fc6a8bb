import { expect, test } from "bun:test";
import { planFinal } from "#content/giving/finality-store.ts";
import { recordDonation } from "#content/giving/store.ts";
import { changesAfter, historiesOf, newestSequence } from "#content/nonprofit/changes-store.ts";
import { doAll } from "#content/store/query.ts";
import { documentKinds } from "#site/documents/kinds.ts";
import { staleAtOnce, staleLater } from "#site/documents/document.ts";
import { theSite } from "#test/support/compiled-site.ts";
import { aDonation } from "#test/support/records.ts";

const site = await theSite([{ slug: "well", name: "Well" }]);

const now = new Date("2026-06-01T12:00:00Z");
const give = (commitment: "confirmed" | "finalized") =>
  site.store.write((tx) => recordDonation(tx, aDonation({ commitment, donor: "one" })));
const file = async () => (await site.files("donations 1"))["api/donations/well.json"] ?? null;

test("what was given stands in the bundle once it is final, and makes nothing else stale", async () => {
  const before = await newestSequence(site.store);
  const given = await give("confirmed");
  expect([await newestSequence(site.store), await file()]).toEqual([before, null]);
  const final = { slot: 2, settled_at: now.getTime(), now };
  await site.store.write(async (tx) => doAll(tx, await planFinal(tx, given, final)));
  await give("finalized");
  const changes = await changesAfter(site.store, before, 9);
  expect(changes.map(({ slug, fields }) => [slug, ...fields])).toEqual([
    ["well", "donations"],
    ["well", "donations"],
  ]);
  for (const change of changes) {
    const places = new Map([["cause:education", 0]]);
    expect(staleAtOnce(documentKinds, change, { places, needs: null })).toEqual([]);
    const { keys, lists } = staleLater(documentKinds, change, new Map());
    expect([keys, lists]).toEqual([["donations 1"], []]);
  }
  expect(JSON.parse((await file()) ?? "")).toMatchObject({
    nonprofit: "Well",
    total_donated_usdc: 5,
    donation_count: 2,
    donor_count: 1,
    recent_donations: [{ amount_usdc: 2.5 }, { amount_usdc: 2.5 }],
  });
  expect((await historiesOf(site.store, [1])).get(1)?.changes).toHaveLength(1);
});
