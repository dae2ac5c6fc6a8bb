import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createKeyPairSignerFromBytes } from "@solana/kit";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import bs58 from "bs58";
import {
  createSigner,
  decodeXPaymentResponse,
  wrapFetchWithPayment as wrapFetchV1,
} from "x402-fetch";
import type { DonationHistory, Settlement } from "#content/contract/donation.ts";
import { aDirectory, type TestDirectory } from "#test/support/discovery.ts";
import type { Donor } from "#test/support/donor.ts";
import { aChain, type TestChain } from "#test/support/local-chain.ts";
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

/** What a stock client's donation must have done: once paid, once recorded, answered with both. */
async function expectDonated(response: Response, donor: Donor, amount: number, before: bigint) {
  const settlement = (await response.json()) as Settlement;
  expect([response.status, settlement.success, settlement.amount]).toEqual([200, true, amount]);
  expect(chain.usdcOf(wallet) - before).toBe(BigInt(amount * 1e6));
  const history = (await (
    await fetch(`${directory.url}/api/donations/well`)
  ).json()) as DonationHistory;
  expect(history.recent_donations.find(({ id }) => id === settlement.donation_id)).toMatchObject({
    amount_usdc: amount,
    tx_signature: settlement.tx_signature,
    donor: donor.address,
  });
  return settlement;
}

describe("@x402/fetch with @x402/svm, version 2", () => {
  const clientOf = async (donor: Donor) => {
    const signer = await createKeyPairSignerFromBytes(donor.keypair.secretKey);
    return new x402Client().register("solana:*", new ExactSvmScheme(signer, { rpcUrl: chain.url }));
  };

  const ways: [string, "GET" | "POST", boolean][] = [
    ["sponsored, by GET", "GET", true],
    ["sponsored, by POST", "POST", true],
    ["self-paid, by GET", "GET", false],
    ["self-paid, by POST", "POST", false],
  ];
  test.each(ways)("pays %s", async (_, method, sponsored) => {
    const donor = chain.donor();
    const client = await clientOf(donor);
    // The local chain's USDC is no asset that the client knows.
    client.setSpendControls({ allowedAssets: true });
    const [before, lamports] = [chain.usdcOf(wallet), lamportsOfSponsor()];
    const pay = wrapFetchWithPayment(fetch, client);
    const response = await pay(
      donateUrl(sponsored ? "amount=2.5" : `amount=2.5&payer=${donor.address}`),
      { method },
    );
    const header = JSON.parse(atob(response.headers.get("payment-response") ?? "")) as object;
    const { tx_signature } = await expectDonated(response, donor, 2.5, before);
    expect(header).toEqual({
      success: true,
      transaction: tx_signature,
      payer: donor.address,
      network: directory.service.context.chain.caip2,
    });
    expect(lamportsOfSponsor() < lamports).toBe(sponsored);
  });

  test("keeps to the caps of its owner", async () => {
    const client = await clientOf(chain.donor());
    const { mint } = directory.service.context.chain;
    client.setSpendControls({
      allowedAssets: [{ network: "solana:*", asset: mint, maxAmountPerPayment: "1000000" }],
    });
    const pay = wrapFetchWithPayment(fetch, client);
    expect(await pay(donateUrl("amount=1.000001")).catch(String)).toContain("maxAmountPerPayment");
    expect((await pay(donateUrl("amount=1"))).status).toBe(200);
  });
});

describe("x402-fetch, version 1", () => {
  test.each([true, false])("pays, sponsored: %p", async (sponsored) => {
    const donor = chain.donor();
    const signer = await createSigner("solana-devnet", bs58.encode(donor.keypair.secretKey));
    const config = { svmConfig: { rpcUrl: chain.url } };
    const pay = wrapFetchV1(fetch, signer, 10_000_000n, undefined, config);
    const [before, lamports] = [chain.usdcOf(wallet), lamportsOfSponsor()];
    const response = await pay(
      donateUrl(sponsored ? "amount=0.75" : `amount=0.75&payer=${donor.address}`),
    );
    const header = decodeXPaymentResponse(response.headers.get("x-payment-response") ?? "");
    const { tx_signature } = await expectDonated(response, donor, 0.75, before);
    expect(header).toMatchObject({
      success: true,
      transaction: tx_signature,
      payer: donor.address,
      network: "solana-devnet",
    });
    expect(lamportsOfSponsor() < lamports).toBe(sponsored);
  });

  test("pays at most 0.10 USDC unless its owner says otherwise", async () => {
    const signer = await createSigner(
      "solana-devnet",
      bs58.encode(chain.donor().keypair.secretKey),
    );
    const pay = wrapFetchV1(fetch, signer, undefined, undefined, {
      svmConfig: { rpcUrl: chain.url },
    });
    expect(await pay(donateUrl("amount=0.2")).catch(String)).toContain("exceeds maximum");
    expect((await pay(donateUrl("amount=0.1"))).status).toBe(200);
  });
});

describe("a program written from /openapi.json and /agents.md alone", () => {
  test("pays by a transfer of its own and proves it by the signature", async () => {
    const donor = chain.donor();
    const before = chain.usdcOf(wallet);
    const how = { slug: "well", amount: "1.25", rpcUrl: chain.url };
    const response = await strangerDonates(directory.url, donor.keypair, how);
    await expectDonated(response, donor, 1.25, before);
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
      "$1",
      "$0.10",
      "payer=",
    ]) {
      expect(guide).toContain(word);
    }
    expect(guide).toContain(`${directory.url}/api/donate/{slug}`);
  });
});
