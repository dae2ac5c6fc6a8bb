import { describe, expect, test } from "bun:test";
import { OnboardingAnswer } from "#content/contract/onboarding.ts";
import { theOnboardingService, secretOf } from "#test/support/onboarding.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aWallet } from "#test/support/wallets.ts";
import { aClient } from "#test/support/service.ts";

const vault = "BVMmxrEG9dkxqZK2vSZzHgDS6DwS6VAcWqBBvvL48SaY"; // Off the curve.
const service = await theOnboardingService([
  aNonprofit({ slug: "kitchen", name: "Hope Kitchen" }),
  aNonprofit({ slug: "claimed", status: "claimed", verified: 1 }),
  aNonprofit({ slug: "gone", status: "withdrawn" }),
]);

const claim = { claim_slug: "kitchen", contact_email: "office@kitchen.example" };
const registration = { name: "Lantern", country: "Kenya", contact_email: "a@lantern.example" };
let made = 0;
const another = () => ({ ...claim, contact_name: `Person ${made++}` });

const requests = () => service.rows("SELECT * FROM onboarding_submissions ORDER BY rowid");
const stored = async () => (await requests()).length;
const sent = async (body: object, headers = {}) => (await service.send(body, headers)).json();

describe("what is accepted", () => {
  test.each([
    ["a claim", {}, "claim", "kitchen"],
    ["a registration", registration, "registration", "lantern"],
    ["a change of a claimed profile", { claim_slug: "claimed" }, "change", "claimed"],
    ["another script", { ...registration, name: "希望之家" }, "registration", "xi-wang-zhi-jia"],
  ])("%s", async (_, body, type, slug) => {
    const whole = { ...another(), ...("name" in body && { claim_slug: null }), ...body };
    const answer = OnboardingAnswer.parse(await service.submit(whole));
    expect(answer).toMatchObject({ success: true, type, slug, status: "pending_review" });
    expect(answer.status_url).toMatch(/^https:\/\/almoner\.example\/onboard\/status#[\w-]{43}$/);
  });

  test("the same request again is answered with the one that waits, without the link that was somebody else's", async () => {
    const body = another();
    const first = await service.submit(body);
    const count = await stored();
    const again = await service.submit({ ...body, mission: null });
    expect(OnboardingAnswer.parse(again)).toEqual({
      ...first,
      status_url: null,
      host_proof: null,
      message: expect.stringContaining("waits for review already"),
    });
    expect((await sent(body, { "idempotency-key": "a-key-of-another" })).status_url).toBeNull();
    expect(await stored()).toBe(count);
    const other = await service.submit({ ...body, mission: "Food." });
    expect(other.submission_id).not.toBe(first.submission_id);
  });

  test("an Idempotency-Key gives the same answer, and refuses another request", async () => {
    const key = { "idempotency-key": "key-1" };
    const body = another();
    const first = await sent(body, key);
    await service.decide(`onboarding-${first.submission_id}`, "reject", { reason: "test" });
    expect(await sent(body, key)).toEqual(first);
    expect((await service.send({ ...body, mission: "Other" }, key)).status).toBe(409);
    const other = { ...body, contact_email: "other@kitchen.example" };
    expect((await service.send(other, key)).status).toBe(200);
  });

  test("the token of the status page is stored only as its digest", async () => {
    const token = secretOf(await service.submit(another()));
    const keys = await service.rows("SELECT * FROM idempotency_keys");
    expect(JSON.stringify([await requests(), keys])).not.toContain(token);
  });
});

describe("what is refused stores nothing, and says what to send", () => {
  test.each([
    [{}, 400, "invalid_onboarding", ""],
    [{ ...claim, website: "javascript:alert(1)" }, 400, "invalid_onboarding", "website"],
    [{ ...claim, claim_slug: "nobody" }, 404, "nonprofit_not_found", undefined],
    [{ ...claim, claim_slug: "gone" }, 410, "nonprofit_withdrawn", undefined],
  ])("%j", async (body, status, code, path) => {
    const count = await stored();
    const response = await service.send(body);
    const answer = await response.json();
    expect([response.status, answer.code]).toEqual([status, code]);
    expect(answer.errors?.[0]?.path).toBe(path);
    if (status === 400) expect(answer.example).toHaveProperty("body.claim_slug");
    expect(await stored()).toBe(count);
  });

  test("what is wrong with the request comes before what is wrong with its key, which needs no example", async () => {
    const key = { "idempotency-key": "a b" };
    const wrong = await sent({ ...claim, website: "none" }, key);
    expect(wrong).toMatchObject({ code: "invalid_onboarding", example: { method: "POST" } });
    const refused = await sent(claim, key);
    expect(refused).toMatchObject({ status: 400, code: "invalid_idempotency_key" });
    expect(refused).not.toHaveProperty("example");
  });
});

describe("a wallet's proof", () => {
  test.each([true, false])("is the signature of a challenge, sent with it: %p", async (isSent) => {
    const { address, signature, challenge } = await service.provenWallet();
    const proof = { usdc_wallet: address, wallet_signature: signature };
    const body = { ...another(), ...proof, ...(isSent && { wallet_challenge: challenge }) };
    const { checks } = await service.review((await service.submit(body)).submission_id);
    const passed = expect.objectContaining({ name: "signature", outcome: "passed" });
    expect(checks).toContainEqual(passed);
  });

  test("does not count when it is wrong, old, of another wallet, or used", async () => {
    const wallet = aWallet();
    const other = aWallet();
    const challengeFor = async (usdc_wallet: string): Promise<string> =>
      (await service.json(`/api/onboard/challenge?wallet=${usdc_wallet}`)).challenge;
    const challenge = await challengeFor(wallet.address);
    const forged = challenge.replace(/Issued: \S+/, "Issued: 2026-06-01T12:01:00Z");
    const proven = {
      usdc_wallet: wallet.address,
      wallet_challenge: challenge,
      wallet_signature: wallet.sign(challenge),
    };
    const theirs = { usdc_wallet: other.address, wallet_signature: other.sign(challenge) };
    const codeOf = async (body: object) => (await sent({ ...another(), ...body })).code;
    const count = await stored();
    for (const [body, code] of [
      [{ ...proven, wallet_signature: other.sign(challenge) }, "wallet_signature_invalid"],
      [{ ...proven, wallet_challenge: `${challenge}x` }, "wallet_challenge_unknown"],
      [{ ...proven, ...theirs }, "wallet_challenge_unknown"],
      [theirs, "wallet_signature_invalid"],
      [
        { ...proven, wallet_challenge: forged, wallet_signature: wallet.sign(forged) },
        "wallet_challenge_unknown",
      ],
    ] as const)
      expect([body, await codeOf(body)]).toEqual([body, code]);
    expect(await stored()).toBe(count);
    expect(await codeOf(proven)).toBeUndefined();
    expect(await codeOf(proven)).toBe("wallet_challenge_used");
    expect(await codeOf({ ...proven, wallet_challenge: null })).toBe("wallet_challenge_used");
    const wallet_challenge = await challengeFor(other.address);
    service.pass(16 * 60_000);
    const late = { ...theirs, wallet_challenge, wallet_signature: other.sign(wallet_challenge) };
    expect(await codeOf(late)).toBe("wallet_challenge_expired");
    expect(await stored()).toBe(count + 1);
  });

  test("is asked for by valid wallets that can sign", async () => {
    for (const wallet of ["", "x", vault, "11111111111111111111111111111111"]) {
      const refused = await service.json(`/api/onboard/challenge?wallet=${wallet}`);
      expect(refused).toMatchObject({ status: 400, code: "wallet_not_usable" });
    }
    const response = await service.get(`/api/onboard/challenge?wallet=${aWallet().address}`);
    expect(response.headers.get("cache-control")).toBe("no-store");
  });
});

describe("the status page's answer", () => {
  const statusBy = (secret: string, path = "") =>
    service.get(`/api/onboard/status${path}`, { authorization: `Bearer ${secret}` });

  test("tells the reason of a rejection, and no private data", async () => {
    const body = { ...another(), contact_name: "Grace Secret", usdc_wallet: aWallet().address };
    const answer = await service.submit(body);
    const waiting = { status: "pending_review", reason: null, wallet: { state: "in_review" } };
    expect(await service.status(answer)).toMatchObject(waiting);
    const reason = "No reply by e-mail.";
    await service.decide(`onboarding-${answer.submission_id}`, "reject", { reason });
    const status = await service.status(answer);
    expect(status).toMatchObject({ status: "rejected", reason });
    expect(JSON.stringify(status)).not.toMatch(/Grace|office@/);
    expect(JSON.stringify(status)).not.toContain(body.usdc_wallet);
    const { headers } = await statusBy(secretOf(answer));
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("is not to be guessed, and asked for in no address", async () => {
    for (const secret of ["", "x", "a".repeat(43), "../..", "x".repeat(5_000)])
      expect((await statusBy(secret)).status).toBe(404);
    const secret = secretOf(await service.submit(another()));
    expect((await statusBy(secret)).status).toBe(200);
    for (const path of [`/${secret}`, `?token=${secret}`, `?secret=${secret}`, ""])
      expect((await statusBy("", path)).status).toBe(404);
  });

  test("tells an organisation of a wallet that another request brought, while it can be stopped", async () => {
    const claim_slug = "guarded";
    await service.add(aNonprofit({ slug: claim_slug }));
    const aRequest = () =>
      service.submit({ ...another(), claim_slug, usdc_wallet: aWallet().address });
    const anApproved = async () => {
      const answer = await aRequest();
      await service.approve(answer.submission_id);
      return answer;
    };
    const ours = await anApproved();
    const otherWalletAt = async (of = ours) => (await service.status(of)).other_wallet_at;
    const theirs = await aRequest();
    expect(await otherWalletAt()).toBeNull();
    await service.approve(theirs.submission_id);
    const { wallet, other_wallet_at } = await service.status(theirs);
    expect([wallet.state, other_wallet_at]).toEqual(["held", null]);
    expect(await otherWalletAt()).toBe(wallet.takes_effect_at);
    await service.decide(`hold-${theirs.submission_id}`, "reject", { reason: "not them" });
    expect(await otherWalletAt()).toBeNull();
    const stopped = { wallet: { state: "stopped", reason: "not them" } };
    expect(await service.status(theirs)).toMatchObject(stopped);
    // Whose claim was taken back is told nothing of those who came after.
    expect((await service.revoke(claim_slug)).status).toBe(200);
    const right = await anApproved();
    await anApproved();
    expect(await otherWalletAt(right)).not.toBeNull();
    expect(await otherWalletAt()).toBeNull();
  });
});

describe("a form of a browser without a script", () => {
  const sendForm = (fields: Record<string, string>) =>
    service.request("/api/onboard", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...aClient() },
      body: new URLSearchParams(fields),
    });

  test("leads to the status page, which keeps the link; with a key it gets its link twice", async () => {
    const fields = {
      ...another(),
      claim_slug: "https://almoner.example/nonprofits/kitchen",
      mission: "One.\r\nTwo.",
      website: "",
      usdc_wallet: " ",
    };
    const response = await sendForm(fields);
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toMatch(/^\/onboard\/status#[\w-]{43}$/);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const read = { mission: "One.\nTwo.", website: null, usdc_wallet: null };
    const request = JSON.parse(String((await requests()).at(-1)?.["request"]));
    expect(request).toMatchObject({ claim_slug: "kitchen", ...read });
    const again = await (await sendForm(fields)).json();
    expect(again).toMatchObject({ status_url: null });
    const keyed = { ...another(), idempotency_key: crypto.randomUUID() };
    const first = await sendForm(keyed);
    const second = await sendForm(keyed);
    expect([first.status, second.status]).toEqual([303, 303]);
    expect(second.headers.get("location")).toBe(first.headers.get("location"));
  });

  test("stores nothing that is refused", async () => {
    const count = await stored();
    for (const [more, status] of [
      [{ website: "javascript:alert(1)" }, 400],
      [{ claim_slug: "nobody" }, 404],
      [{ mission: "x".repeat(25_000) }, 400],
      [{ idempotency_key: "a b" }, 400],
      [{ mission: "x".repeat(70_000) }, 413],
    ] as const)
      expect((await sendForm({ ...claim, ...more })).status).toBe(status);
    expect(await stored()).toBe(count);
  });
});
