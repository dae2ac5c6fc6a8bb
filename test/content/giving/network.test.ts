import { expect, test } from "bun:test";
import { micro } from "#content/contract/base/money.ts";
import { donorCounts } from "#content/recommendation/pick-store.ts";
import { donationsByDay } from "#content/operation/activity-store.ts";
import {
  donationById,
  donationsTo,
  recordDonation,
  setDonationNetwork,
} from "#content/giving/store.ts";
import { nothingGiven } from "#content/giving/answers.ts";
import { caip2Of, clusterOfChain, nameOf, networks } from "#content/giving/network.ts";
import { liveCounters } from "#content/operation/directory-facts-store.ts";
import { aDonation, aNonprofit, saveNew } from "#test/support/records.ts";
import { theStore } from "#test/support/blank-store.ts";

const now = new Date("2026-06-01T12:00:00Z");
const devnet = "solana:devnet";
const mainnet = "solana:mainnet";

const store = await theStore({ url: ":memory:" });
await saveNew(store, aNonprofit());

let given = 0;
const give = (network: string, usdc: number) =>
  store.write(async (tx) => {
    const amount_micro_usdc = micro(BigInt(usdc * 1_000_000));
    const transfer = { tx_signature: `sig-${given++}`, donor: `donor-${given}` };
    const gift = aDonation({ network, amount_micro_usdc, ...transfer, commitment: "confirmed" });
    return (await recordDonation(tx, gift)).id;
  });
const ids = [await give(devnet, 5), await give(devnet, 7), await give(mainnet, 2)];

test("a transfer that was voided is recorded again, each time under another id, and once", async () => {
  const again = () => {
    given = 100;
    return give("solana:elsewhere", 1);
  };
  const known: string[] = [];
  for (let time = 0; time < 3; time++) {
    const id = await again();
    expect(await again()).toBe(id);
    expect(known).not.toContain(id);
    known.push(id);
    await store.raw.execute({
      sql: "UPDATE donations SET voided_at = 1, void_reason = 'vanished' WHERE id = ?",
      args: [id],
    });
  }
});

/** All that says how much was given. */
async function told() {
  const [{ count, total, recent } = nothingGiven] = await donationsTo(store, [1]);
  const ranked = (await donorCounts(store, [1])).get(1) ?? 0;
  const { total_donations } = await liveCounters(store, now);
  const daily = (await donationsByDay(store, 0)).filter(({ name }) => name === "donations");
  const perDay = daily.map(({ number }) => number);
  return [count, Number(total), recent.length, ranked, total_donations, perDay];
}

test("what was given on a test network counts nowhere once the directory settles on another, and stays", async () => {
  expect(await told()).toEqual([3, 14_000_000, 3, 3, 3, [3]]);
  await setDonationNetwork(store, devnet, now);
  expect(await told()).toEqual([2, 12_000_000, 2, 2, 2, [2]]);
  await setDonationNetwork(store, mainnet, now);
  expect(await told()).toEqual([1, 2_000_000, 1, 1, 1, [1]]);
  for (const id of ids) expect((await donationById(store, 1, id))?.id).toBe(id);
});

test("each network is known by its genesis hash, and by what its receipts say", () => {
  for (const one of Object.values(networks)) {
    expect(nameOf(one.genesis)).toBe(one.cluster);
    expect(clusterOfChain(caip2Of(one))).toBe(one.cluster);
  }
  expect(nameOf("1".repeat(44))).toBe("an unknown chain");
  expect(clusterOfChain("solana:unheard-of")).toBe("local");
});
