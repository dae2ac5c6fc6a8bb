import { describe, expect, test } from "bun:test";
import { Connection, Keypair, PublicKey, VersionedTransaction } from "@solana/web3.js";
import { networks } from "#content/giving/network.ts";
import { programs, tokenAccount } from "#api/chain/transfer.ts";
import { usdcMint } from "#scripts/chain/svm.ts";
import { aChain, theChain } from "#test/support/local-chain.ts";
import { forTests } from "#test/support/at-file-top.ts";

// The local chain as the usual client library sees it, and as a client without one.
const local = await theChain();
const connection = new Connection(local.url, "confirmed");
const donor = local.donor();
const wallet = local.wallet();

type Answer = { result?: unknown; error?: { code: number; message: string; data?: unknown } };

async function post(body: unknown): Promise<Answer> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(local.url, { method: "POST", body: text });
  return response.status === 204 ? {} : ((await response.json()) as Answer);
}

const call = (method: string, ...params: unknown[]) =>
  post({ jsonrpc: "2.0", id: 1, method, params });

const shownAs = {
  commitment: "confirmed",
  encoding: "jsonParsed",
  maxSupportedTransactionVersion: 0,
};

const usdcAccount = (owner: string) => tokenAccount(new PublicKey(owner), usdcMint);

describe("@solana/web3.js", () => {
  test("knows the chain", async () => {
    expect(await connection.getGenesisHash()).toBe(networks.local.genesis);
    const slot = await connection.getSlot();
    expect(await connection.getBlockHeight()).toBe(slot);
    const { absoluteSlot, epoch, slotIndex, slotsInEpoch } = await connection.getEpochInfo();
    expect([absoluteSlot, epoch * slotsInEpoch + slotIndex]).toEqual([slot, slot]);
    // What nothing takes apart is told as it is.
    const mint = await connection.getParsedAccountInfo(usdcMint);
    expect(mint.value?.owner).toEqual(programs.token);
  });

  test("gets SOL from the faucet", async () => {
    const poor = Keypair.generate().publicKey;
    const signature = await connection.requestAirdrop(poor, 5_000_000_000);
    expect(await connection.getBalance(poor)).toBe(5_000_000_000);
    const status = await connection.getSignatureStatus(signature);
    expect(status.value).toMatchObject({ err: null, confirmationStatus: "confirmed" });
  });

  test("sends a transfer with the newest blockhash", async () => {
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
    expect(lastValidBlockHeight - (await connection.getBlockHeight())).toBe(150);
    expect((await connection.isBlockhashValid(blockhash)).value).toBe(true);
    const { bytes } = donor.pay({ to: wallet, usdc: "2.5", memo: "hello", blockhash });
    const transaction = VersionedTransaction.deserialize(bytes);
    const before = local.usdcOf(wallet);
    const signature = await connection.sendTransaction(transaction);
    expect(local.usdcOf(wallet) - before).toBe(2_500_000n);
    const shown = (await call("getTransaction", signature, shownAs)).result;
    const { instructions } = (shown as { transaction: { message: { instructions: unknown[] } } })
      .transaction.message;
    expect(instructions).toMatchObject([
      { programId: programs.computeBudget.toBase58() },
      { programId: programs.computeBudget.toBase58() },
      { programId: programs.token.toBase58() },
      { program: "spl-memo", parsed: "hello" },
    ]);
  });

  test("reads accounts, whole and in part", async () => {
    const account = usdcAccount(donor.address);
    const whole = await connection.getAccountInfo(account);
    expect(whole?.data).toHaveLength(165);
    expect(await connection.getAccountInfo(Keypair.generate().publicKey)).toBeNull();
    const part = await connection.getAccountInfo(account, { dataSlice: { offset: 0, length: 32 } });
    expect(new PublicKey(part?.data ?? []).equals(usdcMint)).toBe(true);
    const supply = await connection.getTokenSupply(usdcMint);
    expect(BigInt(supply.value.amount)).toBeGreaterThanOrEqual(1_000_000_000n);
  });
});

describe("a subscription to a signature", () => {
  const slow = forTests(() => aChain({ slots: { confirmedAfter: 1 } }));

  test.each([
    ["at the port after the chain's own, where web3.js looks", () => undefined],
    ["at the chain's own port", () => slow.url.replace("http", "ws")],
  ])("lets confirmTransaction wait %s", async (_, endpoint) => {
    const wsEndpoint = endpoint();
    const client = new Connection(slow.url, {
      commitment: "confirmed",
      ...(wsEndpoint === undefined ? {} : { wsEndpoint }),
    });
    const { blockhash, lastValidBlockHeight } = await client.getLatestBlockhash();
    const { bytes } = slow.donor().pay({ to: slow.wallet(), blockhash });
    const signature = await client.sendRawTransaction(bytes);
    let value: object | null = null;
    const waiting = client
      .confirmTransaction({ signature, blockhash, lastValidBlockHeight })
      .then((confirmed) => (value = confirmed.value));
    // It asks once by itself; what comes later can only be told.
    await Bun.sleep(500);
    expect(value).toBeNull();
    slow.pass(400);
    expect(await waiting).toEqual({ err: null });
  });

  test("tells what failed, once, and ends when it is given up", async () => {
    const payer = slow.donor();
    const failed = slow.land(payer.pay({ to: slow.wallet(), usdc: "99999" })).signature;
    const never = payer.pay({ to: slow.wallet() }).signature;
    const socket = new WebSocket(slow.url.replace("http", "ws"));
    const told: Record<string, unknown>[] = [];
    socket.addEventListener("message", ({ data }) => {
      told.push(JSON.parse(String(data)) as Record<string, unknown>);
    });
    await new Promise((resolve) => socket.addEventListener("open", resolve));
    const ask = (id: number, method: string, ...params: unknown[]) =>
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    const untilTold = async (count: number) => {
      while (told.length < count) await Bun.sleep(10);
    };
    const processed = { commitment: "processed" };
    ask(1, "signatureSubscribe", never, processed);
    await untilTold(1);
    const subscription = told[0]?.["result"];
    ask(2, "signatureUnsubscribe", subscription);
    ask(3, "signatureUnsubscribe", subscription);
    ask(4, "rootSubscribe");
    ask(5, "signatureSubscribe", failed, processed);
    await untilTold(6);
    const result = { value: { err: { InstructionError: [2, { Custom: 1 }] } } };
    expect(told.slice(1)).toMatchObject([
      { id: 2, result: true },
      { id: 3, error: { code: -32_602 } },
      { id: 4, error: { code: -32_601 } },
      { id: 5, result: expect.any(Number) },
      { method: "signatureNotification", params: { result } },
    ]);
    await Bun.sleep(300);
    expect(told).toHaveLength(6);
    ask(6, "slotSubscribe");
    await untilTold(8);
    const slots = told[6]?.["result"];
    expect(told[7]).toMatchObject({
      method: "slotNotification",
      params: { subscription: slots, result: { slot: slow.chain.ledger.slots.now() } },
    });
    ask(7, "slotUnsubscribe", slots);
    while (told.at(-1)?.["id"] !== 7) await Bun.sleep(10);
    const before = told.length;
    await Bun.sleep(300);
    expect(told).toHaveLength(before);
    socket.close();
  });
});

test("a refused transaction says why, as a validator does", async () => {
  const send = (base64: string) => call("sendTransaction", base64, { encoding: "base64" });
  const landed = donor.pay({ to: wallet });
  local.land(landed);
  const nobody = Keypair.generate().publicKey.toBase58();
  const message = expect.stringContaining("Transaction simulation failed");
  const broke = { InstructionError: [2, { Custom: 1 }] };
  for (const [base64, error] of [
    [
      donor.pay({ to: wallet, usdc: "99999" }).base64,
      { code: -32_002, message, data: { err: broke } },
    ],
    [donor.pay({ to: wallet, feePayer: nobody }).base64, { code: -32_003 }],
    ["AAAA", { code: -32_602 }],
    [
      donor.pay({ to: wallet, blockhash: wallet }).base64,
      { code: -32_002, data: { err: "BlockhashNotFound" } },
    ],
    [landed.base64, { data: { err: "AlreadyProcessed" } }],
  ] as const) {
    expect((await send(base64)).error).toMatchObject(error);
  }
});

describe("JSON-RPC", () => {
  test("answers a call, and nothing to a notification", async () => {
    const error = { code: -32_601, message: "Method not found" };
    const unknown = { jsonrpc: "2.0", id: 2, method: "getMagic" };
    expect(await post(unknown)).toEqual({ jsonrpc: "2.0", error, id: 2 } as Answer);
    expect(await post({ jsonrpc: "2.0", method: "getSlot" })).toEqual({});
  });

  test.each([
    ["no JSON", "{", -32_700],
    ["no call", "{}", -32_600],
    ["a batch", "[]", -32_600],
    ["another version", { jsonrpc: "1.0", id: 1, method: "getSlot" }, -32_600],
  ])("refuses %s", async (_name, body, code) => {
    expect((await post(body)).error?.code).toBe(code);
  });

  const simulation = { encoding: "base64", sigVerify: true, replaceRecentBlockhash: true };
  test.each([
    ["getBalance", ["short"]],
    ["getBalance", []],
    ["getTransaction", [Keypair.generate().publicKey.toBase58()]],
    ["getSignatureStatuses", ["1".repeat(64)]],
    ["getSignaturesForAddress", [usdcMint.toBase58(), { limit: 1_001 }]],
    ["getTokenSupply", [Keypair.generate().publicKey.toBase58()]],
    ["getSignatureStatuses", [Array.from({ length: 257 }, () => "1".repeat(64))]],
    ["simulateTransaction", ["AAAA", simulation]],
  ])("refuses the params of %s %j", async (method, params) => {
    expect((await call(method, ...params)).error?.code).toBe(-32_602);
  });

  test("takes 256 signatures at once", async () => {
    const many = Array.from({ length: 256 }, () => "1".repeat(64));
    expect((await call("getSignatureStatuses", many)).error).toBeUndefined();
  });

  test("shows no v0 transaction to clients that do not ask for those, and none before it is confirmed", async () => {
    const { signature } = local.land(donor.pay({ to: wallet }));
    const ofVersion = { commitment: "confirmed", encoding: "jsonParsed" };
    expect((await call("getTransaction", signature, ofVersion)).error?.code).toBe(-32_015);
    const processed = { ...shownAs, commitment: "processed" };
    expect((await call("getTransaction", signature, processed)).error?.code).toBe(-32_602);
    const legacy = local.land(donor.pay({ to: wallet, legacy: true }));
    expect((await call("getTransaction", legacy.signature, ofVersion)).result).toMatchObject({
      version: "legacy",
    });
    // Finalized is what is meant when nothing is said.
    const unsaid = { ...shownAs, commitment: undefined };
    expect((await call("getTransaction", legacy.signature, unsaid)).result).toBeNull();
  });

  test("pages of any origin may use it", async () => {
    const response = await fetch(local.url, { method: "OPTIONS" });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(await (await fetch(`${local.url}/health`)).text()).toBe("ok");
  });
});

describe("what only a local chain has", () => {
  const control = async (path: string, body: unknown) => {
    const how = { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${local.url}${path}`, how);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  test("the faucet gives SOL and USDC", async () => {
    const poor = Keypair.generate().publicKey.toBase58();
    const { body } = await control("/faucet", { wallet: poor, sol: 0.5, usdc: "12.345678" });
    expect(body["signature"]).toBeString();
    expect(local.usdcOf(poor)).toBe(12_345_678n);
    expect(local.lamportsOf(poor)).toBe(500_000_000);
  });

  test("accounts are made for wallets that lack one, which can be sent any amount then", async () => {
    const wallets = [wallet, local.wallet({ account: false }), local.wallet({ account: false })];
    expect((await control("/ensure", { wallets })).body).toEqual({ made: 2 });
    expect((await control("/ensure", { wallets })).body).toEqual({ made: 0 });
    // Each has its rent: less than that can be sent to no one.
    const rents = wallets.map((one) => local.lamportsOf(one));
    expect(rents).toEqual([890_880, 890_880, 890_880]);
  });

  test.each([
    ["/faucet", { wallet: "nobody" }],
    ["/faucet", { wallet: usdcMint.toBase58(), usdc: "0.1234567" }],
    ["/faucet", { wallet: usdcMint.toBase58(), sol: -1 }],
    ["/faucet", null],
    ["/ensure", { wallets: ["nobody"] }],
    ["/chaos", { errors: 101 }],
    ["/chaos", { erors: 10 }],
  ])("%s refuses %j", async (path, body) => {
    const refused = await control(path, body);
    expect(refused.status).toBe(400);
    expect(refused.body["error"]).toBeString();
  });
});
