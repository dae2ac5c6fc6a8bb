import { describe, expect, test } from "bun:test";
import { networks } from "#content/giving/network.ts";
import type { BuiltTransaction } from "#scripts/chain/instructions.ts";
import { openChaos } from "#scripts/chain/chaos.ts";
import { aChain } from "#test/support/local-chain.ts";
import { forEachTest } from "#test/support/at-file-top.ts";

const local = forEachTest(aChain);

const call = (method: string, ...params: unknown[]) => ({
  method: "POST",
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
});

async function result(method: string, ...params: unknown[]): Promise<unknown> {
  const response = await fetch(local.url, call(method, ...params));
  return ((await response.json()) as { result?: unknown }).result;
}

const well = { jsonrpc: "2.0", result: networks.local.genesis, id: 1 };

const wentWell = async (): Promise<boolean> => {
  const response = await fetch(local.url, call("getGenesisHash"));
  const text = await response.text();
  return response.ok && text === JSON.stringify(well);
};

describe("chaos", () => {
  test("is off until it is asked for, and off again when it is switched off", async () => {
    const troubled = async () => {
      let troubles = 0;
      for (let round = 0; round < 40; round++) if (!(await wentWell())) troubles++;
      return troubles;
    };
    expect(await troubled()).toBe(0);
    local.chain.chaos.set({ errors: 50 });
    expect(await troubled()).toBeGreaterThan(5);
    local.chain.chaos.set({});
    expect(await troubled()).toBe(0);
  });

  test("makes the same troubles of the same seed", async () => {
    const troubles = async (seed: number) => {
      const chaos = openChaos({ errors: 30, garbage: 20, seed });
      const request = { body: '{"id":1}', signal: new AbortController().signal };
      const answers: string[] = [];
      for (let round = 0; round < 30; round++) {
        const response = await chaos.trouble(request, () => new Response("fine"));
        answers.push(`${response.status} ${await response.text()}`);
      }
      return answers;
    };
    expect(await troubles(5)).toEqual(await troubles(5));
    expect(await troubles(5)).not.toEqual(await troubles(6));
  });

  test("fails half of the calls only after the work was done", async () => {
    local.chain.chaos.set({ errors: 100 });
    const donor = local.donor({ usdc: "1000" });
    const wallet = local.wallet();
    let landed = 0;
    for (let round = 0; round < 20; round++) {
      const { base64, signature } = donor.pay({ to: wallet, memo: `${round}` });
      const response = await fetch(
        local.url,
        call("sendTransaction", base64, { encoding: "base64" }),
      );
      expect(await response.text()).not.toContain(signature);
      if (local.chain.ledger.landing(signature) !== null) landed++;
    }
    expect(landed).toBeGreaterThan(2);
    expect(landed).toBeLessThan(18);
  });

  test("lets answers hang, and ends them when the client goes", async () => {
    local.chain.chaos.set({ hangs: 100, hang_ms: 60_000 });
    const given = fetch(local.url, { ...call("getGenesisHash"), signal: AbortSignal.timeout(100) });
    expect(await given.catch(() => "given up")).toBe("given up");
    local.chain.chaos.set({ hangs: 100, hang_ms: 50 });
    expect(await wentWell()).toBe(false);
  });

  test("forgets transactions, or what they did", async () => {
    const { signature } = local.land(local.donor().pay({ to: local.wallet() }));
    local.chain.chaos.set({ nulls: 100 });
    const version = { maxSupportedTransactionVersion: 0 };
    const options = { commitment: "confirmed", encoding: "jsonParsed", ...version };
    const shown = new Set<string>();
    for (let round = 0; round < 20; round++) {
      const answer = await result("getTransaction", signature, options);
      const transaction = answer as { meta: unknown } | null;
      expect(transaction?.meta ?? null).toBeNull();
      shown.add(transaction === null ? "nothing" : "no meta");
    }
    expect([...shown].toSorted()).toEqual(["no meta", "nothing"]);
    expect(await result("getSignatureStatuses", [signature])).toMatchObject({ value: [null] });
    const sponsor = local.sponsor.publicKey.toBase58();
    expect(await result("getSignaturesForAddress", sponsor)).toEqual([]);
    expect(await result("getBalance", sponsor)).toMatchObject({ value: 1_000_000_000 });
  });

  test("shows transactions late, and loses some", async () => {
    local.chain.chaos.set({ late: 100, late_ms: 60_000 });
    const donor = local.donor();
    const wallet = local.wallet();
    const send = async ({ base64, signature }: BuiltTransaction) => {
      expect(await result("sendTransaction", base64, { encoding: "base64" })).toBe(signature);
      return result("getSignatureStatuses", [signature]);
    };
    const late = donor.pay({ to: wallet, usdc: "3" });
    expect(await send(late)).toMatchObject({ value: [null] });
    expect(local.usdcOf(wallet)).toBe(3_000_000n);
    local.pass(60_000);
    const statuses = await result("getSignatureStatuses", [late.signature]);
    expect(statuses).toMatchObject({ value: [{ err: null }] });
    local.chain.chaos.set({ lost: 100 });
    await send(donor.pay({ to: wallet, usdc: "4" }));
    expect(local.usdcOf(wallet)).toBe(3_000_000n);
  });

  test("answers garbage that is not JSON-RPC of this call", async () => {
    local.chain.chaos.set({ garbage: 100 });
    for (let round = 0; round < 30; round++) {
      const text = await (await fetch(local.url, call("getGenesisHash"))).text();
      expect(text).not.toContain(networks.local.genesis);
    }
  });
});
