import { describe, expect, test } from "bun:test";
import type { Receipt } from "#content/contract/donation.ts";
import { openSigner } from "#content/feed/signing-keys.ts";
import { correctionOf, readReceipt, signReceipt, verifyReceipt } from "#content/giving/receipt.ts";
import { aSigningKey } from "#test/support/publisher.ts";
import { aReceipt } from "#test/support/receipts.ts";

const signer = await openSigner(aSigningKey());
const other = await openSigner(aSigningKey());
const key = signer.publicKey;

/** The answer of the service as text. */
const signed = async (receipt: Receipt, by = signer) =>
  JSON.stringify({ receipt, signature: await signReceipt(receipt, by) });

async function judged(text: string, by = key) {
  const claimed = readReceipt(text);
  return claimed.ok ? verifyReceipt(claimed.value, by) : claimed;
}

const altered = { failure: { kind: "altered" } };

describe("a receipt", () => {
  test("is valid by the key that signed it, whatever the order and spacing of its members", async () => {
    const receipt = aReceipt();
    const text = await signed(receipt);
    expect(await judged(text)).toEqual({ ok: true, value: receipt });
    const turned = JSON.parse(text, (_, value) =>
      value !== null && typeof value === "object" && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).toReversed())
        : value,
    );
    expect(await judged(JSON.stringify(turned, null, 4))).toMatchObject({ ok: true });
  });

  test("has the same signature each time, and may hold texts of any script", async () => {
    expect(await signReceipt(aReceipt(), signer)).toBe(await signReceipt(aReceipt(), signer));
    const receipt = aReceipt();
    receipt.nonprofit.name = `Ölsäure "1" 日本 \u2028 😀 </script>`;
    expect(await judged(await signed(receipt))).toMatchObject({ ok: true });
  });

  test("with a field of a later version is valid, and that field is signed, too", async () => {
    const later = { ...aReceipt(), thanks: "yes" };
    const text = JSON.stringify({ receipt: later, signature: await signReceipt(later, signer) });
    expect(await judged(text)).toMatchObject({ ok: true });
    expect(await judged(text.replace('"yes"', '"no"'))).toMatchObject(altered);
  });

  test.each<[string, (receipt: Receipt) => unknown]>([
    ["the amount", (receipt) => (receipt.amount_usdc = 2500)],
    ["the amount in millionths", (receipt) => (receipt.amount_atomic = "25000000")],
    ["the name", ({ nonprofit }) => (nonprofit.name = "Lantern  School")],
    ["the slug", ({ nonprofit }) => (nonprofit.slug = "other")],
    ["a registration", ({ nonprofit }) => (nonprofit.registrations = [])],
    ["the day", (receipt) => (receipt.settled_at = "2026-06-02T12:00:00Z")],
    ["the donor", ({ evidence }) => (evidence.donor = null)],
    ["the recipient", ({ evidence }) => (evidence.recipient = evidence.destination)],
    ["the cluster", ({ evidence }) => (evidence.cluster = "devnet")],
    ["the slot", ({ evidence }) => (evidence.slot += 1)],
    ["the signature of the transaction", ({ evidence }) => (evidence.tx_signature = "x")],
    ["the issuer", (receipt) => (receipt.issuer = "https://evil.example")],
    ["the id, that is a signature of another receipt,", (receipt) => (receipt.id = "another")],
  ])("of which %s was altered is not valid", async (_, alter) => {
    const receipt = aReceipt();
    const signature = await signReceipt(receipt, signer);
    alter(receipt);
    expect(await judged(JSON.stringify({ receipt, signature }))).toMatchObject(altered);
  });

  test("that another key signed is told from an altered one", async () => {
    const failure = { kind: "wrong_key", signed_by: other.publicKey.kid, key: key.kid } as const;
    expect(await judged(await signed(aReceipt(), other))).toEqual({ ok: false, failure });
  });

  test.each([
    ["by its key is void", signer, {}, { kind: "voided", reason: "vanished" }],
    ["by another key is altered", other, {}, { kind: "altered" }],
    ["of another receipt is altered", signer, { id: "another" }, { kind: "altered" }],
  ])("with a correction %s", async (_, by, of, failure) => {
    const { issuer, id, evidence } = aReceipt();
    const given = { id, ...evidence, voided_at: 0, void_reason: "vanished", ...of } as const;
    const correction = correctionOf(given, issuer);
    if (correction === null) throw new Error("no correction");
    const beside = { correction, signature: await signReceipt(correction, by) };
    const text = JSON.stringify({ ...JSON.parse(await signed(aReceipt())), correction: beside });
    expect(await judged(text)).toMatchObject({ ok: false, failure });
  });

  test("that another key signed in this key's name is not valid", async () => {
    const text = await signed(aReceipt(), { ...other, sign: (bytes) => renamed(bytes) });
    expect(await judged(text)).toMatchObject(altered);
  });
});

/** Signs with the other key, under this key's id. */
async function renamed(bytes: Uint8Array): Promise<string> {
  const [, , signature] = (await other.sign(bytes)).split(".");
  const header = Buffer.from(JSON.stringify({ alg: "EdDSA", kid: key.kid })).toString("base64url");
  return `${header}..${signature}`;
}

describe("what is not a receipt", () => {
  const answerWith = (parts: object) =>
    JSON.stringify({ receipt: aReceipt(), signature: "a..b", ...parts });
  const kid = "k".repeat(43);
  const jws = (header: object) => `${Buffer.from(JSON.stringify(header)).toString("base64url")}..`;
  test.each([
    ...["", "null", "[]", '"receipt"', '{"receipt":'].map((text) => [text, "not JSON"] as const),
    [answerWith({ signature: undefined }), "no signature"],
    [answerWith({ signature: "no jws" }), "not a JWS"],
    [answerWith({ signature: jws({ alg: "none" }) }), "not a JWS"],
    [answerWith({ receipt: { ...aReceipt(), type: "other" } }), "receipt.type"],
    [answerWith({ receipt: { ...aReceipt(), amount_usdc: "5" } }), "receipt.amount_usdc"],
    [answerWith({ signature: jws({ kid }), correction: "none" }), "correction cannot be read"],
  ])("%p says what is wrong", (answer, why) => {
    const outcome = readReceipt(answer);
    expect(outcome).toMatchObject({ ok: false, failure: { kind: "not_a_receipt" } });
    expect(JSON.stringify(outcome)).toContain(why);
  });

  test("half a character was never signed", async () => {
    const text = (await signed(aReceipt())).replace("Lantern School", String.raw`Lantern \ud800`);
    expect(await judged(text)).toMatchObject(altered);
  });
});
