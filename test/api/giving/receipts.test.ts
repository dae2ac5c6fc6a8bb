import { describe, expect, test } from "bun:test";
import { micro } from "#content/contract/base/money.ts";
import { SignedReceipt } from "#content/contract/donation.ts";
import { openSigner } from "#content/feed/signing-keys.ts";
import { readReceipt, verifyReceipt } from "#content/giving/receipt.ts";
import { type Donation, recordDonation } from "#content/giving/store.ts";
import { aDonation, aNonprofit, anEin } from "#test/support/records.ts";
import { theService, testNow } from "#test/support/service.ts";

const type = "EIN";
const registration_number = "53-0196605";
const registrations = [anEin(registration_number)];
const wallet = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";

const service = await theService({
  records: [
    aNonprofit({ slug: "lantern", name: "Lantern \u202EloohcS", registrations }),
    aNonprofit({ slug: "other" }),
    aNonprofit({ slug: "gone", status: "withdrawn" }),
  ],
});
const given = await record("lantern", "sig-1");

async function record(slug: string, tx_signature: string, parts: Partial<Donation> = {}) {
  const { id: nonprofit_id } = await service.live(slug);
  const gift = aDonation({
    nonprofit_id,
    network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    tx_signature,
    slot: 312_000_000,
    commitment: "confirmed",
    source: "HzMoc78z1VNNf9nwD4Czt6CDYEb9LVD8KQVGP46FEmyJ",
    recipient: wallet,
    destination: "7UX2i7SucgLMQcfZ75s3VXmZZY4YRUyJN9X1RgfMoDUi",
    mint: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    recorded_at: testNow.getTime() + 2_000,
    ...parts,
  });
  return service.store.write((tx) => recordDonation(tx, gift));
}

const receiptAt = async (path: string) =>
  SignedReceipt.parse(await (await service.get(`/api/donations/${path}`)).json());

describe("the receipt of a donation", () => {
  test("holds donation, nonprofit and the chain's evidence", async () => {
    const { receipt, page_url, keys_url, explorer_url } = await receiptAt(`lantern/${given.id}`);
    expect(receipt).toEqual({
      type: "almoner-donation-receipt/1",
      id: given.id,
      issuer: "https://almoner.example",
      nonprofit: {
        slug: "lantern",
        name: "Lantern \u202EloohcS",
        registrations: [{ country: "United States", type, registration_number }],
        identifiers: ["US-EIN-530196605"],
      },
      amount_usdc: 2.5,
      amount_atomic: "2500000",
      currency: "USDC",
      settled_at: "2026-06-01T12:00:00Z",
      recorded_at: "2026-06-01T12:00:02Z",
      evidence: {
        cluster: "mainnet",
        network: given.network,
        tx_signature: "sig-1",
        slot: 312_000_000,
        commitment: "confirmed",
        mint: given.mint,
        source: given.source,
        recipient: wallet,
        destination: given.destination,
        donor: null,
        memo: null,
      },
    });
    expect(page_url).toBe(`https://almoner.example/receipt?nonprofit=lantern&id=${given.id}`);
    expect(keys_url).toBe("https://almoner.example/.well-known/almoner-keys.json");
    expect(explorer_url).toBe("https://explorer.solana.com/tx/sig-1");
  });

  test("is signed with the key of the snapshots, and is the same bytes each time", async () => {
    const path = `/api/donations/lantern/${given.id}`;
    const first = await service.get(path);
    const { publicKey } = await openSigner(service.context.secrets.signingKey);
    const claimed = readReceipt(await first.text());
    if (!claimed.ok) throw new Error(claimed.failure.kind);
    expect(await verifyReceipt(claimed.value, publicKey)).toMatchObject({ ok: true });
    const unless = { "if-none-match": first.headers.get("etag") ?? "" };
    expect((await service.get(path, unless)).status).toBe(304);
  });

  test("stays on the chain where the money moved, wherever the directory settles now", async () => {
    const onDevnet = await record("lantern", "sig-2", {
      network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
    });
    const devnet = await receiptAt(`lantern/${onDevnet.id}`);
    expect(devnet.receipt.evidence.cluster).toBe("devnet");
    expect(devnet.explorer_url).toEndWith("?cluster=devnet");
    const onLocal = await record("lantern", "sig-3", { network: "solana:anything" });
    const local = await receiptAt(`lantern/${onLocal.id}`);
    expect([local.receipt.evidence.cluster, local.explorer_url]).toEqual(["local", null]);
    // As `accepts` and PAYMENT-RESPONSE say it.
    expect(local.receipt.evidence.network).toBe(devnet.receipt.evidence.network);
  });

  test.each([
    ["smallest", 1n, { amount_usdc: 0.000001, amount_atomic: "1" }],
    ["largest", 9_007_199_254_740_993n, { amount_atomic: "9007199254740993" }],
  ])("is exact for the %s gift", async (name, amount, exact) => {
    const { id } = await record("lantern", name, { amount_micro_usdc: micro(amount) });
    expect((await receiptAt(`lantern/${id}`)).receipt).toMatchObject(exact);
  });

  test("of a withdrawn nonprofit stays, and of one nonprofit is none of another", async () => {
    const { id } = await record("gone", "sig-6");
    expect((await service.get(`/api/donations/gone/${id}`)).status).toBe(200);
    expect((await service.get(`/api/donations/other/${given.id}`)).status).toBe(404);
  });

  test.each([
    ["nobody/x", "nonprofit_not_found"],
    ["lantern/x", "donation_not_found"],
    ["lantern/' OR 1=1 --", "donation_not_found"],
    ["lantern/%00", "donation_not_found"],
  ])("%s is not found", async (path, code) => {
    const answer = await service.get(`/api/donations/${path}`);
    expect([answer.status, (await answer.json()).code]).toEqual([404, code]);
  });
});
