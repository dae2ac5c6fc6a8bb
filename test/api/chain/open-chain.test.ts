import { afterEach, describe, expect, test } from "bun:test";
import { Keypair } from "@solana/web3.js";
import bs58 from "bs58";
import { caip2Of, networks } from "#content/giving/network.ts";
import { type ChainSettings, openChain } from "#api/chain/open-chain.ts";
import { openDonationChain } from "#api/giving/start-giving.ts";
import { readConfig } from "#api/config.ts";
import { loadSecrets } from "#api/secrets.ts";
import { theChain } from "#test/support/local-chain.ts";
import { aNode, hang, type Node, type NodeAnswer } from "#test/support/node.ts";
import { freePort } from "#test/support/processes.ts";
import { aService } from "#test/support/service.ts";
import { serveHere } from "#test/support/serve-here.ts";

const local = await theChain();

const nodes: Node[] = [];
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});
function nodeOf(genesis: string, answer: NodeAnswer = () => ({ result: null })): Node {
  const node = aNode(answer, genesis);
  nodes.push(node);
  return node;
}

const open = (settings: Partial<ChainSettings>) =>
  openChain({
    network: "local",
    rpcUrls: [local.url],
    sponsorKey: null,
    commitment: "confirmed",
    clock: local.clock,
    bootMs: 300,
    deadlineMs: 300,
    hedgeMs: 100,
    ...settings,
  });

describe("the chain", () => {
  test.each([
    ["local", "local", "solana-devnet", `solana:${networks.local.genesis.slice(0, 32)}`],
    ["solana", "mainnet", "solana", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"],
    ["solana-devnet", "devnet", "solana-devnet", "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"],
  ] as const)("of %s has its names", async (network, cluster, name, caip2) => {
    const opened = await open({ network, rpcUrls: [nodeOf(networks[network].genesis).url] });
    expect(opened).toMatchObject({ ok: true, value: { cluster, network: name, caip2 } });
    expect(caip2Of(networks[network])).toBe(caip2);
  });

  test.each([
    ["solana", "devnet", networks["solana-devnet"].genesis],
    ["local", "mainnet", networks.solana.genesis],
    ["solana-devnet", "an unknown chain", "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY"],
  ] as const)("%s is not opened on a node of %s", async (network, name, genesis) => {
    const right = nodeOf(networks[network].genesis);
    const wrong = nodeOf(genesis);
    const opened = await open({ network, rpcUrls: [right.url, wrong.url] });
    expect(opened).toMatchObject({ ok: false, failure: { kind: "wrong_chain" } });
    if (!opened.ok) {
      expect(opened.failure.message).toContain(`serves ${name}`);
      expect(opened.failure.message).toContain("ALMONER_SOLANA_RPC_URLS");
    }
  });

  test("opens without its nodes, is unclear, and works once they are there", async () => {
    const port = await freePort();
    const opened = await open({ rpcUrls: [`http://127.0.0.1:${port}`] });
    if (!opened.ok) throw new Error(opened.failure.message);
    const chain = opened.value;
    const payment = local.donor().pay({ to: local.wallet() });
    local.land(payment);
    expect(await chain.landed(payment.signature)).toMatchObject({ ok: false });
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port,
      fetch: async (request) => local.chain.rpc(await request.text(), request.signal),
    });
    expect(await chain.landed(payment.signature)).toMatchObject({
      ok: true,
      value: { failed: false },
    });
    await server.stop(true);
  });

  test("is known to be away a second later, to whoever asks first, and to be back", async () => {
    let answer: NodeAnswer = () => ({ result: 7 });
    const node = nodeOf(networks.local.genesis, (call) => answer(call));
    const opened = await open({ rpcUrls: [node.url] });
    if (!opened.ok) throw new Error(opened.failure.message);
    const { health } = opened.value;
    expect(await health()).toMatchObject({ why: null });
    answer = () => new Response("no", { status: 500 });
    await Bun.sleep(1_100);
    expect(await health()).toMatchObject({ why: "HTTP 500" });
    answer = () => ({ result: 8 });
    await Bun.sleep(1_100);
    expect(await health()).toMatchObject({ why: null });
  });

  test("opens while a node hangs", async () => {
    const node = serveHere(hang);
    expect(await open({ rpcUrls: [`http://127.0.0.1:${node.port}`] })).toMatchObject({ ok: true });
    await node.stop(true);
  });
});

describe("the sponsor's key", () => {
  const keypair = Keypair.generate();

  test.each([
    ["base58", bs58.encode(keypair.secretKey)],
    ["a JSON array", JSON.stringify([...keypair.secretKey])],
  ])("may be %s", async (_form, sponsorKey) => {
    const opened = await open({ sponsorKey });
    expect(opened).toMatchObject({ ok: true, value: { sponsor: keypair.publicKey.toBase58() } });
  });

  const halves = new Uint8Array([
    ...keypair.secretKey.slice(0, 32),
    ...Keypair.generate().publicKey.toBytes(),
  ]);
  test.each([
    ["too short", bs58.encode(keypair.secretKey.slice(0, 32))],
    ["of two halves that do not fit", bs58.encode(halves)],
    ["no base58", "0OIl"],
    ["half an array", "[1,2,3"],
  ])("%s is refused without being repeated", async (_form, sponsorKey) => {
    const opened = await open({ sponsorKey });
    expect(opened).toMatchObject({ ok: false, failure: { kind: "bad_sponsor_key" } });
    if (!opened.ok) expect(opened.failure.message).not.toContain(sponsorKey);
  });
});

describe("the service", () => {
  test("does not start on another chain, and says which setting is wrong", async () => {
    const env = { ALMONER_SOLANA_RPC_URLS: nodeOf(networks.solana.genesis).url };
    const starting = aService({ env });
    expect(starting).rejects.toThrow("ALMONER_SOLANA_RPC_URLS");
    await starting.catch(() => {});
  });

  test("makes and keeps a sponsor of its own on the local chain only", async () => {
    using service = await aService();
    const { config, chain, log } = service.context;
    expect(chain.sponsor).not.toBeNull();
    const { clock } = local;
    const again = await openDonationChain(config, { secrets: loadSecrets(config), log, clock });
    expect(again.sponsor).toBe(chain.sponsor);
    const env = {
      ALMONER_DATA_DIR: config.dataDir,
      ALMONER_NETWORK: "solana",
      ALMONER_SOLANA_RPC_URLS: "https://rpc.example",
    };
    expect(loadSecrets(readConfig(env)).sponsorKey).toBeNull();
  });
});
