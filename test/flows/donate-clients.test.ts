import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import bs58 from "bs58";
import { z } from "zod";
import { type DonationHistory, unknownSignature } from "#content/contract/donation.ts";
import { keySetOf, openSigner } from "#content/feed/signing-keys.ts";
import { clientFile, clientsInstalled, runClient } from "#test/support/clients.ts";
import { aDirectory, type TestDirectory } from "#test/support/discovery.ts";
import type { Donor } from "#test/support/donor.ts";
import { aChain, type TestChain } from "#test/support/local-chain.ts";
import { runProgram } from "#test/support/processes.ts";
import { aNonprofit } from "#test/support/records.ts";
import { strangerDonates } from "#test/support/stranger.ts";

let chain: TestChain;
let directory: TestDirectory;
let wallet: string;
beforeAll(async () => {
  // Clients and service live in the real time here: stock clients have no other clock.
  chain = await aChain({ now: () => new Date() });
  wallet = chain.wallet();
  directory = await aDirectory({
    env: chain.env,
    records: [aNonprofit({ slug: "well", name: "Well “Wasser” Trust", usdc_wallet: wallet })],
    context: { clock: chain.clock },
  });
});
afterAll(async () => {
  await directory.close();
  await chain.stop();
});

const donateUrl = (query: string) => `${directory.url}/api/donate/well?${query}`;
const lamportsOfSponsor = () => chain.lamportsOf(chain.sponsor.publicKey.toBase58());

/** What pay-x402.mjs and pay-x402-v1.mjs print: the answer and its header, or the client's refusal to pay. */
const Paid = z.object({
  status: z.number().optional(),
  body: z.record(z.string(), z.unknown()).optional(),
  receipt: z.unknown().optional(),
  refused: z.string().optional(),
});
type Paid = z.infer<typeof Paid>;

/** Has the stock client pay for a path of the service. */
const pay = async (client: string, donor: Donor, query: string, options: object): Promise<Paid> =>
  Paid.parse(
    await runClient(client, {
      url: donateUrl(query),
      secretKey: bs58.encode(donor.keypair.secretKey),
      rpcUrl: chain.url,
      ...options,
    }),
  );

/** What a donation must have done: once paid, once recorded, answered with both. */
async function expectDonated(
  { status, body }: Pick<Paid, "status" | "body">,
  donor: Donor,
  amount: number,
  before: bigint,
) {
  expect([status, body?.["success"], body?.["amount"]]).toEqual([200, true, amount]);
  expect(chain.usdcOf(wallet) - before).toBe(BigInt(amount * 1e6));
  const history = (await (
    await fetch(`${directory.url}/api/donations/well`)
  ).json()) as DonationHistory;
  const donation = history.recent_donations.find(({ id }) => id === body?.["donation_id"]);
  expect(donation).toMatchObject({
    amount_usdc: amount,
    tx_signature: body?.["tx_signature"],
    donor: donor.address,
  });
  return { tx_signature: body?.["tx_signature"] };
}

describe.skipIf(!clientsInstalled)("@x402/fetch with @x402/svm, version 2", () => {
  const ways: [string, "GET" | "POST", boolean][] = [
    ["sponsored, by GET", "GET", true],
    ["sponsored, by POST", "POST", true],
    ["self-paid, by GET", "GET", false],
    ["self-paid, by POST", "POST", false],
  ];
  test.each(ways)("pays %s", async (_, method, sponsored) => {
    const donor = chain.donor();
    const [before, lamports] = [chain.usdcOf(wallet), lamportsOfSponsor()];
    const query = sponsored ? "amount=2.5" : `amount=2.5&payer=${donor.address}`;
    // The local chain's USDC is no asset that the client knows.
    const spendControls = { allowedAssets: true };
    const paid = await pay("pay-x402.mjs", donor, query, { method, spendControls });
    const { tx_signature } = await expectDonated(paid, donor, 2.5, before);
    expect(paid.receipt).toEqual({
      success: true,
      transaction: tx_signature,
      payer: donor.address,
      network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1", // As it was offered: devnet's.
    });
    expect(lamportsOfSponsor() < lamports).toBe(sponsored);
  });

  test("keeps to the caps of its owner", async () => {
    const donor = chain.donor();
    const { mint } = directory.service.context.chain;
    const spendControls = {
      allowedAssets: [{ network: "solana:*", asset: mint, maxAmountPerPayment: "1000000" }],
    };
    const above = await pay("pay-x402.mjs", donor, "amount=1.000001", { spendControls });
    expect(above.refused).toContain("maxAmountPerPayment");
    expect((await pay("pay-x402.mjs", donor, "amount=1", { spendControls })).status).toBe(200);
  });
});

describe.skipIf(!clientsInstalled)("x402-fetch, version 1", () => {
  test.each([true, false])("pays, sponsored: %p", async (sponsored) => {
    const donor = chain.donor();
    const [before, lamports] = [chain.usdcOf(wallet), lamportsOfSponsor()];
    const query = sponsored ? "amount=0.75" : `amount=0.75&payer=${donor.address}`;
    const paid = await pay("pay-x402-v1.mjs", donor, query, { maxMicroUsdc: 10_000_000 });
    const { tx_signature } = await expectDonated(paid, donor, 0.75, before);
    expect(paid.receipt).toMatchObject({
      success: true,
      transaction: tx_signature,
      payer: donor.address,
      network: "solana-devnet",
    });
    expect(lamportsOfSponsor() < lamports).toBe(sponsored);
  });

  test("pays at most 0.10 USDC unless its owner says otherwise", async () => {
    const donor = chain.donor();
    const unchanged = { maxMicroUsdc: null };
    const above = await pay("pay-x402-v1.mjs", donor, "amount=0.2", unchanged);
    expect(above.refused).toContain("exceeds maximum");
    expect((await pay("pay-x402-v1.mjs", donor, "amount=0.1", unchanged)).status).toBe(200);
  });
});

describe.skipIf(!clientsInstalled)("below the sponsored minimum", () => {
  test.each(["pay-x402.mjs", "pay-x402-v1.mjs"] as const)(
    "%s reads what to pay, and signs nothing before the donor's wallet is named",
    async (client) => {
      const donor = chain.donor();
      const before = chain.usdcOf(wallet);
      const how = { spendControls: { allowedAssets: true }, maxMicroUsdc: 10_000_000 };
      const unpaid = await pay(client, donor, "amount=0.01", how);
      expect(unpaid.refused).toMatch(/feePayer|address string/);
      expect(chain.usdcOf(wallet)).toBe(before);
      const query = `amount=0.01&payer=${donor.address}`;
      expect((await pay(client, donor, query, how)).status).toBe(200);
    },
  );
});

test.skipIf(!clientsInstalled).each(["amount=5", "amount=0.01", "amount=5&payer=PAYER"])(
  "the schemas of @x402/core take the answer to ?%s",
  async (query) => {
    const core = clientFile("node_modules/@x402/core/dist/esm/schemas/index.mjs");
    const schemas = (await import(core)) as Record<
      "PaymentRequiredV1Schema" | "PaymentRequiredV2Schema",
      z.ZodType
    >;
    const answer = await fetch(donateUrl(query.replace("PAYER", chain.donor().address)));
    expect(answer.status).toBe(402);
    const header = Buffer.from(answer.headers.get("payment-required") ?? "", "base64").toString();
    const { PaymentRequiredV1Schema: first, PaymentRequiredV2Schema: second } = schemas;
    expect(first.safeParse(await answer.json()).error?.issues).toBeUndefined();
    expect(second.safeParse(JSON.parse(header)).error?.issues).toBeUndefined();
  },
);

test("an agent with the tools of /mcp alone: asks, has it paid, proves it and reads the receipt", async () => {
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${directory.url}/mcp`)));
  await client.listTools(); // So that the client holds each answer against its schema.
  const call = async (name: string, args: object) => {
    const { structuredContent } = await client.callTool({ name, arguments: { ...args } });
    return structuredContent as Record<string, unknown>;
  };
  const { memo, recipient } = await call("donation_requirements", { slug: "well", amount: 1.5 });
  const payment = chain.donor().pay({ to: String(recipient), usdc: "1.5", memo: String(memo) });
  const proof = { slug: "well", amount: 1.5, tx_signature: payment.signature };
  expect(await call("prove_donation", proof)).toMatchObject({ status: "pending" });
  chain.land(payment);
  const { donation_id, amount } = await call("prove_donation", proof);
  expect(amount).toBe(1.5);
  expect(await call("donation_status", { slug: "well", memo })).toMatchObject({
    status: "received",
  });
  const { receipt } = await call("donation_receipt", { slug: "well", donation_id });
  expect(receipt).toMatchObject({ amount_usdc: 1.5, id: donation_id });
  await client.close();
  const signer = await openSigner(directory.service.context.secrets.signingKey);
  directory.files.set(".well-known/almoner-keys.json", keySetOf(signer));
  const address = `${directory.url}/api/donations/well/${String(donation_id)}`;
  expect(await verified(address)).toBe("VALID");
  const altered = JSON.stringify(await (await fetch(address)).json()).replace("1.5", "1.6");
  expect(await verified(`data:application/json,${encodeURIComponent(altered)}`)).toStartWith(
    "NOT VALID: ",
  );
});

/** What the program of the guide says of a receipt. */
async function verified(address: string): Promise<string> {
  const [, program = ""] =
    /```js\n(.+?)```/s.exec(directory.files.get("verify-receipt.md") ?? "") ?? [];
  const folder = mkdtempSync(join(tmpdir(), "almoner-verify-"));
  writeFileSync(join(folder, "verify.mjs"), program);
  const { out, err } = await runProgram(["node", "verify.mjs", address], { cwd: folder });
  rmSync(folder, { recursive: true });
  return `${out}${err}`.split(" {")[0] ?? "";
}

describe("a program written from /openapi.json and /agents.md alone", () => {
  test("pays by a transfer of its own and proves it by the signature", async () => {
    const donor = chain.donor();
    const before = chain.usdcOf(wallet);
    const how = { slug: "well", amount: "1.25", rpcUrl: chain.url };
    const response = await strangerDonates(directory.url, donor.keypair, how);
    const body = z.record(z.string(), z.unknown()).parse(await response.json());
    await expectDonated({ status: response.status, body }, donor, 1.25, before);
  });

  test("finds in the guide all that it does", () => {
    const guide = directory.files.get("agents.md") ?? "";
    for (const word of [
      "402",
      "amount",
      "mint",
      "recipient",
      "memo",
      "tx_signature",
      "202",
      "503",
      "Retry-After",
      "never pay again",
      "signature_not_found",
      `after ${unknownSignature.waitText}`,
      "$1",
      "$0.10",
      "payer=",
      "/api/onboard/status`",
      "/api/corrections/status`",
    ]) {
      expect(guide).toContain(word);
    }
    expect(guide).toContain(`${directory.url}/api/donate/{slug}`);
  });
});
