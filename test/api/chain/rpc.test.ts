import { afterEach, describe, expect, test } from "bun:test";
import { networks } from "#content/giving/network.ts";
import { type Reading, type RpcOptions, openEndpoint, openRpc } from "#api/chain/rpc.ts";
import { aNode, hang, type Node, type NodeAnswer } from "#test/support/node.ts";
import { serveHere } from "#test/support/serve-here.ts";

// One call over nodes that fail in every way that nodes fail.
const nodes: Node[] = [];
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((one) => one.stop()));
});

function node(answer: NodeAnswer, genesis?: string): Node {
  const made = aNode(answer, genesis);
  nodes.push(made);
  return made;
}

const slot =
  (value: number): NodeAnswer =>
  () => ({ result: value });
const read = (answer: { result: unknown } | { error: { code: number } }): Reading<number> =>
  "result" in answer && typeof answer.result === "number"
    ? { clear: answer.result }
    : { unclear: "no slot" };

const quick: RpcOptions = { deadlineMs: 400, hedgeMs: 60 };

const rpcOver = (urls: string[], options = quick) =>
  openRpc(
    urls.map((url) => openEndpoint(url, networks.local.genesis)),
    options,
  );

const ask = (urls: string[], options = quick) => rpcOver(urls, options).ask("getSlot", [], read);

const value = (number: number, doubted: boolean) =>
  ({ ok: true, value: { value: number, doubted } }) as const;

const nobody = "http://127.0.0.1:9";

describe("one node", () => {
  test("answers", async () => {
    expect(await ask([node(slot(7)).url])).toEqual(value(7, false));
  });

  const envelope = (answer: object) => Response.json({ jsonrpc: "2.0", ...answer });
  test.each<[string, NodeAnswer, string]>([
    ["an HTTP error", () => new Response("no", { status: 503 }), "HTTP 503"],
    ["a page", () => new Response("<html>Just a moment</html>"), ""],
    ["null", () => new Response("null"), "no JSON-RPC answer"],
    ["an answer to somebody else", () => envelope({ id: -1, result: 7 }), "no JSON-RPC answer"],
    ["neither result nor error", ({ id }) => envelope({ id }), "no JSON-RPC answer"],
    ["a result of another shape", () => ({ result: { slot: 7 } }), "no slot"],
    ["an error", () => ({ error: { code: -32_005, message: "behind" } }), "no slot"],
    ["a redirect", () => Response.redirect("http://127.0.0.1:9/"), ""],
    ["silence", hang, "no answer within 400 ms"],
  ])("that answers with %s leaves it unclear", async (_, answer, why) => {
    const failure = { kind: "chain_unclear", why: expect.stringContaining(why) };
    expect(await ask([node(answer).url])).toMatchObject({ ok: false, failure });
  });

  test("that is not there leaves it unclear", async () => {
    expect(await ask([nobody])).toMatchObject({ ok: false });
  });

  test.each<[string, () => ReturnType<NodeAnswer>]>([
    ["after a failure", () => new Response("", { status: 500 })],
    ["while it thinks", hang],
  ])("is asked again %s, and the answer is doubted", async (_, spoil) => {
    let calls = 0;
    const sick = node(() => (++calls === 1 ? spoil() : { result: 8 }));
    expect(await ask([sick.url])).toEqual(value(8, true));
  });
});

describe("several nodes", () => {
  test.each<[string, NodeAnswer, RpcOptions]>([
    // At once: what waits for another reason waits too long.
    ["fails", () => new Response("", { status: 500 }), { deadlineMs: 5_000, hedgeMs: 5_000 }],
    ["hangs", hang, quick],
  ])("one that %s is replaced by the second, and stands behind it from then on", async (...row) => {
    const [, answer, options] = row;
    const sick = node(answer);
    const sound = node(slot(3));
    const rpc = rpcOver([sick.url, sound.url], options);
    expect(await rpc.ask("getSlot", [], read)).toEqual(value(3, true));
    for (let call = 0; call < 2; call++) await rpc.ask("getSlot", [], read);
    expect(sick.asked).toHaveLength(1);
    expect(sound.asked.length).toBeGreaterThanOrEqual(3);
  });

  test("one that serves another chain is never trusted", async () => {
    const foreign = node(slot(666), networks.solana.genesis);
    expect(await ask([foreign.url])).toMatchObject({
      ok: false,
      failure: { why: "a node serves another chain" },
    });
    expect(await ask([foreign.url, node(slot(4)).url])).toEqual(value(4, true));
    expect(foreign.asked).toEqual([]);
  });

  test("one that comes back as another chain is no longer trusted", async () => {
    let genesis: string = networks.local.genesis;
    let broken = false;
    const server = serveHere(async (request) => {
      const { id, method } = (await request.json()) as { id: number; method: string };
      if (broken) return new Response("", { status: 502 });
      const result = method === "getGenesisHash" ? genesis : 5;
      return Response.json({ jsonrpc: "2.0", id, result });
    });
    const rpc = rpcOver([server.url.origin]);
    expect(await rpc.ask("getSlot", [], read)).toEqual(value(5, false));
    broken = true;
    expect(await rpc.ask("getSlot", [], read)).toMatchObject({ ok: false });
    broken = false;
    genesis = networks["solana-devnet"].genesis;
    expect(await rpc.ask("getSlot", [], read)).toMatchObject({ ok: false });
    genesis = networks.local.genesis;
    expect(await rpc.ask("getSlot", [], read)).toMatchObject({ ok: true });
    await server.stop(true);
  });

  test("none at all is unclear", async () => {
    expect(await ask([])).toMatchObject({ ok: false });
  });
});

test("ports and names of one machine are one node, except on a local chain", () => {
  const hostOn = (network: "solana" | "local", url: string) =>
    openEndpoint(url, networks[network].genesis).host;
  const hosts = (network: "solana" | "local", ...urls: string[]) =>
    new Set(urls.map((url) => hostOn(network, url))).size;
  expect(
    hosts("solana", "https://a.example:1/x", "https://a.example.:2/", "https://a.example"),
  ).toBe(1);
  expect(hosts("solana", "http://127.0.0.1:1", "http://localhost.:2", "http://[::1]")).toBe(1);
  expect(hosts("solana", "https://a.example", "https://b.example")).toBe(2);
  expect(hosts("local", "http://127.0.0.1:1", "http://127.0.0.1:2")).toBe(2);
});

test("trouble names the host, never the address with its key", async () => {
  const told: unknown[] = [];
  const sick = node(() => new Response("", { status: 500 }));
  const url = `${sick.url}/?api-key=secret`;
  await ask([url], { ...quick, onTrouble: (trouble) => told.push(trouble) });
  expect(told[0]).toEqual({ host: new URL(url).host, method: "getSlot", why: "HTTP 500" });
  expect(JSON.stringify(told)).not.toContain("secret");
});
