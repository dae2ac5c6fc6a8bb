import { expect, test } from "bun:test";
import bs58 from "bs58";
import { givingWorld } from "#content/giving/world.ts";
import { sweepDonations } from "#content/giving/sweep.ts";
import { waitingMax, watchesPerNetworkMax } from "#content/giving/intent-store.ts";
import { from } from "#test/support/enriching.ts";
import { aServiceOfNodes, honest } from "#test/support/lying-nodes.ts";
import { forEachTest } from "#test/support/at-file-top.ts";

// The attacker asks us to wait for transfers that never come, and us to ask the nodes for them.
const path = "/api/donate/well";
const at = forEachTest(() => aServiceOfNodes(() => [honest]));

const madeUp = () => bs58.encode(crypto.getRandomValues(new Uint8Array(64)));
const name = (tx_signature: string, address: string) =>
  at.service.post(path, { tx_signature }, from(address));

/** Rows that wait, as if they had been asked for. */
const wait = (network: string, count: number) =>
  at.service.store.write((tx) =>
    tx.raw.execute({
      sql: `INSERT INTO donation_intents (kind, nonprofit_id, proof, network, amount_micro_usdc, status, check_at, created_at)
            SELECT 'proof', 1, value, ?, 1, 'waiting', 9e15, 1 FROM json_each(?)`,
      args: [network, JSON.stringify(Array.from({ length: count }, madeUp))],
    }),
  );

test("all who ask for a memo share one look at the chain", async () => {
  const { memo } = await at.demand();
  const asked = () => at.nodes[0]?.asked.filter((method) => method === "getSignaturesForAddress");
  for (let n = 0; n < 20; n++) {
    const answer = await at.service.get(`${path}/status?memo=${memo}`, from(`10.7.0.${n}`));
    expect(await answer.json()).toMatchObject({ status: "pending" });
  }
  expect(asked()).toHaveLength(1);
  at.chain.pass(3_000);
  await at.service.get(`${path}/status?memo=${memo}`);
  expect(asked()).toHaveLength(2);
});

test("a network without room hears 503, never that it is recorded as soon as it lands", async () => {
  expect((await name(madeUp(), "10.8.0.1")).status).toBe(202);
  const [row] = await at.service.rows("SELECT network FROM donation_intents");
  await wait(String(row?.["network"]), watchesPerNetworkMax - 2);
  expect((await name(madeUp(), "10.8.0.1")).status).toBe(202);
  const answer = await name(madeUp(), "10.8.0.1");
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "30"]);
  expect(await answer.json()).toMatchObject({ code: "not_watched" });
  const { memo } = await at.demand();
  const status = await at.service.get(`${path}/status?memo=${memo}`, from("10.8.0.1"));
  expect(await status.json()).toMatchObject({ code: "not_watched" });
  // What has landed is recorded all the same, and another network has room.
  expect((await name(at.paid(await at.demand()), "10.8.0.1")).status).toBe(200);
  expect((await name(madeUp(), "10.9.0.1")).status).toBe(202);
});

test("65,536 networks of one address block have the places of one, and leave those of others free", async () => {
  const inBlock = (n: number) => `2001:db8:7:${n.toString(16)}::1`;
  expect((await name(madeUp(), inBlock(1))).status).toBe(202);
  const stored = await at.service.store.raw.execute("SELECT network FROM donation_intents");
  const [network] = stored.rows.map((row) => String(row["network"]));
  expect(network).toMatch(/^[\w-]{22}$/);
  await wait(network ?? "", watchesPerNetworkMax - 2);
  expect((await name(madeUp(), inBlock(2))).status).toBe(202);
  expect((await name(madeUp(), inBlock(3))).status).toBe(503);
  expect((await name(madeUp(), "2001:db8:8::1")).status).toBe(202);
});

test("nobody waits beyond the places that there are", async () => {
  await wait("others", waitingMax - 1);
  expect((await name(madeUp(), "10.9.0.1")).status).toBe(202);
  expect((await name(madeUp(), "10.10.0.1")).status).toBe(503);
});

test("made-up signatures leave the disk an hour after they lapsed, payments and voided gifts stay a week", async () => {
  const hourMs = 3_600_000;
  const at0 = at.chain.clock().getTime();
  const rows: [string, string, string | null, number][] = [
    ["proof", "lapsed", "lapsed", at0 - hourMs - 1],
    ["watch", "lapsed", "lapsed", at0 - hourMs - 1],
    ["proof", "lapsed", "lapsed", at0 - hourMs],
    ["proof", "lapsed", "voided", at0 - hourMs - 1],
    ["payment", "lapsed", "lapsed", at0 - hourMs - 1],
    ["proof", "settled", null, at0 - hourMs - 1],
  ];
  await at.service.store.write(async (tx) => {
    for (const [kind, status, outcome, check_at] of rows) {
      await tx.raw.execute({
        sql: `INSERT INTO donation_intents (kind, nonprofit_id, proof, amount_micro_usdc, status, outcome, check_at, created_at)
              VALUES (?, 1, ?, 1, ?, ?, ?, ?)`,
        args: [kind, madeUp(), status, outcome, check_at, check_at],
      });
    }
  });
  await sweepDonations(givingWorld(at.service.context));
  const left = await at.service.store.raw.execute("SELECT kind, outcome FROM donation_intents");
  expect(left.rows.map(({ kind, outcome }) => `${String(kind)} ${String(outcome)}`)).toEqual([
    "proof lapsed",
    "proof voided",
    "payment lapsed",
    "proof null",
  ]);
});
