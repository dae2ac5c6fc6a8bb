import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Connection, Keypair, PublicKey } from "@solana/web3.js";
import { readConfig } from "#api/config.ts";
import { openChain } from "#api/chain/open-chain.ts";
import { tokenAccount } from "#api/chain/transfer.ts";
import { chainFiles, notedAddress, whyNoChain } from "#scripts/chain/installed.ts";
import { usdcMint } from "#scripts/chain/svm.ts";
import { startLocalChain } from "#scripts/start.ts";
import { freePort, runApart, runScript } from "#test/support/processes.ts";
import { theFolder } from "#test/support/at-file-top.ts";

// The local chain as a process: by hand, and beside the service.
const script = join(import.meta.dirname, "../../../scripts/chain.ts");
const dataDir = theFolder();

const envWith = (changes: Record<string, string> = {}) => ({
  ALMONER_DATA_DIR: dataDir,
  ALMONER_LOG_LEVEL: "silent",
  NO_COLOR: "1",
  ...changes,
});
const run = (args: string[], changes: Record<string, string> = {}) =>
  runScript("chain", args, envWith(changes));

test("is missed by name where development dependencies are left out", () => {
  expect(whyNoChain()).toBeNull();
  const missing = whyNoChain(() => {
    throw new Error("Cannot find package 'litesvm'");
  });
  expect(missing).toContain("npm ci without --omit=dev");
});

test("has no address before it is written", () => {
  const path = join(dataDir, "address");
  writeFileSync(path, "");
  expect(notedAddress(path)).toBeNull();
  writeFileSync(path, "http://127.0.0.1:8899\n");
  expect(notedAddress(path)).toBe("http://127.0.0.1:8899");
});

let serving: Bun.Subprocess | null = null;
afterAll(() => serving?.kill("SIGKILL"));

/** Serves by hand, in a process of its own. */
async function serve(): Promise<Bun.Subprocess> {
  rmSync(chainFiles({ dataDir }).address, { force: true });
  const child = Bun.spawn([process.execPath, script, "--port", "0"], {
    env: { ...process.env, ALMONER_DATA_DIR: dataDir },
    stdout: "ignore",
    stderr: "inherit",
  });
  serving = child;
  for (let look = 0; look < 1_000 && address() === null; look++) await Bun.sleep(20);
  return child;
}

const address = () => notedAddress(chainFiles({ dataDir }).address);

const wallet = Keypair.generate().publicKey.toBase58();

async function usdcOf(owner: string): Promise<string> {
  const account = tokenAccount(new PublicKey(owner), usdcMint);
  const found = await new Connection(address() ?? "").getAccountInfo(account);
  return found === null ? "none" : String(readAmount(found.data));
}

/** Source: SPL Token, Account. */
const readAmount = (data: Buffer): bigint => data.readBigUInt64LE(64);

describe("by hand", () => {
  test("it serves, fills wallets, pays and makes trouble; after kill -9 it has all that was paid", async () => {
    const child = await serve();
    expect(await run(["faucet", "--wallet", wallet, "--usdc", "5"])).toMatchObject({ code: 0 });
    const paying = ["--to", wallet, "--amount", "2.50", "--memo", "hello"];
    const sent = await run(["send", ...paying, "--json"]);
    expect(JSON.parse(sent.out)).toMatchObject({ to: wallet, amount_usdc: "2.50" });
    const link = `solana:${wallet}?amount=1.25&memo=abc&reference=${Keypair.generate().publicKey.toBase58()}`;
    expect(await run(["send", link])).toMatchObject({ code: 0 });
    expect(await usdcOf(wallet)).toBe("8750000");
    const troubled = await run(["chaos", "--errors", "20", "--hang-ms", "5", "--json"]);
    expect(JSON.parse(troubled.out)).toMatchObject({ errors: 20, hang_ms: 5, nulls: 0 });
    const calm = await run(["chaos", "--off", "--json"]);
    expect(JSON.parse(calm.out)).toMatchObject({ errors: 0 });
    child.kill("SIGKILL");
    await child.exited;
    await serve();
    expect(await usdcOf(wallet)).toBe("8750000");
  });

  test("a second one of the same folder is refused, the service uses it, and a signal stops it", async () => {
    // A chain that is refused leaves its journal to the end of its process.
    const second = await runApart("chain", ["--port", "0"], envWith());
    expect([second.code, second.err]).toEqual([1, expect.stringContaining("already running")]);
    const running = await startLocalChain(readConfig({ ALMONER_DATA_DIR: dataDir }), () => {});
    expect(running?.url).toBe(address() ?? "");
    await running?.stop();
    expect((await fetch(`${running?.url}/health`)).ok).toBe(true);
    serving?.kill("SIGINT");
    expect(await serving?.exited).toBe(0);
    expect(address()).toBeNull();
  });

  test("a damaged journal is called so", async () => {
    const folder = join(dataDir, "damaged");
    const { journal } = chainFiles({ dataDir: folder });
    mkdirSync(join(folder, "chain"), { recursive: true });
    writeFileSync(journal, "no database at all".repeat(1_000));
    const { code, err } = await run(["--port", "0"], { ALMONER_DATA_DIR: folder });
    expect([code, err]).toEqual([1, expect.stringContaining(`${journal} is damaged.`)]);
  });

  const real = { ALMONER_NETWORK: "solana", ALMONER_SOLANA_RPC_URLS: "https://rpc.example" };
  const devnet = { ...real, ALMONER_NETWORK: "solana-devnet" };
  const nowhere = ["--wallet", wallet, "--url", "http://127.0.0.1:9"];
  test.each<[string, string[], Record<string, string>, string]>([
    ["beside a real network", [], real, "ALMONER_NETWORK is solana"],
    ["faucet beside devnet", ["faucet", "--wallet", wallet], devnet, "is solana-devnet"],
    ["a port that is none", ["--port", "many"], {}, "--port"],
    ["trouble above all", ["--errors", "200", "--memory", "--port", "0"], {}, "errors"],
    ["an option that is none", ["--prot", "1"], {}, "--prot"],
    ["a link that is none", ["send", "https://example.org"], {}, "Solana Pay"],
    ["nobody to pay", ["send"], {}, "--to"],
    ["an amount that is none", ["send", "--to", wallet, "--amount", "1e3"], {}, "--amount"],
    ["a chain that does not run", ["faucet", ...nowhere], {}, "bun run chain"],
  ])("%s is told", async (_, args, changes, words) => {
    const { code, err } = await run(args, changes);
    expect(code).toBeGreaterThan(0);
    expect(err).toContain(words);
  });
});

const healthy = (url: string) =>
  fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  );

describe("beside the service", () => {
  test("it is kept running at one address, and every wallet can receive", async () => {
    const port = await freePort();
    const config = readConfig({ ALMONER_DATA_DIR: dataDir, ALMONER_CHAIN_PORT: String(port) });
    const told: string[] = [];
    const running = await startLocalChain(config, (message) => told.push(message));
    if (running === null) throw new Error("no chain");
    expect(running.url).toBe(`http://127.0.0.1:${port}`);
    const opened = await openChain({
      network: "local",
      rpcUrls: [running.url],
      sponsorKey: null,
      commitment: "confirmed",
      clock: () => new Date(),
    });
    if (!opened.ok) throw new Error(opened.failure.message);
    const chain = running.withAccounts(opened.value);
    const newcomer = Keypair.generate().publicKey.toBase58();
    expect(await opened.value.canReceive(newcomer)).toEqual({ ok: true, value: false });
    const another = Keypair.generate().publicKey.toBase58();
    expect(await chain.canReceive(another)).toEqual({ ok: true, value: true });
    process.kill(running.pid() ?? 0, "SIGKILL");
    while (told.length === 0) await Bun.sleep(20);
    expect(told[0]).toContain("The local chain ended (SIGKILL)");
    while (!(await healthy(running.url))) await Bun.sleep(50);
    // The account that was made is there still.
    expect(await opened.value.landed("1".repeat(64))).toEqual({ ok: true, value: null });
    expect(await chain.canReceive(another)).toEqual({ ok: true, value: true });
    await running.stop();
    expect(existsSync(chainFiles(config).address)).toBe(false);
    expect(told).toHaveLength(1);
  });

  test("there is none when other nodes are named", async () => {
    const config = readConfig({ ALMONER_SOLANA_RPC_URLS: "http://127.0.0.1:1" });
    expect(await startLocalChain(config, () => {})).toBeNull();
  });
});
