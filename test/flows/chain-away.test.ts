import { expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { operatorHealth } from "#api/operator/health.ts";
import { aDonatingService, type DonatingService, paymentHeader } from "#test/support/donating.ts";
import type { TestChain } from "#test/support/local-chain.ts";
import { measured, shown } from "#test/support/measured.ts";
import { hang } from "#test/support/node.ts";
import { freePort, untilAnswers } from "#test/support/processes.ts";
import { putCompiledSite } from "#test/support/publisher.ts";
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
  const [made, wanted] = [await at.demand(), await at.demand()];
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
  240_000,
);

test("without a node, no one is asked for money, and the health page says so", async () => {
  const usdc_wallet = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin";
  const service = await aService({ records: [aNonprofit({ slug: "well", usdc_wallet })] });
  const answer = await service.get(path);
  expect([answer.status, (await answer.json()).code]).toEqual([503, "chain_away"]);
  const { parts } = (await service.json("/readyz")) as { parts: object };
  expect(parts).toMatchObject({ chain: "none" });
  const { warnings } = await operatorHealth(service.context);
  expect(warnings.join(" ")).toContain("No node of the chain is named");
  service.close();
});

/** An installation as `npm ci --omit=dev` leaves it: all but the local chain's library. */
function withoutLocalChain(): string {
  const root = join(import.meta.dirname, "../..");
  const folder = mkdtempSync(join(tmpdir(), "almoner-omit-dev-"));
  const sources = ["api", "content", "scripts", "site"];
  const settings = ["package.json", "package-lock.json", "tsconfig.json", "astro.config.mjs"];
  for (const name of [...sources, ...settings]) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name.startsWith("litesvm")) continue;
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  return folder;
}

test("an installation without the local chain says so at its start, and asks no one for money", async () => {
  const folder = withoutLocalChain();
  await putCompiledSite(join(folder, "data"));
  const port = await freePort();
  const service = Bun.spawn(
    [process.execPath, "scripts/start.ts", "--profiles", "30", "--no-publisher"],
    {
      cwd: folder,
      env: {
        ...process.env,
        ALMONER_NETWORK: "local",
        ALMONER_DATA_DIR: join(folder, "data"),
        ALMONER_PORT: String(port),
        ALMONER_CHAIN_PORT: "0",
      },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  const said = new Response(service.stderr).text();
  const base = `http://127.0.0.1:${port}`;
  try {
    await untilAnswers(`${base}/healthz`, service, 90_000);
    const { nonprofits } = (await (await fetch(`${base}/api/nonprofits?limit=30`)).json()) as {
      nonprofits: { slug: string; usdc_wallet: string | null }[];
    };
    const paid = nonprofits.find(({ usdc_wallet }) => usdc_wallet !== null);
    const answer = await fetch(`${base}/api/donate/${paid?.slug}`);
    expect([answer.status, (await answer.json()).code]).toEqual([503, "chain_away"]);
  } finally {
    service.kill("SIGTERM");
    await service.exited;
  }
  rmSync(folder, { recursive: true });
  expect(await said).toContain("this installation leaves it out");
}, 240_000);
