import { afterEach, expect, test } from "bun:test";
import { donateContext } from "#api/donation/context.ts";
import { sweepDonations } from "#api/donation/sweep.ts";
import { aDonatingService, type DonatingService } from "#test/support/donating.ts";
import type { TestChain } from "#test/support/local-chain.ts";
import { anotherNode, type Lie, type Node, payingMore } from "#test/support/node.ts";

const path = "/api/donate/well";
const nineBillion = "9000000000000000";

let at: DonatingService;
const nodes: Node[] = [];
afterEach(async () => {
  await at.stop();
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

const node = (chain: TestChain, lie?: Lie): string => {
  const made = anotherNode(chain.chain, lie);
  nodes.push(made);
  return made.url;
};

const history = async () =>
  (await (await at.service.get("/api/donations/well")).json()) as {
    total_donated_usdc: number;
    donation_count: number;
  };

const sweepFor = async (seconds: number) => {
  for (let passed = 0; passed < seconds; passed += 10) {
    at.chain.pass(10_000);
    await sweepDonations(donateContext(at.service.context));
  }
};

test("of two nodes one that lies makes no gift: 503, until both tell the truth", async () => {
  let lies = true;
  at = await aDonatingService({
    nodes: (chain, wallet) => [
      node(chain, (call, truth) => (lies ? payingMore(wallet, nineBillion)(call, truth) : truth)),
      node(chain),
    ],
  });
  const signature = at.paid(await at.demand());
  const answer = await at.prove(path, signature);
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "2"]);
  await sweepFor(10);
  expect(await history()).toMatchObject({ donation_count: 0 });
  expect(at.service.context.chain.disagreements()).toBeGreaterThan(0);
  lies = false;
  await sweepFor(60);
  expect(await history()).toMatchObject({ donation_count: 1, total_donated_usdc: 1 });
});

test("of two nodes one that makes up a transaction makes no gift", async () => {
  const invented: { of?: unknown } = {};
  at = await aDonatingService({
    nodes: (chain) => [
      node(chain, ({ method }, truth) =>
        method === "getTransaction" ? (invented.of ?? truth) : truth,
      ),
      node(chain),
    ],
  });
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
  expect(await history()).toMatchObject({ donation_count: 0 });
});

test("of three nodes one that lies is outvoted", async () => {
  at = await aDonatingService({
    nodes: (chain, wallet) => [
      node(chain, payingMore(wallet, nineBillion)),
      node(chain),
      node(chain),
    ],
  });
  const answer = await at.prove(path, at.paid(await at.demand()));
  expect([answer.status, ((await answer.json()) as { amount: number }).amount]).toEqual([200, 1]);
  expect(at.service.context.chain.disagreements()).toBeGreaterThan(0);
});

test("a node alone is not believed more USDC than there is, nor a large gift before it is final", async () => {
  let amount = nineBillion;
  at = await aDonatingService({
    nodes: (chain, wallet) => [
      node(chain, (call, truth) => payingMore(wallet, amount)(call, truth)),
    ],
  });
  const signature = at.paid(await at.demand());
  expect((await at.prove(path, signature)).status).toBe(503);
  amount = "900000000";
  expect((await at.prove(path, signature)).status).toBe(202);
  expect(await history()).toMatchObject({ donation_count: 0 });
});

test("two addresses at one host are one node", async () => {
  at = await aDonatingService({ nodes: ({ url }) => [`${url}/?key=a`, `${url}/?key=b`] });
  expect(at.service.context.chain.nodes).toBe(1);
  expect((await at.prove(path, at.paid(await at.demand()))).status).toBe(200);
});
