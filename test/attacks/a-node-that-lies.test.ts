import { afterEach, expect, test } from "bun:test";
import { aDonatingService, type DonatingService } from "#test/support/donating.ts";
import { aServiceOfNodes, honest, stale, sweepFor } from "#test/support/lying-nodes.ts";
import { type Lie, payingMore } from "#test/support/node.ts";

const path = "/api/donate/well";
const nineBillion = "9000000000000000";

let at: DonatingService;
afterEach(() => at.stop());

const given = async () => {
  const { donation_count, total_donated_usdc } = await at.service.json("/api/donations/well");
  return [donation_count, total_donated_usdc];
};
const disagreements = () => at.service.context.chain.disagreements();

test("of two nodes one that lies makes no gift: 503, until both tell the truth", async () => {
  let lies = true;
  at = await aServiceOfNodes((wallet) => [
    (call, truth) => (lies ? payingMore(wallet, nineBillion)(call, truth) : truth),
    honest,
  ]);
  const signature = at.paid(await at.demand());
  const answer = await at.prove(path, signature);
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "2"]);
  await sweepFor(at, 10, 10);
  expect(await given()).toEqual([0, 0]);
  expect(disagreements()).toBeGreaterThan(0);
  lies = false;
  await sweepFor(at, 60, 10);
  expect(await given()).toEqual([1, 1]);
  at.chain.pass(24 * 3_600_000);
  expect(disagreements()).toBe(0);
});

test("of two nodes one that makes up a transaction makes no gift", async () => {
  const invented: { of?: unknown } = {};
  at = await aServiceOfNodes(() => [
    ({ method }, truth) => (method === "getTransaction" ? (invented.of ?? truth) : truth),
    honest,
  ]);
  const payment = at.chain.donor().pay({ to: at.wallet, memo: (await at.demand()).memo });
  // A copy of the chain on which the transaction landed: the liar shows it as if it were this one.
  const landed = at.chain.donor().pay({ to: at.wallet, memo: (await at.demand()).memo });
  at.chain.land(landed);
  const how = {
    encoding: "jsonParsed",
    maxSupportedTransactionVersion: 0,
    commitment: "confirmed",
  };
  const params = [landed.signature, how];
  const call = { jsonrpc: "2.0", id: 1, method: "getTransaction", params };
  const shown = await fetch(at.chain.url, { method: "POST", body: JSON.stringify(call) });
  const text = await shown.text();
  invented.of = JSON.parse(text.replaceAll(landed.signature, payment.signature)).result;
  expect((await at.prove(path, payment.signature)).status).toBe(503);
  expect(await given()).toEqual([0, 0]);
});

test("of three nodes one that lies is outvoted", async () => {
  at = await aServiceOfNodes((wallet) => [payingMore(wallet, nineBillion), honest, honest]);
  const answer = await at.prove(path, at.paid(await at.demand()));
  expect([answer.status, ((await answer.json()) as { amount: number }).amount]).toEqual([200, 1]);
  expect(disagreements()).toBeGreaterThan(0);
});

test("a node alone is not believed more USDC than there is, nor a large gift before it is final", async () => {
  let amount = nineBillion;
  at = await aServiceOfNodes((wallet) => [
    (call, truth) => payingMore(wallet, amount)(call, truth),
  ]);
  const signature = at.paid(await at.demand());
  expect((await at.prove(path, signature)).status).toBe(503);
  amount = "900000000";
  expect((await at.prove(path, signature)).status).toBe(202);
  expect(await given()).toEqual([0, 0]);
});

test("two addresses at one host are one node", async () => {
  at = await aDonatingService({ nodes: ({ url }) => [`${url}/?key=a`, `${url}/?key=b`] });
  expect(at.service.context.chain.nodes).toBe(1);
  expect((await at.prove(path, at.paid(await at.demand()))).status).toBe(200);
});

/** Names a transfer before it lands, as a donor does who leaves afterwards. */
async function nameAndLeave(): Promise<string> {
  const { memo } = await at.demand();
  const payment = at.chain.donor().pay({ to: at.wallet, memo });
  expect((await at.prove(path, payment.signature)).status).toBe(202);
  at.chain.land(payment);
  return payment.signature;
}

test("a stale node that is asked first loses no gift of which two others know", async () => {
  at = await aServiceOfNodes(() => [stale, honest, honest]);
  await nameAndLeave();
  await sweepFor(at, 2_400, 120);
  expect(await given()).toEqual([1, 1]);
  const { memo, reference } = await at.demand();
  at.chain.land(at.chain.donor().pay({ to: at.wallet, memo, references: [reference] }));
  const status = await at.service.get(`${path}/status?memo=${memo}`);
  expect(await status.json()).toMatchObject({ status: "received" });
  expect(disagreements()).toBe(0);
});

test("of two nodes one that is stale puts gifts off for hours, and is no liar", async () => {
  let isStale = true;
  at = await aServiceOfNodes(() => [
    (call, truth) => (isStale ? stale(call, truth) : truth),
    honest,
  ]);
  const signature = await nameAndLeave();
  await sweepFor(at, 1_200, 120);
  expect(await given()).toEqual([0, 0]);
  expect((await at.prove(path, signature)).status).toBe(503);
  expect(disagreements()).toBe(0);
  isStale = false;
  await sweepFor(at, 60, 10);
  expect(await given()).toEqual([1, 1]);
});

test("two honest nodes need not agree on a supply that changes, nor know the time of a block", async () => {
  let minted = 0;
  const other: Lie = ({ method }, truth) => {
    if (method === "getTransaction" && truth !== null) return { ...truth, blockTime: null };
    if (method !== "getTokenSupply") return truth;
    return { ...(truth as object), value: { amount: String(50_000_000_000 + ++minted) } };
  };
  const timed: Lie = (call, truth) =>
    call.method === "getTransaction" ? truth : other(call, truth);
  at = await aServiceOfNodes(() => [other, timed]);
  const { memo } = await at.demand();
  const large = at.chain.donor({ usdc: "30000" }).pay({ to: at.wallet, memo, usdc: "20000" });
  at.chain.land(large);
  at.chain.pass(20_000);
  expect((await at.prove(path, large.signature)).status).toBe(200);
  expect(disagreements()).toBe(0);
});
