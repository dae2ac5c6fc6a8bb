import { expect, test } from "bun:test";
import { operatorHealth } from "#api/operator/health.ts";
import { aDonatingService, type DonatingService, paymentHeader } from "#test/support/donating.ts";
import type { TestChain } from "#test/support/local-chain.ts";
import { measured, shown } from "#test/support/measured.ts";
import { hang } from "#test/support/node.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService } from "#test/support/service.ts";

const path = "/api/donate/well";
/** How long after the last answer of a node the service may still ask for money. */
const awayWithinMs = 5_000;
/** For a busy machine. */
const slackMs = 5_000;
const lookEveryMs = 200;

type Trouble = "refuses" | "hangs" | "answers errors";

type Node = ReturnType<typeof aNodeInTrouble>;
/** A node in front of the chain whose every call can be made to fail. */
function aNodeInTrouble({ chain }: TestChain) {
  let trouble: Trouble | null = null;
  const answer = async (request: Request): Promise<Response> => {
    if (trouble === "hangs") return hang();
    if (trouble === "answers errors") return new Response("no", { status: 500 });
    return chain.rpc(await request.text(), request.signal);
  };
  const listen = (port: number) =>
    Bun.serve({ hostname: "127.0.0.1", port, idleTimeout: 0, fetch: answer });
  let server = listen(0);
  const { port = 0 } = server;
  return {
    url: `http://127.0.0.1:${port}`,
    set: async (next: Trouble | null) => {
      if (trouble === "refuses") server = listen(port);
      trouble = next;
      if (trouble === "refuses") await server.stop(true);
    },
    stop: () => server.stop(true),
  };
}

/** Asks what to pay until the answer has this status. Answers how long that took, and that answer. */
async function untilStatus(at: DonatingService, status: number) {
  const beganMs = performance.now();
  for (;;) {
    const answer = await at.service.get(path);
    const tookMs = performance.now() - beganMs;
    if (answer.status === status) return { tookMs, answer };
    if (tookMs > awayWithinMs + slackMs)
      throw new Error(`still ${answer.status} after ${tookMs} ms`);
    await Bun.sleep(lookEveryMs);
  }
}

/** No one is asked for money, whoever asks first; gifts go on once a node is back. */
async function asksNoOne(at: DonatingService, node: Node, trouble: Trouble) {
  const demand = await at.demand();
  await node.set(trouble);
  const { tookMs, answer } = await untilStatus(at, 503);
  expect(answer.headers.get("retry-after")).toBe("2");
  expect(await answer.json()).toMatchObject({ code: "chain_away" });
  measured(`503 after ${shown(tookMs / 1_000)} s where a node ${trouble}`);
  await node.set(null);
  await untilStatus(at, 402);
  expect((await at.prove(path, at.paid(demand))).status).toBe(200);
  // No one asks meanwhile: the first who does hears it.
  await node.set(trouble);
  await Bun.sleep(awayWithinMs);
  expect((await at.service.get(path)).status).toBe(503);
}

/** What may have been paid is never answered 402. */
async function leavesItOpen(at: DonatingService, node: Node, trouble: Trouble) {
  await untilStatus(at, 402);
  const made = await at.demand();
  const wanted = await at.demand();
  const signature = at.paid(made);
  const feePayer = at.chain.sponsor.publicKey.toBase58();
  const payment = at.chain.donor().pay({ to: at.wallet, memo: wanted.memo, usdc: "1", feePayer });
  await node.set(trouble);
  const { caip2 } = at.service.context.chain;
  const answers = await Promise.all([
    at.prove(path, signature),
    at.send(path, paymentHeader(payment.bytes, 2, caip2)),
  ]);
  for (const answer of answers) {
    expect([answer.status, (await answer.json()).code]).toEqual([503, "chain_unclear"]);
  }
}

test.concurrent.each(["refuses", "hangs", "answers errors"] as const)(
  "while every node %s no one is asked for money, and what may have been paid is never answered 402",
  async (trouble) => {
    const made = Promise.withResolvers<Node>();
    const at = await aDonatingService({
      nodes: (chain) => {
        const inFront = aNodeInTrouble(chain);
        made.resolve(inFront);
        return [inFront.url];
      },
    });
    const node = await made.promise;
    const failures: unknown[] = [];
    for (const part of [asksNoOne, leavesItOpen]) {
      await part(at, node, trouble).catch((error: unknown) => failures.push(error));
      await node.set(null);
    }
    await at.stop();
    await node.stop();
    expect(failures).toEqual([]);
  },
);

test("without a node, no one is asked for money, and the health page says so", async () => {
  const usdc_wallet = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin";
  using service = await aService({ records: [aNonprofit({ slug: "well", usdc_wallet })] });
  const answer = await service.get(path);
  expect([answer.status, (await answer.json()).code]).toEqual([503, "chain_away"]);
  const { parts } = (await service.json("/readyz")) as { parts: object };
  expect(parts).toMatchObject({ chain: "none" });
  const { warnings } = await operatorHealth(service.context);
  expect(warnings.join(" ")).toContain("No node of the chain is named");
});
