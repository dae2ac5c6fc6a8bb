import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ReviewItem } from "#content/contract/review.ts";
import { donateTarget } from "#content/giving/store.ts";
import { applyDueWallets } from "#content/onboarding/wallet-hold-store.ts";
import {
  anOnboardingService,
  operatorTokens,
  type OnboardingService,
} from "#test/support/onboarding.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aWallet } from "#test/support/wallets.ts";

const hold = 72 * 3_600_000;
let service: OnboardingService;
beforeAll(async () => {
  service = await anOnboardingService();
});
afterAll(() => service.close());

let made = 0;
/** A claimed profile with a wallet. */
async function aClaimed(): Promise<{ slug: string; wallet: string }> {
  const slug = `holder-${made++}`;
  const wallet = aWallet().address;
  await service.add(aNonprofit({ slug, usdc_wallet: wallet, verified: 1, status: "claimed" }));
  return { slug, wallet };
}

/** Asks to change the wallet, and approves it; answers the id of the hold. */
async function change(slug: string, wallet: string, more: object = {}): Promise<string> {
  const sent = {
    claim_slug: slug,
    contact_email: "office@holder.example",
    usdc_wallet: wallet,
    contact_name: `Person ${made++}`,
    ...more,
  };
  const { submission_id } = await service.submit(sent);
  const response = await service.decide(`onboarding-${submission_id}`, "approve");
  if (response.status !== 200) throw new Error(await response.text());
  return `hold-${submission_id}`;
}

/** Whom the 402 names. */
const recipient = async (slug: string) => {
  const target = await donateTarget(service.store, slug, new Date(service.now()));
  return target?.usdc_wallet ?? null;
};
const published = async (slug: string) =>
  (await (await service.get(`/api/nonprofits/${slug}`)).json()).usdc_wallet as string;
const sweep = () => applyDueWallets(service.store, new Date(service.now()));
const holds = async (slug: string) => {
  const { reviews } = await (await service.admin("/api/admin/reviews?kind=hold&limit=200")).json();
  return (reviews as ReviewItem[]).filter((one) => one.slug === slug);
};
const audit = async (slug: string) => {
  const { rows } = await service.store.raw.execute({
    sql: "SELECT action, operator, detail FROM audit_log WHERE subject = ? ORDER BY id",
    args: [slug],
  });
  return rows.map((row) => [String(row["action"]), String(row["operator"])]);
};

describe("a changed wallet", () => {
  test("takes effect at 72 hours to the millisecond, and becomes public by the sweep", async () => {
    const { slug, wallet } = await aClaimed();
    const next = aWallet();
    const { challenge } = await (
      await service.get(`/api/onboard/challenge?wallet=${next.address}`)
    ).json();
    const id = await change(slug, next.address, { wallet_signature: next.sign(challenge) });
    expect(await published(slug)).toBe(wallet);
    const [item] = await holds(slug);
    expect(ReviewItem.parse(item)).toMatchObject({
      id,
      kind: "hold",
      comparison: [{ before: wallet, after: next.address }],
      detail: { hours_left: 72 },
    });
    service.pass(hold - 1);
    expect(await sweep()).toBe(0);
    expect([await recipient(slug), await published(slug)]).toEqual([wallet, wallet]);
    service.pass(1);
    expect([await recipient(slug), await published(slug)]).toEqual([next.address, wallet]);
    expect(await sweep()).toBe(1);
    expect(await sweep()).toBe(0);
    const profile = await (await service.get(`/api/nonprofits/${slug}`)).json();
    expect(profile).toMatchObject({ usdc_wallet: next.address, wallet_proof: { challenge } });
    expect(await holds(slug)).toEqual([]);
    expect(await audit(slug)).toEqual([
      ["wallet.held", "ada"],
      ["wallet.in_effect", "the clock"],
    ]);
    const [newest] = (await (await service.get(`/api/history/${slug}`)).json()).changes;
    expect(newest).toMatchObject({ origin: "onboarding" });
    expect(newest.fields).toContain("usdc_wallet");
  });

  test("loses the proof of the one before", async () => {
    const slug = `holder-${made++}`;
    await service.add(
      aNonprofit({
        slug,
        usdc_wallet: aWallet().address,
        wallet_challenge: "text",
        wallet_signature: "sig",
        verified: 1,
        status: "claimed",
      }),
    );
    await change(slug, aWallet().address);
    service.pass(hold);
    await sweep();
    expect(
      (await (await service.get(`/api/nonprofits/${slug}`)).json()).wallet_proof,
    ).toBeUndefined();
  });

  test("of a listing that had one is held, too", async () => {
    const slug = `holder-${made++}`;
    const wallet = aWallet().address;
    await service.add(aNonprofit({ slug, usdc_wallet: wallet }));
    await change(slug, aWallet().address);
    expect(await service.live(slug)).toMatchObject({ verified: 1, usdc_wallet: wallet });
    expect(await holds(slug)).toHaveLength(1);
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
    expect((await audit(slug)).map(([action]) => action)).toEqual([
      "wallet.held",
      "wallet.stopped",
    ]);
  });

  test("marks anyone who sent one that was stopped, though the profile took their contact", async () => {
    const { slug } = await aClaimed();
    const contact_email = "Thief@elsewhere.example";
    const id = await change(slug, aWallet().address, { contact_email });
    await service.decide(id, "reject", { reason: "not them" });
    expect((await service.live(slug)).contact_email).toBe(contact_email);
    const review = async (email: string) => {
      const { submission_id } = await service.submit({
        claim_slug: slug,
        contact_email: email,
        mission: `M ${made++}.`,
      });
      return ReviewItem.parse(
        await (await service.admin(`/api/admin/reviews/onboarding-${submission_id}`)).json(),
      );
    };
    const again = await review("thief@elsewhere.example");
    expect(again.flags).toContain("e-mail");
    expect(again.checks.find(({ name }) => name === "e-mail")?.message).toContain("not them");
    expect((await review("office@holder.example")).flags).not.toContain("e-mail");
  });

  test("cannot be stopped once its hold has ended, though no sweep came by", async () => {
    const { slug } = await aClaimed();
    const next = aWallet().address;
    const id = await change(slug, next);
    service.pass(hold);
    const late = await service.decide(id, "reject", { reason: "too late" });
    expect([late.status, (await late.json()).detail]).toEqual([
      409,
      expect.stringContaining("in effect"),
    ]);
    expect(await published(slug)).toBe(next);
  });
});

describe("a second change while one is held", () => {
  test("takes the place of the first, and is held again", async () => {
    const { slug, wallet } = await aClaimed();
    const [second, third] = [aWallet().address, aWallet().address];
    const first = await change(slug, second);
    service.pass(hold - 1);
    await change(slug, third);
    expect((await holds(slug)).map(({ comparison }) => comparison)).toMatchObject([
      [{ before: wallet, after: third }],
    ]);
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
    service.pass(2 * hold);
    await sweep();
    expect(await published(slug)).toBe(wallet);
    expect((await audit(slug)).map(([action]) => action)).toEqual([
      "wallet.held",
      "wallet.replaced",
    ]);
  });

  test("without a wallet leaves it alone", async () => {
    const { slug } = await aClaimed();
    const next = aWallet().address;
    await change(slug, next);
    const { submission_id } = await service.submit({
      claim_slug: slug,
      contact_email: "a@b.example",
      mission: "New words.",
    });
    await service.decide(`onboarding-${submission_id}`, "approve");
    expect((await service.live(slug)).mission).toBe("New words.");
    service.pass(hold);
    await sweep();
    expect(await published(slug)).toBe(next);
  });
});

describe("a verification that is taken back", () => {
  const revoke = (slug: string, body: object) =>
    service.post(`/api/admin/nonprofits/${slug}/revoke`, body, {
      authorization: `Bearer ${operatorTokens.ada}`,
    });

  test("takes wallet and contact with it, stops what is held, and lets others claim", async () => {
    const slug = `holder-${made++}`;
    await service.add(aNonprofit({ slug, city: "Lamu" }));
    await change(slug, aWallet().address, { mission: "Theirs." });
    service.pass(hold);
    const id = await change(slug, aWallet().address);
    const answer = await (await revoke(slug, { reason: "impostor" })).json();
    expect(answer).toEqual({
      slug,
      put_back: [],
      taken_back: ["usdc_wallet", "contact_email", "mission"],
      stopped_hold: true,
      live: true,
    });
    expect(await service.live(slug)).toMatchObject({
      verified: 0,
      status: "listed",
      usdc_wallet: null,
      contact_email: null,
      mission: null,
      city: "Lamu",
    });
    expect((await service.decide(id, "reject", { reason: "x" })).status).toBe(409);
    service.pass(hold);
    await sweep();
    expect(await recipient(slug)).toBeNull();
    const right = aWallet().address;
    await change(slug, right, { mission: "Ours." });
    expect(await service.live(slug)).toMatchObject({ verified: 1, usdc_wallet: null });
    service.pass(hold);
    await sweep();
    expect(await service.live(slug)).toMatchObject({ usdc_wallet: right });
    const again = await (await revoke(slug, { reason: "gave up", take_back_values: false })).json();
    expect(again.taken_back).toEqual(["usdc_wallet", "contact_email"]);
    expect(await service.live(slug)).toMatchObject({ city: "Lamu", mission: "Ours." });
  });

  test("is answered clearly where there is none", async () => {
    const slug = `holder-${made++}`;
    await service.add(aNonprofit({ slug }));
    expect((await revoke(slug, { reason: "x" })).status).toBe(409);
    expect((await revoke("nobody", { reason: "x" })).status).toBe(404);
    expect((await revoke(slug, {})).status).toBe(400);
    expect(
      (await service.post(`/api/admin/nonprofits/${slug}/revoke`, { reason: "x" })).status,
    ).toBe(401);
  });

  test("stops a change that waited for review", async () => {
    const { slug } = await aClaimed();
    const { submission_id } = await service.submit({
      claim_slug: slug,
      contact_email: "a@b.example",
      usdc_wallet: aWallet().address,
    });
    await revoke(slug, { reason: "impostor" });
    const response = await service.decide(`onboarding-${submission_id}`, "approve");
    expect([response.status, (await response.json()).code]).toEqual([409, "review_conflict"]);
  });
});
