import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Donor } from "#test/support/donor.ts";
import { theChain } from "#test/support/local-chain.ts";
import { aNode, hang, type NodeAnswer } from "#test/support/node.ts";
import type { Payment } from "#content/giving/world.ts";
import type { OpenChain } from "#api/chain/open-chain.ts";

// Payments on their way: tried, sent, looked for.
const local = await theChain();
let chain: OpenChain;
let donor: Donor;
let wallet: string;
beforeEach(async () => {
  chain = await local.open({ deadlineMs: 1_500, hedgeMs: 150 });
  donor = local.donor();
  wallet = local.wallet();
});
afterEach(() => local.chain.chaos.set({}));

function pay(
  paying: Partial<Parameters<Donor["pay"]>[0]> = {},
): Payment & { tx_signature: string } {
  const payment = chain.readPayment(donor.pay({ to: wallet, ...paying }).base64);
  if (!payment.ok || payment.value.tx_signature === null) throw new Error("no payment");
  return { ...payment.value, tx_signature: payment.value.tx_signature };
}

const sent = { ok: true, value: null };
const fails = (why: string) => ({
  ok: false,
  failure: { kind: "payment_fails", why: expect.stringContaining(why) },
});
const unclear = { ok: false, failure: { kind: "chain_unclear" } };

test("a sound payment runs, is sent, and lands, once", async () => {
  const payment = pay({ usdc: "2" });
  expect(await chain.simulate(payment)).toMatchObject(sent);
  expect(local.usdcOf(wallet)).toBe(0n);
  expect(await chain.send(payment)).toMatchObject(sent);
  expect(local.usdcOf(wallet)).toBe(2_000_000n);
  const landed = { ok: true, value: { failed: false } };
  expect(await chain.landed(payment.tx_signature)).toMatchObject(landed);
  // Sent twice it lands once.
  expect(await chain.send(payment)).toMatchObject(sent);
  expect(await chain.simulate(payment)).toMatchObject(sent);
  expect(local.usdcOf(wallet)).toBe(2_000_000n);
});

describe("a payment fails", () => {
  const expired = () => {
    const payment = pay();
    local.pass(61_000);
    return payment;
  };
  const unsigned = () => {
    const feePayer = local.sponsor.publicKey.toBase58();
    const payment = chain.readPayment(donor.pay({ to: wallet, feePayer }).base64);
    if (!payment.ok) throw new Error("no payment");
    return payment.value;
  };
  test.each<[string, () => Payment, string]>([
    ["without enough USDC", () => pay({ usdc: "1000.000001" }), '"Custom":1'],
    ["with a blockhash that has expired", expired, "BlockhashNotFound"],
    ["with a blockhash of another chain", () => pay({ blockhash: wallet }), "BlockhashNotFound"],
    ["with a signature missing", unsigned, "signature verification failure"],
    [
      "to an account that is not there",
      () => pay({ to: local.wallet({ account: false }) }),
      "InvalidAccountData",
    ],
  ])("%s, tried as sent, and nothing moves", async (_, payment, why) => {
    const paid = payment();
    expect(await chain.simulate(paid)).toMatchObject(fails(why));
    expect(await chain.send(paid)).toMatchObject(fails(why));
    expect(local.usdcOf(wallet)).toBe(0n);
  });
});

const refusal = { error: { code: -32_002, message: "no", data: { err: "BlockhashNotFound" } } };

describe("a node that lags behind the donor's", () => {
  const lags = { result: { value: { err: "BlockhashNotFound" } } };
  test.each<["simulate" | "send", object, object]>([
    ["simulate", lags, { result: { value: { err: null } } }],
    ["send", refusal, { result: "1".repeat(64) }],
  ])("is asked to %s once more", async (work, first, then) => {
    let calls = 0;
    const node = aNode(() => (++calls === 1 ? first : then) as { result: unknown });
    const behind = await local.open({ rpcUrls: [node.url] });
    expect(await behind[work](pay())).toMatchObject(sent);
    expect(calls).toBe(2);
    await node.stop();
  });

  test("and one that does not say whether a payment runs has said nothing", async () => {
    const node = aNode(() => ({ result: { value: {} } }));
    const behind = await local.open({ rpcUrls: [node.url], deadlineMs: 200 });
    expect(await behind.simulate(pay())).toMatchObject(unclear);
    await node.stop();
  });
});

describe("when a node fails after it sent a payment", () => {
  /** Passes calls on to the local chain, and spoils the first answer to sendTransaction. */
  const spoiled = (spoil: () => Response | Promise<Response>) => {
    let isFirst = true;
    const answer: NodeAnswer = async (call) => {
      const body = JSON.stringify({ jsonrpc: "2.0", ...call });
      const answered = await local.chain.rpc(body, new AbortController().signal);
      if (!isFirst || call.method !== "sendTransaction") return answered;
      isFirst = false;
      return spoil();
    };
    return aNode(answer);
  };

  test.each([
    ["an error", () => new Response("", { status: 502 })],
    ["silence", hang],
  ])("%s does not hide that it was sent", async (_name, spoil) => {
    const node = spoiled(spoil);
    const behind = await local.open({ rpcUrls: [node.url], deadlineMs: 1_500, hedgeMs: 100 });
    const payment = pay({ usdc: "1000" });
    expect(await behind.send(payment)).toMatchObject(sent);
    expect(local.usdcOf(wallet)).toBe(1_000_000_000n);
    await node.stop();
  });

  test("a refusal by another node leaves it unclear: the first may have sent it", async () => {
    const first = spoiled(() => new Response("", { status: 502 }));
    const refusing = aNode(() => refusal);
    const behind = await local.open({ rpcUrls: [first.url, refusing.url] });
    expect(await behind.send(pay())).toMatchObject(unclear);
    expect(local.usdcOf(wallet)).toBe(1_000_000n);
    await Promise.all([first.stop(), refusing.stop()]);
  });
});

describe("whether the chain knows signatures", () => {
  test("is answered in their order, and nothing for none", async () => {
    const landed = pay();
    await chain.send(landed);
    const failed = local.land(donor.pay({ to: wallet, usdc: "9999" }));
    const { tx_signature: unknown } = pay({ usdc: "3" });
    const value = await chain.known([landed.tx_signature, failed.signature, unknown]);
    expect(value).toEqual({ ok: true, value: [true, true, false] });
    expect(await chain.known([])).toEqual({ ok: true, value: [] });
  });

  test("finds transfers by a reference and by the token account, newest first", async () => {
    const reference = local.wallet({ account: false });
    const first = pay({ references: [reference], memo: "one" });
    const second = pay({ references: [reference], usdc: "2" });
    await chain.send(first);
    local.pass(1_000);
    await chain.send(second);
    local.land(donor.pay({ to: wallet, usdc: "9999", references: [reference] }));
    expect(await chain.signaturesOf(reference, 10)).toEqual({
      ok: true,
      value: [second.tx_signature, first.tx_signature],
    });
    expect(await chain.signaturesOf(chain.tokenAccountOf(wallet), 2)).toEqual({
      ok: true,
      value: [second.tx_signature],
    });
  });
});

test("a blockhash is valid for a minute, and gone only when the finalized block has outlived it", async () => {
  const { blockhash } = pay();
  expect(await chain.stillValid(blockhash)).toEqual({ ok: true, value: true });
  local.pass(61_000);
  expect(await chain.stillValid(blockhash)).toEqual({ ok: true, value: true });
  local.pass(15_000);
  expect(await chain.stillValid(blockhash)).toEqual({ ok: true, value: false });
});

describe("whether a wallet can receive", () => {
  test("is whether its token account is there, and is asked once a minute", async () => {
    const there = local.wallet();
    const absent = local.wallet({ account: false });
    expect(await chain.canReceive(there)).toEqual({ ok: true, value: true });
    expect(await chain.canReceive(absent)).toEqual({ ok: true, value: false });
    local.chain.chaos.set({ errors: 100 });
    expect(await chain.canReceive(there)).toEqual({ ok: true, value: true });
    local.pass(61_000);
    expect(await chain.canReceive(there)).toMatchObject(unclear);
  });

  test("is found out within seconds after the account was made", async () => {
    const absent = local.wallet({ account: false });
    await chain.canReceive(absent);
    local.land(donor.pay({ to: absent, makeAccount: true }));
    local.pass(5_001);
    expect(await chain.canReceive(absent)).toEqual({ ok: true, value: true });
  });
});
