import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Connection, Keypair, PublicKey, VersionedTransaction } from "@solana/web3.js";
import { networks } from "#content/donation/network.ts";
import { programs, tokenAccount } from "#api/chain/programs.ts";
import { usdcMint } from "#scripts/chain/svm.ts";
import type { Donor } from "#test/support/donor.ts";
import { aChain, type TestChain } from "#test/support/local-chain.ts";

// The local chain as the usual client library sees it, and as a client without one.
let local: TestChain;
let connection: Connection;
let donor: Donor;
let wallet: string;
beforeAll(async () => {
  local = await aChain();
  connection = new Connection(local.url, "confirmed");
  donor = local.donor();
  wallet = local.wallet();
});
afterAll(() => local.stop());

type Answer = { result?: unknown; error?: { code: number; message: string; data?: unknown } };

async function post(body: unknown): Promise<Answer> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(local.url, { method: "POST", body: text });
  return response.status === 204 ? {} : ((await response.json()) as Answer);
}

const call = (method: string, ...params: unknown[]) =>
  post({ jsonrpc: "2.0", id: 1, method, params });

const usdcAccount = (owner: string) => tokenAccount(new PublicKey(owner), usdcMint);

describe("@solana/web3.js", () => {
  test("knows the chain", async () => {
    expect(await connection.getGenesisHash()).toBe(networks.local.genesis);
    expect(await connection.getVersion()).toHaveProperty("solana-core");
    const [slot, height] = [await connection.getSlot(), await connection.getBlockHeight()];
    expect(slot).toBe(height);
    const time = await connection.getBlockTime(slot);
    expect(Math.abs((time ?? 0) * 1_000 - local.clock().getTime())).toBeLessThan(15_000);
    const epoch = await connection.getEpochInfo();
    expect(epoch.epoch * epoch.slotsInEpoch + epoch.slotIndex).toBe(epoch.absoluteSlot);
    expect(await connection.getRecentPrioritizationFees()).toHaveLength(1);
    expect(await connection.getMinimumBalanceForRentExemption(165)).toBe(2_039_280);
    expect(await connection.getTransactionCount()).toBeGreaterThan(0);
  });

  test("gets SOL from the faucet", async () => {
    const poor = Keypair.generate().publicKey;
    const signature = await connection.requestAirdrop(poor, 5_000_000_000);
    expect(await connection.getBalance(poor)).toBe(5_000_000_000);
    const status = await connection.getSignatureStatus(signature);
    expect(status.value).toMatchObject({ err: null, confirmationStatus: "confirmed" });
  });

  test("tries, sends and reads a transfer in every form", async () => {
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
    expect(lastValidBlockHeight - (await connection.getBlockHeight())).toBe(150);
    expect((await connection.isBlockhashValid(blockhash)).value).toBe(true);
    const reference = Keypair.generate().publicKey;
    const { bytes } = donor.pay({
      to: wallet,
      usdc: "2.5",
      memo: "hello",
      references: [reference.toBase58()],
      blockhash,
    });
    const transaction = VersionedTransaction.deserialize(bytes);
    expect((await connection.getFeeForMessage(transaction.message)).value).toBe(5_000);
    const tried = await connection.simulateTransaction(transaction, { sigVerify: true });
    expect(tried.value.err).toBeNull();
    expect(tried.value.unitsConsumed).toBeGreaterThan(0);
    const signature = await connection.sendTransaction(transaction);

    const raw = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(raw?.meta).toMatchObject({ err: null, fee: 5_001 });
    expect(raw?.transaction.message.recentBlockhash).toBe(blockhash);
    const parsed = await connection.getParsedTransaction(signature, {
      maxSupportedTransactionVersion: 0,
    });
    const instructions = parsed?.transaction.message.instructions ?? [];
    const kinds = instructions.map((one) =>
      "program" in one ? one.program : one.programId.toBase58(),
    );
    expect(kinds).toEqual([
      programs.computeBudget.toBase58(),
      programs.computeBudget.toBase58(),
      "spl-token",
      "spl-memo",
    ]);
    const transfer = instructions.find((one) => "program" in one && one.program === "spl-token");
    expect(transfer).toMatchObject({
      parsed: {
        type: "transferChecked",
        info: {
          tokenAmount: { amount: "2500000", decimals: 6, uiAmount: 2.5, uiAmountString: "2.5" },
        },
      },
    });
    const found = await connection.getSignaturesForAddress(reference);
    expect(found).toMatchObject([
      { signature, memo: "[5] hello", confirmationStatus: "confirmed" },
    ]);
  });

  test("reads accounts in every form", async () => {
    const account = usdcAccount(donor.address);
    const balance = await connection.getTokenAccountBalance(account);
    expect(balance.value).toMatchObject({
      decimals: 6,
      amount: local.usdcOf(donor.address).toString(),
    });
    const owned = await connection.getTokenAccountsByOwner(donor.keypair.publicKey, {
      mint: usdcMint,
    });
    expect(owned.value.map(({ pubkey }) => pubkey.toBase58())).toEqual([account.toBase58()]);
    const parsed = await connection.getParsedTokenAccountsByOwner(donor.keypair.publicKey, {
      programId: programs.token,
    });
    expect(parsed.value[0]?.account.data.parsed).toMatchObject({
      type: "account",
      info: { owner: donor.address, state: "initialized" },
    });
    const supply = await connection.getTokenSupply(usdcMint);
    expect(BigInt(supply.value.amount)).toBeGreaterThanOrEqual(1_000_000_000n);
    const several = await connection.getMultipleAccountsInfo([
      account,
      Keypair.generate().publicKey,
    ]);
    expect(several.map((one) => one?.data.length ?? null)).toEqual([165, null]);
    const mint = await connection.getParsedAccountInfo(usdcMint);
    expect(mint.value?.data).toMatchObject({ program: "spl-token", parsed: { type: "mint" } });
    expect(await connection.getAccountInfo(Keypair.generate().publicKey)).toBeNull();
    const part = await connection.getAccountInfo(account, { dataSlice: { offset: 0, length: 32 } });
    expect(new PublicKey(part?.data ?? []).equals(usdcMint)).toBe(true);
  });

  test("goes through the pages of an account's history", async () => {
    const reference = Keypair.generate().publicKey;
    const sent: string[] = [];
    for (let index = 0; index < 5; index++) {
      const payment = donor.pay({
        to: wallet,
        references: [reference.toBase58()],
        memo: `${index}`,
      });
      sent.unshift(local.land(payment).signature);
    }
    const [first, second, third, fourth] = sent;
    const page = async (options: { limit?: number; before?: string; until?: string }) =>
      (await connection.getSignaturesForAddress(reference, options)).map((one) => one.signature);
    expect(await page({})).toEqual(sent);
    expect(await page({ limit: 2 })).toEqual(sent.slice(0, 2));
    expect(await page({ before: second ?? "" })).toEqual(sent.slice(2));
    expect(await page({ until: fourth ?? "" })).toEqual(sent.slice(0, 3));
    expect(await page({ before: first ?? "", until: third ?? "" })).toEqual([second ?? ""]);
  });
});

describe("a refused transaction", () => {
  const send = (base64: string, options: object = {}) =>
    call("sendTransaction", base64, { encoding: "base64", ...options });

  test("says why, as a validator does", async () => {
    const rich = donor.pay({ to: wallet, usdc: "99999" });
    expect((await send(rich.base64)).error).toMatchObject({
      code: -32_002,
      message: expect.stringContaining("Transaction simulation failed"),
      data: { err: { InstructionError: [2, { Custom: 1 }] } },
    });
    const unsigned = donor.pay({ to: wallet, feePayer: Keypair.generate().publicKey.toBase58() });
    expect((await send(unsigned.base64)).error?.code).toBe(-32_003);
    expect((await send("AAAA")).error?.code).toBe(-32_602);
    const old = donor.pay({ to: wallet, blockhash: wallet });
    expect((await send(old.base64)).error).toMatchObject({
      code: -32_002,
      data: { err: "BlockhashNotFound" },
    });
    const landed = donor.pay({ to: wallet });
    local.land(landed);
    expect((await send(landed.base64)).error).toMatchObject({ data: { err: "AlreadyProcessed" } });
  });

  test("without preflight lands when it fails, and vanishes when it cannot run", async () => {
    const rich = donor.pay({ to: wallet, usdc: "99999" });
    const before = local.lamportsOf(donor.address);
    expect((await send(rich.base64, { skipPreflight: true })).result).toBe(rich.signature);
    expect(local.lamportsOf(donor.address)).toBe(before - 5_001);
    const statuses = await connection.getSignatureStatuses([rich.signature]);
    expect(statuses.value[0]?.err).toEqual({ InstructionError: [2, { Custom: 1 }] });
    const old = donor.pay({ to: wallet, blockhash: wallet });
    expect((await send(old.base64, { skipPreflight: true })).result).toBe(old.signature);
    expect((await connection.getSignatureStatuses([old.signature])).value).toEqual([null]);
  });
});

describe("JSON-RPC", () => {
  test("answers batches in their order, and nothing to notifications", async () => {
    const batch = await post([
      { jsonrpc: "2.0", id: "a", method: "getHealth" },
      { jsonrpc: "2.0", method: "getSlot" },
      { jsonrpc: "2.0", id: 2, method: "getMagic" },
    ]);
    expect(batch).toEqual([
      { jsonrpc: "2.0", result: "ok", id: "a" },
      { jsonrpc: "2.0", error: { code: -32_601, message: "Method not found" }, id: 2 },
    ] as never);
    expect(await post({ jsonrpc: "2.0", method: "getSlot" })).toEqual({});
  });

  test.each([
    ["no JSON", "{", -32_700],
    ["no call", "{}", -32_600],
    ["an empty batch", "[]", -32_600],
    ["another version", { jsonrpc: "1.0", id: 1, method: "getSlot" }, -32_600],
  ])("refuses %s", async (_name, body, code) => {
    expect((await post(body)).error?.code).toBe(code);
  });

  test.each([
    ["getBalance", ["short"]],
    ["getBalance", []],
    ["getTransaction", [Keypair.generate().publicKey.toBase58()]],
    ["getSignatureStatuses", ["1".repeat(64)]],
    ["getSignaturesForAddress", [usdcMint.toBase58(), { limit: 1_001 }]],
    ["getTokenAccountBalance", [usdcMint.toBase58()]],
    ["simulateTransaction", ["AAAA", { sigVerify: true, replaceRecentBlockhash: true }]],
  ])("refuses the params of %s %j", async (method, params) => {
    expect((await call(method, ...params)).error?.code).toBe(-32_602);
  });

  test("refuses more than 256 signatures at once", async () => {
    const many = Array.from({ length: 257 }, () => "1".repeat(64));
    expect((await call("getSignatureStatuses", many)).error?.code).toBe(-32_602);
    expect((await call("getSignatureStatuses", many.slice(1))).error?.code).toBeUndefined();
  });

  test("shows no v0 transaction to clients that do not ask for those, and none before it is confirmed", async () => {
    const { signature } = local.land(donor.pay({ to: wallet }));
    const confirmed = { commitment: "confirmed" };
    expect((await call("getTransaction", signature, confirmed)).error?.code).toBe(-32_015);
    expect((await call("getTransaction", signature, { commitment: "processed" })).error?.code).toBe(
      -32_602,
    );
    const legacy = local.land(donor.pay({ to: wallet, legacy: true }));
    expect((await call("getTransaction", legacy.signature, confirmed)).result).toMatchObject({
      version: "legacy",
    });
    // Finalized is what is meant when nothing is said.
    expect((await call("getTransaction", legacy.signature)).result).toBeNull();
  });

  test("pages of any origin may use it", async () => {
    const response = await fetch(local.url, { method: "OPTIONS" });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(await (await fetch(`${local.url}/health`)).text()).toBe("ok");
  });
});

describe("what only a local chain has", () => {
  const control = async (path: string, body: unknown) => {
    const response = await fetch(`${local.url}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  test("the faucet gives SOL and USDC", async () => {
    const poor = Keypair.generate().publicKey.toBase58();
    const { body } = await control("/faucet", { wallet: poor, sol: 0.5, usdc: "12.345678" });
    expect(body["signature"]).toBeString();
    expect(local.usdcOf(poor)).toBe(12_345_678n);
    expect(local.lamportsOf(poor)).toBe(500_000_000);
  });

  test("accounts are made for wallets that lack one", async () => {
    const wallets = [wallet, local.wallet({ account: false }), local.wallet({ account: false })];
    expect((await control("/ensure", { wallets })).body).toEqual({ made: 2 });
    expect((await control("/ensure", { wallets })).body).toEqual({ made: 0 });
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
