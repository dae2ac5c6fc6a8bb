import { describe, expect, test } from "bun:test";
import { compactVerify, createLocalJWKSet } from "jose";
import { WalletAnswer } from "#content/contract/transfer.ts";
import { keySetOf, openSigner } from "#content/feed/signing-keys.ts";
import { applyDueWallets } from "#content/onboarding/wallet-hold-store.ts";
import { theOnboardingService } from "#test/support/onboarding.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aWallet } from "#test/support/wallets.ts";

const holdMs = 72 * 3_600_000;
const service = await theOnboardingService();

let made = 0;
const ask = async (address: string): Promise<WalletAnswer> =>
  WalletAnswer.parse(await (await service.get(`/api/wallets/${address}`)).json());
const askMany = (body: unknown) => service.post("/api/wallets", body);
const sweep = () => applyDueWallets(service.store, new Date(service.now()));

/** A request that sets a wallet, approved. `sign` is how control of the wallet is proven, `host` which host is. */
async function approved(slug: string, wallet: ReturnType<typeof aWallet>, proof: Proof = {}) {
  const { address: usdc_wallet, sign } = wallet;
  const { challenge } = await service.json(`/api/onboard/challenge?wallet=${usdc_wallet}`);
  const signed = proof.signed === true ? { wallet_signature: sign(challenge) } : {};
  const contact_email = `office${made++}@given.example`;
  const claim = { claim_slug: slug, contact_email, usdc_wallet, ...signed };
  const { submission_id } = await service.submit(claim);
  if (proof.host !== undefined) await service.prove(submission_id, proof.host);
  const { status, body } = await service.approve(submission_id);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return `hold-${submission_id}`;
}
type Proof = { signed?: boolean; host?: string };

/** A listing; `website` as a register names it. */
async function aListing(parts: Parameters<typeof aNonprofit>[0] = {}) {
  const slug = `payee-${made++}`;
  await service.add(aNonprofit({ slug, name: `Payee ${slug}`, ...parts }));
  return slug;
}

describe("whose wallet an address is", () => {
  test("is not known of one that no nonprofit has, a donor's too", async () => {
    const { address } = aWallet();
    const { jws, ...said } = await ask(address);
    const nobody = { slug: null, name: null, since: null, proof: null };
    expect(said).toEqual({ address, status: "not known", ...nobody });
    expect(jws.split(".")).toHaveLength(3);
  });

  test("goes from held to active to replaced to revoked, each since its day", async () => {
    const slug = await aListing();
    const first = aWallet();
    const second = aWallet();
    await approved(slug, first, { signed: true });
    const proof = "wallet signature, reviewed by a person";
    expect(await ask(first.address)).toMatchObject({
      status: "held",
      slug,
      name: `Payee ${slug}`,
      since: "2026-06-01",
      proof,
    });
    service.pass(holdMs);
    const active = { status: "active", slug, since: "2026-06-04", proof };
    expect(await ask(first.address)).toMatchObject(active); // No sweep came by.
    await sweep();
    expect(await ask(first.address)).toMatchObject(active);
    await approved(slug, second);
    expect(await ask(first.address)).toMatchObject(active);
    service.pass(holdMs);
    const replaced = { status: "replaced", slug, since: "2026-06-07", proof };
    expect(await ask(first.address)).toMatchObject(replaced);
    const next = { status: "active", since: "2026-06-07", proof: "reviewed by a person" };
    expect(await ask(second.address)).toMatchObject(next);
    await sweep();
    expect(await ask(first.address)).toMatchObject(replaced);
    service.pass(86_400_000);
    expect((await service.revoke(slug)).status).toBe(200);
    expect(await ask(second.address)).toMatchObject({ status: "revoked", since: "2026-06-08" });
    expect(await ask(first.address)).toMatchObject(replaced);
    // Whoever proves that it is theirs gets it back.
    await approved(slug, second, { signed: true });
    expect(await ask(second.address)).toMatchObject({ status: "held" });
  });

  test("says that host and wallet were proven", async () => {
    const source = { set_by: "register", source: "irs-bmf", source_url: null } as const;
    const provenance = { website: { ...source, agents: [], applied_at: 1 } };
    const slug = await aListing({ website: "https://given.example", provenance });
    const wallet = aWallet();
    await approved(slug, wallet, { signed: true, host: "given.example" });
    const proof = "control of host and wallet proven, reviewed by a person";
    expect(await ask(wallet.address)).toMatchObject({ status: "active", slug, proof });
  });

  test("is not told of a hold that was stopped, nor of a request that waits", async () => {
    const slug = await aListing();
    const stopped = aWallet();
    const waiting = aWallet().address;
    const id = await approved(slug, stopped);
    await service.decide(id, "reject", { reason: "not them" });
    const contact_email = "a@b.example";
    await service.submit({ claim_slug: slug, contact_email, usdc_wallet: waiting });
    expect((await ask(stopped.address)).status).toBe("not known");
    expect((await ask(waiting)).status).toBe("not known");
  });

  test("of a withdrawn nonprofit is revoked, and of two that have it the first one's", async () => {
    const gone = aWallet().address;
    const shared = aWallet().address;
    const withdrawn = await aListing({ usdc_wallet: gone, status: "withdrawn" });
    const revoked = { status: "revoked", slug: withdrawn, since: null, proof: "none on record" };
    expect(await ask(gone)).toMatchObject(revoked);
    const wallet_signature = "sig";
    const first = await aListing({ usdc_wallet: shared, created_at: 1, wallet_signature });
    await aListing({ usdc_wallet: shared, created_at: 2 });
    expect(await ask(shared)).toMatchObject({ slug: first, proof: "wallet signature only" });
  });

  test("is signed by the directory's key, with its day", async () => {
    const { jws, ...said } = await ask(aWallet().address);
    const keys = JSON.parse(keySetOf(await openSigner(service.context.secrets.signingKey)));
    const { payload, protectedHeader } = await compactVerify(jws, createLocalJWKSet(keys));
    expect(protectedHeader.alg).toBe("EdDSA");
    const type = "almoner-wallet-statement/1";
    expect(JSON.parse(Buffer.from(payload).toString())).toEqual({
      type,
      issuer: "https://almoner.example",
      cluster: "local",
      ...said,
      day: new Date(service.now()).toISOString().slice(0, 10),
    });
  });

  test("is asked of many at once, as an array or in addresses", async () => {
    const sent = [aWallet().address, aWallet().address];
    for (const body of [sent, { addresses: sent }]) {
      const { count, wallets } = await (await askMany(body)).json();
      expect([count, wallets.map((one: WalletAnswer) => one.address)]).toEqual([2, sent]);
    }
  });

  test.each(["hope-kitchen", "0x52908400098527886E0F7030069857D2E4169EE7", "1".repeat(45)])(
    "refuses %s, and says what to send",
    async (text) => {
      const one = await service.get(`/api/wallets/${text}`);
      const many = await askMany([aWallet().address, text]);
      expect([one.status, many.status]).toEqual([400, 400]);
      const detail = "This is no Solana address: send base58 of 32 bytes";
      expect(await one.json()).toMatchObject({
        code: "wallet_malformed",
        detail: expect.stringContaining(detail),
      });
      const { code, errors } = await many.json();
      expect([code, errors[0].path]).toEqual(["invalid_wallets", "addresses[1]"]);
    },
  );

  test("refuses none and too many", async () => {
    for (const body of [[], Array(101).fill(aWallet().address), { addresses: "x" }]) {
      expect((await askMany(body)).status).toBe(400);
    }
  });
});
