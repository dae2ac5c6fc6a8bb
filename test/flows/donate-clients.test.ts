import { afterAll, describe, expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import bs58 from "bs58";
import { z } from "zod";
import type { DonationHistory } from "#content/contract/donation.ts";
import { clientFile, clientsInstalled, openClient, runClient } from "#test/support/clients.ts";
import { theDirectory } from "#test/support/discovery.ts";
import type { Donor } from "#test/support/donor.ts";
import { theChain } from "#test/support/local-chain.ts";
import { aNonprofit } from "#test/support/records.ts";

// Clients and service live in the real time here: stock clients have no other clock.
const chain = await theChain({ now: () => new Date() });
const wallet = chain.wallet();
const directory = await theDirectory({
  env: chain.env,
  records: [aNonprofit({ slug: "well", name: "Well “Wasser” Trust", usdc_wallet: wallet })],
  context: { clock: chain.clock },
});
const payingClients = { "pay-x402.mjs": null, "pay-x402-v1.mjs": null } as Record<
  PayingClient,
  ReturnType<typeof openClient> | null
>;
type PayingClient = "pay-x402.mjs" | "pay-x402-v1.mjs";
afterAll(async () => {
  for (const client of Object.values(payingClients)) client?.close();
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
const pay = async (
  client: PayingClient,
  donor: Donor,
  query: string,
  options: object,
): Promise<Paid> =>
  Paid.parse(
    await (payingClients[client] ??= openClient(client)).ask({
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

describe.skipIf(!clientsInstalled)("@x402/fetch and @x402/axios with @x402/svm, version 2", () => {
  const ways: ["fetch" | "axios", "GET" | "POST", string, boolean][] = [
    ["fetch", "GET", "sponsored", true],
    ["fetch", "POST", "sponsored", true],
    ["fetch", "GET", "self-paid", false],
    ["fetch", "POST", "self-paid", false],
    ["axios", "GET", "sponsored", true],
  ];
  test.each(ways)("%s pays by %s, %s", async (library, method, _, sponsored) => {
    const donor = chain.donor();
    const before = chain.usdcOf(wallet);
    const lamports = lamportsOfSponsor();
    // Nothing is set but the address of the chain; a dollar is its own cap.
    const query = sponsored ? "amount=1" : `amount=1&payer=${donor.address}`;
    const paid = await pay("pay-x402.mjs", donor, query, { library, method });
    const { tx_signature } = await expectDonated(paid, donor, 1, before);
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

describe.skipIf(!clientsInstalled)("x402-fetch and x402-axios, version 1", () => {
  // Nothing is set but the address of the chain; 0.10 USDC is their own cap.
  const unchanged = { maxMicroUsdc: null };
  test.each([
    ["fetch", true],
    ["fetch", false],
    ["axios", true],
  ])("%s pays, sponsored: %p", async (library, sponsored) => {
    const donor = chain.donor();
    const before = chain.usdcOf(wallet);
    const lamports = lamportsOfSponsor();
    const query = sponsored ? "amount=0.1" : `amount=0.1&payer=${donor.address}`;
    const paid = await pay("pay-x402-v1.mjs", donor, query, { library, ...unchanged });
    const { tx_signature } = await expectDonated(paid, donor, 0.1, before);
    expect(paid.receipt).toMatchObject({
      success: true,
      transaction: tx_signature,
      payer: donor.address,
      network: "solana-devnet",
    });
    expect(lamportsOfSponsor() < lamports).toBe(sponsored);
  });

  test("fetch pays no more unless its owner says otherwise", async () => {
    const above = await pay("pay-x402-v1.mjs", chain.donor(), "amount=0.2", unchanged);
    expect(above.refused).toContain("exceeds maximum");
    const more = { maxMicroUsdc: 10_000_000 };
    expect((await pay("pay-x402-v1.mjs", chain.donor(), "amount=0.2", more)).status).toBe(200);
  });
});

describe.skipIf(!clientsInstalled)("programs that pay on chain by themselves", () => {
  const Sent = z.object({ signature: z.string(), found: z.string().optional() });
  const payBy = async (client: string, amount: string) => {
    const donor = chain.donor();
    const before = chain.usdcOf(wallet);
    const demand = (await (await fetch(donateUrl(`amount=${amount}`))).json()) as {
      status_url: string;
      solana_pay: string;
    };
    const secretKey = bs58.encode(donor.keypair.secretKey);
    const how = { ...demand, link: demand.solana_pay, secretKey, rpcUrl: chain.url };
    return { demand, donor, before, sent: Sent.parse(await runClient(client, how)) };
  };

  test("@solana/kit 8 with its programs, newest memo program included", async () => {
    const { donor, before, sent } = await payBy("kit-8/pay.mjs", "1.25");
    const body = JSON.stringify({ tx_signature: sent.signature });
    const headers = { "content-type": "application/json" };
    const proven = await fetch(donateUrl("amount=1"), { method: "POST", headers, body });
    // More than the request names: its memo says how much it is of.
    const answer = { status: proven.status, body: (await proven.json()) as Paid["body"] };
    await expectDonated(answer, donor, 1.25, before);
  });

  test.each(["pay-0", "pay-1"])("@solana/pay, %s", async (version) => {
    const { demand, donor, before, sent } = await payBy(`${version}/pay.mjs`, "2");
    expect(sent.found).toBe(sent.signature);
    const { settlement } = (await (await fetch(demand.status_url)).json()) as {
      settlement: NonNullable<Paid["body"]>;
    };
    await expectDonated({ status: 200, body: settlement }, donor, 2, before);
  });
});

describe.skipIf(!clientsInstalled)("below the sponsored minimum", () => {
  test.each(["pay-x402.mjs", "pay-x402-v1.mjs"] as const)(
    "%s reads what to pay, and signs nothing before the donor's wallet is named",
    async (client) => {
      const donor = chain.donor();
      const before = chain.usdcOf(wallet);
      const how = { maxMicroUsdc: null };
      const unpaid = await pay(client, donor, "amount=0.005", how);
      expect(unpaid.refused).toMatch(/feePayer|address string/);
      expect(chain.usdcOf(wallet)).toBe(before);
      const query = `amount=0.005&payer=${donor.address}`;
      expect((await pay(client, donor, query, how)).status).toBe(200);
    },
  );
});

test.skipIf(!clientsInstalled).each(["amount=5", "amount=0.005", "amount=5&payer=PAYER"])(
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
  const proof = { slug: "well", tx_signature: payment.signature };
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
});
