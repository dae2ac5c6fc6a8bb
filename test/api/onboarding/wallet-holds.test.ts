import { describe, expect, test } from "bun:test";
import { eraseContacts } from "#api/operator/requests.ts";
import type { ReviewItem } from "#content/contract/review.ts";
import { donateTarget } from "#content/giving/store.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { applyDueWallets } from "#content/onboarding/wallet-hold-store.ts";
import { theOnboardingService } from "#test/support/onboarding.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aWallet } from "#test/support/wallets.ts";

const hold = 72 * 3_600_000;
const service = await theOnboardingService();

let made = 0;
/** A claimed profile with a wallet. */
async function aClaimed(more: Partial<NonprofitRecord> = {}) {
  const slug = `holder-${made++}`;
  const wallet = aWallet().address;
  const profile = { slug, usdc_wallet: wallet, verified: 1, status: "claimed", ...more } as const;
  await service.add(aNonprofit(profile));
  return { slug, wallet };
}
const aListed = (more: Partial<NonprofitRecord> = {}) =>
  aClaimed({ verified: 0, status: "listed", ...more });

const send = (claim_slug: string, more: object) =>
  service.submit({
    claim_slug,
    contact_email: "office@holder.example",
    contact_name: `Person ${made++}`,
    ...more,
  });

/** Asks to change the wallet, and approves it; answers the id of the hold. */
async function change(slug: string, usdc_wallet: string, more: object = {}): Promise<string> {
  const { submission_id } = await send(slug, { usdc_wallet, ...more });
  const { status, body } = await service.approve(submission_id);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return `hold-${submission_id}`;
}

/** Whom the 402 names. */
const recipient = async (slug: string) => {
  const target = await donateTarget(service.store, slug, new Date(service.now()));
  return target?.usdc_wallet ?? null;
};
const profileOf = (slug: string) => service.json(`/api/nonprofits/${slug}`);
const published = async (slug: string): Promise<string> => (await profileOf(slug)).usdc_wallet;
const sweep = () => applyDueWallets(service.store, new Date(service.now()));
const passHold = async () => {
  service.pass(hold);
  await sweep();
};
const holds = async (slug: string) => {
  const { reviews } = await (await service.admin("/api/admin/reviews?kind=hold&limit=200")).json();
  return (reviews as ReviewItem[]).filter((item) => item.slug === slug);
};
const audit = async (slug: string) => {
  const sql = "SELECT action, operator FROM audit_log WHERE subject = ? ORDER BY id";
  return (await service.rows(sql, [slug])).map((row) => Object.values(row).join(" by "));
};

describe("a changed wallet", () => {
  test("takes effect at 72 hours to the millisecond, and becomes public by the sweep", async () => {
    const { slug, wallet } = await aClaimed();
    const { address, challenge, signature } = await service.provenWallet();
    const id = await change(slug, address, { wallet_signature: signature });
    expect(await published(slug)).toBe(wallet);
    const comparison = [{ before: wallet, after: address }];
    expect(await holds(slug)).toMatchObject([{ id, comparison, detail: { hours_left: 72 } }]);
    service.pass(hold - 1);
    expect(await sweep()).toBe(0);
    expect([await recipient(slug), await published(slug)]).toEqual([wallet, wallet]);
    service.pass(1);
    expect([await recipient(slug), await published(slug)]).toEqual([address, wallet]);
    expect([await sweep(), await sweep()]).toEqual([1, 0]);
    const shown = { usdc_wallet: address, wallet_proof: { challenge } };
    expect(await profileOf(slug)).toMatchObject(shown);
    expect(await holds(slug)).toEqual([]);
    expect(await audit(slug)).toEqual(["wallet.held by ada", "wallet.in_effect by the clock"]);
    const [newest] = (await service.json(`/api/history/${slug}`)).changes;
    expect(newest).toMatchObject({ origin: "onboarding" });
    expect(newest.fields).toContain("usdc_wallet");
  });

  test("loses the proof of the one before", async () => {
    const { slug } = await aClaimed({ wallet_challenge: "text", wallet_signature: "sig" });
    await change(slug, aWallet().address);
    await passHold();
    expect((await profileOf(slug)).wallet_proof).toBeUndefined();
  });

  test("is stopped by rejecting its hold, until it ends", async () => {
    const { slug, wallet } = await aClaimed();
    const id = await change(slug, aWallet().address);
    expect((await service.decide(id, "approve")).status).toBe(409);
    expect((await service.decide(id, "reject")).status).toBe(400);
    service.pass(hold - 1);
    const twice = await Promise.all([
      service.decide(id, "reject", { reason: "not them" }),
      service.decide(id, "reject", { reason: "not them" }, "bob"),
    ]);
    expect(twice.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    service.pass(2);
    await sweep();
    expect([await recipient(slug), await published(slug)]).toEqual([wallet, wallet]);
    expect((await audit(slug)).at(-1)).toStartWith("wallet.stopped");
  });

  test("cannot be stopped once its hold has ended, though no sweep came by", async () => {
    const { slug } = await aClaimed();
    const next = aWallet().address;
    const id = await change(slug, next);
    service.pass(hold);
    const late = await service.decide(id, "reject", { reason: "too late" });
    expect(late.status).toBe(409);
    expect((await late.json()).detail).toContain("in effect");
    expect(await published(slug)).toBe(next);
  });

  test("marks anyone who sent one that was stopped, though the profile took their contact", async () => {
    const { slug } = await aClaimed();
    const contact_email = "Thief@elsewhere.example";
    const id = await change(slug, aWallet().address, { contact_email });
    await service.decide(id, "reject", { reason: "not them" });
    expect((await service.live(slug)).contact_email).toBe(contact_email);
    const flagsOf = async (email: string) => {
      const { submission_id } = await send(slug, { contact_email: email, mission: "Meals." });
      const { flags, checks } = await service.review(submission_id);
      return [flags.includes("e-mail"), checks.find(({ name }) => name === "e-mail")?.message];
    };
    const marked = [true, expect.stringContaining("not them")];
    expect(await flagsOf("thief@elsewhere.example")).toEqual(marked);
    expect((await flagsOf("office@holder.example"))[0]).toBe(false);
  });
});

describe("a second change while one is held", () => {
  test("takes the place of the first, and is held again", async () => {
    const { slug, wallet } = await aClaimed();
    const third = aWallet().address;
    const first = await change(slug, aWallet().address);
    service.pass(hold - 1);
    await change(slug, third);
    expect(await holds(slug)).toMatchObject([{ comparison: [{ before: wallet, after: third }] }]);
    expect((await service.decide(first, "reject", { reason: "x" })).status).toBe(409);
    service.pass(hold - 1);
    expect(await recipient(slug)).toBe(wallet);
    service.pass(1);
    await sweep();
    expect(await published(slug)).toBe(third);
  });

  test("back to the wallet in effect ends it", async () => {
    const { slug, wallet } = await aClaimed();
    await change(slug, aWallet().address);
    await change(slug, wallet);
    expect(await holds(slug)).toEqual([]);
    await passHold();
    expect(await published(slug)).toBe(wallet);
    expect((await audit(slug)).at(-1)).toStartWith("wallet.replaced");
  });

  test("without a wallet leaves it alone", async () => {
    const { slug } = await aClaimed();
    const next = aWallet().address;
    await change(slug, next);
    await service.approve((await send(slug, { mission: "New words." })).submission_id);
    expect((await service.live(slug)).mission).toBe("New words.");
    await passHold();
    expect(await published(slug)).toBe(next);
  });
});

describe("a verification that is taken back", () => {
  test("takes wallet and contact with it, stops what is held, and lets others claim", async () => {
    const { slug } = await aListed({ city: "Lamu", usdc_wallet: null });
    await change(slug, aWallet().address, { mission: "Theirs." });
    service.pass(hold);
    const id = await change(slug, aWallet().address);
    expect(await (await service.revoke(slug, { reason: "impostor" })).json()).toEqual({
      slug,
      put_back: [],
      taken_back: ["usdc_wallet", "contact_email", "mission"],
      stopped_hold: true,
      live: true,
    });
    const emptied = { usdc_wallet: null, contact_email: null, mission: null };
    const listed = { verified: 0, status: "listed", city: "Lamu" };
    expect(await service.live(slug)).toMatchObject({ ...listed, ...emptied });
    expect((await service.decide(id, "reject", { reason: "x" })).status).toBe(409);
    await passHold();
    expect(await recipient(slug)).toBeNull();
    const right = aWallet().address;
    await change(slug, right, { mission: "Ours." });
    expect(await service.live(slug)).toMatchObject({ verified: 1, usdc_wallet: null });
    await passHold();
    expect(await service.live(slug)).toMatchObject({ usdc_wallet: right });
    const again = await (
      await service.revoke(slug, { reason: "gave up", take_back_values: false })
    ).json();
    expect(again.taken_back).toEqual(["usdc_wallet", "contact_email"]);
    expect(await service.live(slug)).toMatchObject({ city: "Lamu", mission: "Ours." });
  });

  test("gives the contact back that was there before, which erasing names until then", async () => {
    const before = { contact_email: "office@before.example" };
    const { slug } = await aListed({ ...before, usdc_wallet: null });
    await change(slug, aWallet().address);
    expect(await service.live(slug)).toMatchObject({ contact_email: "office@holder.example" });
    const erased = await eraseContacts(service.context, {
      email: "Office@before.example",
      operator: "ada",
    });
    expect(erased.ok && erased.value.profiles).toEqual([slug]);
    const revoked = await (await service.revoke(slug)).json();
    expect(revoked).toMatchObject({ put_back: ["contact_email"] });
    expect(await service.live(slug)).toMatchObject(before);
    expect(JSON.stringify(await profileOf(slug))).not.toContain("before.example");
  });

  test("is answered clearly where there is none", async () => {
    const { slug } = await aListed();
    expect((await service.revoke(slug)).status).toBe(409);
    expect((await service.revoke("nobody")).status).toBe(404);
    expect((await service.revoke(slug, {})).status).toBe(400);
  });

  test("stops a change that waited for review", async () => {
    const { slug } = await aClaimed();
    const { submission_id } = await send(slug, { usdc_wallet: aWallet().address });
    await service.revoke(slug, { reason: "impostor" });
    const conflict = { status: 409, body: { code: "review_conflict" } };
    expect(await service.approve(submission_id)).toMatchObject(conflict);
  });
});
