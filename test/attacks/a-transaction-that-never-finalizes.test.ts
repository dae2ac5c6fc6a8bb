import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { givingWorld } from "#content/giving/world.ts";
import { confirmDonations } from "#content/giving/sweep.ts";
import { operatorHealth } from "#api/operator/health.ts";
import type { DonationHistory, Settlement, SignedReceipt } from "#content/contract/donation.ts";
import { readReceipt, verifyReceipt } from "#content/giving/receipt.ts";
import { openSigner } from "#content/feed/signing-keys.ts";
import { changesAfter } from "#content/nonprofit/changes-store.ts";
import { donorCounts } from "#content/recommendation/pick-store.ts";
import type { DonatingService } from "#test/support/donating.ts";
import { aServiceOfNodes, stale, sweepFor } from "#test/support/lying-nodes.ts";
import { type Lie, payingMore } from "#test/support/node.ts";

// Both nodes are on a fork: they show a transaction that the chain drops afterwards.
const path = "/api/donate/well";
let at: DonatingService;
/** What the nodes say of history that they hold, and of what they have seen. */
let fork: { dropped: boolean; firstBlock: number; pays: string | null };
beforeEach(async () => {
  fork = { dropped: false, firstBlock: 0, pays: null };
  const forked: Lie = (call, truth) => {
    if (call.method === "getFirstAvailableBlock") return fork.firstBlock;
    if (fork.dropped) return stale(call, truth);
    return fork.pays === null ? truth : payingMore(at.wallet, fork.pays)(call, truth);
  };
  at = await aServiceOfNodes(() => [forked, forked]);
});
afterEach(() => at.stop());

const json = async <Answer>(place: string) => (await at.service.json(place)) as Answer;
const history = () => json<DonationHistory>("/api/donations/well");

async function give(): Promise<Settlement> {
  const answer = await at.prove(path, at.paid(await at.demand()));
  expect(answer.status).toBe(200);
  return (await answer.json()) as Settlement;
}

const rows = async () => await at.service.rows("SELECT * FROM donations ORDER BY recorded_at");

describe("a gift whose transaction the chain drops", () => {
  test("is voided, with a signed correction beside its receipt, and counts nowhere", async () => {
    const { donation_id } = await give();
    const { nonprofit_id } = (await rows())[0] as unknown as Record<string, number>;
    const { store } = at.service;
    expect(await donorCounts(store, [nonprofit_id ?? 0])).not.toEqual(new Map());
    fork.dropped = true;
    expect(await sweepFor(at, 120, 30)).toBe(0); // A few clear answers are not enough.
    expect(await sweepFor(at, 1_200, 60)).toBe(1);

    expect(await history()).toMatchObject({ donation_count: 0, recent_donations: [] });
    expect(await donorCounts(store, [nonprofit_id ?? 0])).toEqual(new Map());
    expect(await json("/api/stats")).toMatchObject({ total_donations: 0 });
    const receipt = await json<SignedReceipt>(`/api/donations/well/${donation_id}`);
    expect(receipt.correction?.correction).toMatchObject({ donation_id, reason: "vanished" });
    const { publicKey } = await openSigner(at.service.context.secrets.signingKey);
    const claimed = readReceipt(JSON.stringify(receipt));
    if (!claimed.ok) throw new Error(claimed.failure.kind);
    expect(await verifyReceipt(claimed.value, publicKey)).toMatchObject({
      ok: false,
      failure: { kind: "voided", reason: "vanished" },
    });

    const [change] = (await changesAfter(store, 0, 100)).slice(-1);
    expect(change).toMatchObject({ nonprofit_id, slug: "well", fields: ["donations"] });
    const { warnings, donations } = await operatorHealth(at.service.context);
    expect(donations).toEqual({
      voided: 1,
      newest_voided: `/api/donations/well/${donation_id}`,
      unsettled: 0,
    });
    expect(warnings.join(" ")).toContain("vanished from the chain");
  });

  test("is credited again, once, when it lands after all", async () => {
    const { tx_signature } = await give();
    fork.dropped = true;
    expect(await sweepFor(at, 1_200, 30)).toBe(1);
    expect((await at.prove(path, tx_signature)).status).toBe(422);
    fork.dropped = false;
    await sweepFor(at, 300, 30);
    const answer = await at.prove(path, tx_signature);
    expect(answer.status).toBe(200);
    expect(await history()).toMatchObject({ donation_count: 1, total_donated_usdc: 1 });
    const [first, second, ...others] = await rows();
    expect([first?.["void_reason"], second?.["commitment"], others]).toEqual([
      "vanished",
      "finalized",
      [],
    ]);
    expect(first?.["id"]).not.toBe(second?.["id"]);
  });
});

test("a gift that stays is final after a moment, and can be neither voided nor deleted", async () => {
  await give();
  await sweepFor(at, 60, 30);
  expect(await rows()).toMatchObject([{ commitment: "finalized", check_at: null }]);
  for (const sql of [
    "UPDATE donations SET voided_at = 1, void_reason = 'vanished'",
    "DELETE FROM donations",
  ]) {
    expect(at.service.store.raw.execute(sql)).rejects.toThrow();
  }
  fork.dropped = true;
  expect(await sweepFor(at, 3_600, 120)).toBe(0);
});

test("nodes that have forgotten the blocks, or do not answer, void nothing", async () => {
  await give();
  fork = { dropped: true, firstBlock: Number.MAX_SAFE_INTEGER, pays: null };
  expect(await sweepFor(at, 3_600, 120)).toBe(0);
  expect(await history()).toMatchObject({ donation_count: 1 });
  fork.firstBlock = 0;
  at.chain.chain.chaos.set({ errors: 100 });
  at.chain.pass(3_600_000);
  expect(await confirmDonations(givingWorld(at.service.context))).toEqual([]);
});

test("one wrong answer at finalized voids nothing; only ten minutes of them do", async () => {
  await give();
  fork.pays = "7";
  expect(await sweepFor(at, 60, 30)).toBe(0);
  fork.pays = null;
  expect(await sweepFor(at, 1_200, 60)).toBe(0);
  expect(await rows()).toMatchObject([{ commitment: "finalized", voided_at: null }]);
  await give();
  fork.pays = "7";
  expect(await sweepFor(at, 1_800, 60)).toBe(1);
  expect(await rows()).toMatchObject([{}, { void_reason: "differs" }]);
});
