import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  OnboardingAnswer,
  OnboardingStatus,
  WalletChallenge,
} from "#content/contract/onboarding.ts";
import {
  anOnboardingService,
  operatorTokens,
  type OnboardingService,
} from "#test/support/onboarding.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aWallet } from "#test/support/wallets.ts";

const vault = "BVMmxrEG9dkxqZK2vSZzHgDS6DwS6VAcWqBBvvL48SaY"; // Off the curve.
let service: OnboardingService;
beforeAll(async () => {
  service = await anOnboardingService([
    aNonprofit({ slug: "kitchen", name: "Hope Kitchen" }),
    aNonprofit({ slug: "claimed", status: "claimed", verified: 1 }),
    aNonprofit({ slug: "gone", status: "withdrawn" }),
  ]);
});
afterAll(() => service.close());

const claim = { claim_slug: "kitchen", contact_email: "office@kitchen.example" };
const registration = {
  name: "Lantern Trust",
  country: "Kenya",
  contact_email: "a@lantern.example",
};
let made = 0;
const another = () => ({ ...claim, contact_name: `Person ${made++}` });

const stored = async () => {
  const { rows } = await service.store.raw.execute(
    "SELECT count(*) AS n FROM onboarding_submissions",
  );
  return Number(rows[0]?.["n"]);
};

const challengeFor = async (wallet: string) =>
  WalletChallenge.parse(
    await (await service.get(`/api/onboard/challenge?wallet=${wallet}`)).json(),
  );

describe("what is accepted", () => {
  test.each([
    ["a claim", () => another(), "claim", "kitchen"],
    ["a registration", () => registration, "registration", "lantern-trust"],
    [
      "a change of a claimed profile",
      () => ({ ...claim, claim_slug: "claimed" }),
      "change",
      "claimed",
    ],
    [
      "a country by its code",
      () => ({ ...registration, name: "Other", country: "ke" }),
      "registration",
      "other",
    ],
    [
      "a name in another script",
      () => ({ ...registration, name: "希望之家" }),
      "registration",
      "xi-wang-zhi-jia",
    ],
    ["a vault as wallet", () => ({ ...another(), usdc_wallet: vault }), "claim", "kitchen"],
    [
      "null and empty for nothing",
      () => ({ ...another(), mission: null, website: "", city: " " }),
      "claim",
      "kitchen",
    ],
  ] as const)("%s", async (_, body, type, slug) => {
    const answer = OnboardingAnswer.parse(await service.submit(body()));
    expect(answer).toMatchObject({ success: true, type, slug, status: "pending_review" });
    expect(answer.status_url).toMatch(/^https:\/\/almoner\.example\/onboard\/status#[\w-]{43}$/);
  });

  test("the same request again is answered with the one that waits, without the link that was somebody else's", async () => {
    const body = another();
    const first = await service.submit(body);
    const count = await stored();
    const again = await service.submit({ ...body, mission: null });
    expect(again).toEqual({
      ...first,
      status_url: null,
      host_proof: null,
      message: expect.stringContaining("waits for review already"),
    });
    expect(OnboardingAnswer.parse(again).submission_id).toBe(first.submission_id);
    const keyed = await (
      await service.send(body, { "idempotency-key": "a-key-of-another" })
    ).json();
    expect(keyed.status_url).toBeNull();
    expect(await stored()).toBe(count);
    expect((await service.submit({ ...body, mission: "Food." })).submission_id).not.toBe(
      first.submission_id,
    );
  });

  test("an Idempotency-Key gives the same answer, and refuses another request", async () => {
    const headers = { "idempotency-key": "key-1" };
    const body = another();
    const first = await (await service.send(body, headers)).json();
    await service.decide(`onboarding-${first.submission_id}`, "reject", { reason: "test" });
    expect(await (await service.send(body, headers)).json()).toEqual(first);
    expect((await service.send({ ...body, mission: "Other" }, headers)).status).toBe(409);
    const other = { ...body, contact_email: "other@kitchen.example" };
    expect((await service.send(other, headers)).status).toBe(200);
    expect((await service.send(body, { "idempotency-key": "a b" })).status).toBe(400);
  });

  test("the token of the status page is stored only as its digest", async () => {
    const { status_url } = await service.submit(another());
    const token = status_url?.split("#")[1] ?? "";
    const { rows } = await service.store.raw.execute("SELECT * FROM onboarding_submissions");
    expect(JSON.stringify(rows)).not.toContain(token);
    const keys = await service.store.raw.execute("SELECT * FROM idempotency_keys");
    expect(JSON.stringify(keys.rows)).not.toContain(token);
  });
});

describe("what is refused stores nothing, and says what to send", () => {
  const refused: [string, unknown, number, string, string | null][] = [
    ["nothing", {}, 400, "invalid_onboarding", ""],
    ["no object", [1], 400, "invalid_onboarding", ""],
    ["no contact", { claim_slug: "kitchen" }, 400, "invalid_onboarding", "contact_email"],
    [
      "no name",
      { country: "Kenya", contact_email: "a@b.example" },
      400,
      "invalid_onboarding",
      "name",
    ],
    [
      "no country",
      { name: "A", contact_email: "a@b.example" },
      400,
      "invalid_onboarding",
      "country",
    ],
    [
      "an unknown country",
      { ...registration, country: "Atlantis" },
      400,
      "invalid_onboarding",
      "country",
    ],
    [
      "no e-mail address",
      { ...claim, contact_email: "nobody" },
      400,
      "invalid_onboarding",
      "contact_email",
    ],
    [
      "no website",
      { ...claim, website: "javascript:alert(1)" },
      400,
      "invalid_onboarding",
      "website",
    ],
    [
      "a long mission",
      { ...claim, mission: "x".repeat(1_001) },
      400,
      "invalid_onboarding",
      "mission",
    ],
    ["a number for a text", { ...claim, city: 5 }, 400, "invalid_onboarding", "city"],
    [
      "bidi controls",
      { ...registration, name: "Hope\u202Egnp" },
      400,
      "invalid_onboarding",
      "name",
    ],
    ["a name of marks", { ...registration, name: "!!!" }, 400, "invalid_onboarding", "name"],
    ["no wallet", { ...claim, usdc_wallet: "0xabc" }, 400, "invalid_onboarding", "usdc_wallet"],
    [
      "a program",
      { ...claim, usdc_wallet: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" },
      400,
      "invalid_onboarding",
      "usdc_wallet",
    ],
    [
      "a signature of nothing",
      { ...claim, wallet_signature: "1".repeat(64) },
      400,
      "invalid_onboarding",
      "wallet_signature",
    ],
    ["an unknown slug", { ...claim, claim_slug: "nobody" }, 404, "nonprofit_not_found", null],
    ["a withdrawn profile", { ...claim, claim_slug: "gone" }, 410, "nonprofit_withdrawn", null],
  ];

  test.each(refused)("%s", async (_, body, status, code, path) => {
    const count = await stored();
    const response = await service.send(body);
    const answer = (await response.json()) as {
      code: string;
      detail: string;
      errors?: { path: string }[];
      example?: unknown;
    };
    expect([response.status, answer.code]).toEqual([status, code]);
    if (path !== null) {
      expect(answer.errors?.map((one) => one.path)).toContain(path);
      expect(answer.example).toBeDefined();
    }
    expect(await stored()).toBe(count);
  });

  test.each([
    ["no JSON", "{", "application/json", 400],
    ["a text", "claim_slug=kitchen", "text/plain", 415],
    ["a form with files", "claim_slug=kitchen", "multipart/form-data; boundary=x", 415],
    ["ten megabytes", `{"mission":"${"x".repeat(10_000_000)}"}`, "application/json", 413],
    ["deep nesting", `{"mission":${"[".repeat(500)}${"]".repeat(500)}}`, "application/json", 400],
  ])("%s", async (_, body, type, status) => {
    const request = new Request("http://localhost/api/onboard", {
      method: "POST",
      headers: { "content-type": type, "x-forwarded-for": `10.9.0.${made++}` },
      body,
    });
    const response = await service.app.handle(request);
    expect(response.status).toBe(status);
    expect(await response.json()).toHaveProperty("example.body.claim_slug");
  });

  test("more than 10 in a minute from one address", async () => {
    const from = { "x-forwarded-for": "10.77.0.1" };
    const statuses: number[] = [];
    for (let at = 0; at < 30; at++) {
      const response = await service.post(
        "/api/onboard",
        { ...claim, contact_name: `L${at}` },
        from,
      );
      statuses.push(response.status);
      if (at === 29) expect(response.headers.get("retry-after")).toMatch(/^\d+$/);
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(20);
  });
});

describe("a wallet's proof", () => {
  test("is the signature of a challenge, sent with it or without", async () => {
    for (const withText of [true, false]) {
      const wallet = aWallet();
      const { challenge } = await challengeFor(wallet.address);
      const proof = { usdc_wallet: wallet.address, wallet_signature: wallet.sign(challenge) };
      const body = { ...another(), ...proof, ...(withText ? { wallet_challenge: challenge } : {}) };
      const { submission_id } = await service.submit(body);
      const review = await (
        await service.admin(`/api/admin/reviews/onboarding-${submission_id}`)
      ).json();
      expect(review.checks).toContainEqual(
        expect.objectContaining({ name: "signature", outcome: "passed" }),
      );
    }
  });

  test("does not count when it is wrong, old, of another wallet, or used", async () => {
    const [wallet, other] = [aWallet(), aWallet()];
    const { challenge } = await challengeFor(wallet.address);
    const proven = {
      usdc_wallet: wallet.address,
      wallet_challenge: challenge,
      wallet_signature: wallet.sign(challenge),
    };
    const code = async (body: object) =>
      (await (await service.send({ ...another(), ...body })).json()).code;
    const count = await stored();
    expect(await code({ ...proven, wallet_signature: other.sign(challenge) })).toBe(
      "wallet_signature_invalid",
    );
    expect(await code({ ...proven, wallet_challenge: `${challenge}x` })).toBe(
      "wallet_challenge_unknown",
    );
    const theirs = { usdc_wallet: other.address, wallet_signature: other.sign(challenge) };
    expect(await code({ ...proven, ...theirs })).toBe("wallet_challenge_unknown");
    expect(await code(theirs)).toBe("wallet_signature_invalid");
    const forged = challenge.replace(/Issued: \S+/, "Issued: 2026-06-01T12:01:00Z");
    expect(
      await code({ ...proven, wallet_challenge: forged, wallet_signature: wallet.sign(forged) }),
    ).toBe("wallet_challenge_unknown");
    expect(await stored()).toBe(count);
    expect(await code(proven)).toBeUndefined();
    expect(await code(proven)).toBe("wallet_challenge_used");
    expect(await code({ ...proven, wallet_challenge: null })).toBe("wallet_challenge_used");
    const late = aWallet();
    const old = (await challengeFor(late.address)).challenge;
    service.pass(16 * 60_000);
    expect(
      await code({
        usdc_wallet: late.address,
        wallet_challenge: old,
        wallet_signature: late.sign(old),
      }),
    ).toBe("wallet_challenge_expired");
    expect(await stored()).toBe(count + 1);
  });

  test("is asked for by valid wallets that can sign", async () => {
    for (const wallet of ["", "x", vault, "11111111111111111111111111111111"]) {
      const response = await service.get(`/api/onboard/challenge?wallet=${wallet}`);
      expect(response.status).toBe(400);
      expect((await response.json()).code).toBe("wallet_not_usable");
    }
    const response = await service.get(`/api/onboard/challenge?wallet=${aWallet().address}`);
    expect(response.headers.get("cache-control")).toBe("no-store");
  });
});

describe("the status page's answer", () => {
  const statusBy = (secret: string) =>
    service.get("/api/onboard/status", { authorization: `Bearer ${secret}` });
  const statusOf = async (url: string | null) => {
    const response = await statusBy(url?.split("#")[1] ?? "");
    expect(response.headers.get("cache-control")).toBe("no-store");
    return OnboardingStatus.parse(await response.json());
  };

  test("tells the reason of a rejection, and no private data", async () => {
    const sent = { ...another(), contact_name: "Grace Secret", usdc_wallet: aWallet().address };
    const { submission_id, status_url } = await service.submit(sent);
    expect(await statusOf(status_url)).toMatchObject({
      status: "pending_review",
      reason: null,
      wallet: { state: "in_review" },
    });
    await service.decide(`onboarding-${submission_id}`, "reject", {
      reason: "No reply by e-mail.",
    });
    const status = await statusOf(status_url);
    expect(status).toMatchObject({ status: "rejected", reason: "No reply by e-mail." });
    expect(JSON.stringify(status)).not.toMatch(/Grace|office@/);
    expect(JSON.stringify(status)).not.toContain(sent.usdc_wallet);
  });

  test.each([
    ["nothing", ""],
    ["a letter", "x"],
    ["as many", "a".repeat(43)],
    ["a path", "../.."],
    ["very many", "x".repeat(5_000)],
  ])("is not to be guessed: %s", async (_, secret) => {
    expect((await statusBy(secret)).status).toBe(404);
  });

  test("is asked for in no address", async () => {
    const { status_url } = await service.submit(another());
    const secret = status_url?.split("#")[1] ?? "";
    expect((await statusBy(secret)).status).toBe(200);
    for (const path of [`/${secret}`, `?token=${secret}`, `?secret=${secret}`, ""]) {
      expect((await service.get(`/api/onboard/status${path}`)).status).toBe(404);
    }
  });

  test("tells an organisation of a wallet that another request brought, while it can be stopped", async () => {
    const slug = "guarded";
    await service.add(aNonprofit({ slug }));
    const ours = await service.submit({
      ...another(),
      claim_slug: slug,
      usdc_wallet: aWallet().address,
    });
    await service.decide(`onboarding-${ours.submission_id}`, "approve");
    const theirs = await service.submit({
      ...another(),
      claim_slug: slug,
      usdc_wallet: aWallet().address,
    });
    expect((await statusOf(ours.status_url)).other_wallet_at).toBeNull();
    await service.decide(`onboarding-${theirs.submission_id}`, "approve");
    const { wallet, other_wallet_at } = await statusOf(theirs.status_url);
    expect([wallet.state, other_wallet_at]).toEqual(["held", null]);
    expect((await statusOf(ours.status_url)).other_wallet_at).toBe(wallet.takes_effect_at);
    await service.decide(`hold-${theirs.submission_id}`, "reject", { reason: "not them" });
    expect((await statusOf(ours.status_url)).other_wallet_at).toBeNull();
    expect((await statusOf(theirs.status_url)).wallet).toMatchObject({
      state: "stopped",
      reason: "not them",
    });
    // Whose claim was taken back is told nothing of those who came after.
    const operator = { authorization: `Bearer ${operatorTokens.ada}` };
    expect(
      (await service.post(`/api/admin/nonprofits/${slug}/revoke`, { reason: "x" }, operator))
        .status,
    ).toBe(200);
    const right = await service.submit({
      ...another(),
      claim_slug: slug,
      usdc_wallet: aWallet().address,
    });
    await service.decide(`onboarding-${right.submission_id}`, "approve");
    const next = await service.submit({
      ...another(),
      claim_slug: slug,
      usdc_wallet: aWallet().address,
    });
    await service.decide(`onboarding-${next.submission_id}`, "approve");
    expect((await statusOf(right.status_url)).other_wallet_at).not.toBeNull();
    expect((await statusOf(ours.status_url)).other_wallet_at).toBeNull();
  });
});

test("what is wrong with the request comes before what is wrong with its key, which needs no example", async () => {
  const key = { "idempotency-key": "a b" };
  const send = async (body: object) =>
    (await service.post("/api/onboard", body, { ...key, "x-forwarded-for": "10.11.0.1" })).json();
  expect(await send({ ...claim, website: "none" })).toMatchObject({
    code: "invalid_onboarding",
    example: { method: "POST" },
  });
  const refused = await send(claim);
  expect(refused).toMatchObject({ code: "invalid_idempotency_key" });
  expect(refused).not.toHaveProperty("example");
});

describe("a form of a browser without a script", () => {
  const sendForm = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    service.app.handle(
      new Request("http://localhost/api/onboard", {
        method: "POST",
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          "x-forwarded-for": `10.10.0.${made++}`,
          ...headers,
        },
        body: new URLSearchParams(fields),
      }),
    );

  test("leads to the status page, which keeps the link", async () => {
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
    const { rows } = await service.store.raw.execute(
      "SELECT request FROM onboarding_submissions ORDER BY rowid DESC LIMIT 1",
    );
    expect(JSON.parse(String(rows[0]?.["request"]))).toMatchObject({
      claim_slug: "kitchen",
      mission: "One.\nTwo.",
      website: null,
      usdc_wallet: null,
    });
    expect(await (await sendForm(fields)).json()).toMatchObject({
      status_url: null,
      message: expect.stringContaining("waits for review already"),
    });
  });

  test("sent twice by one press gets its link twice: the form has a key", async () => {
    const fields = { ...another(), idempotency_key: crypto.randomUUID() };
    const [first, second] = [await sendForm(fields), await sendForm(fields)];
    expect([first.status, second.status]).toEqual([303, 303]);
    expect(second.headers.get("location")).toBe(first.headers.get("location"));
  });

  test("stores nothing that is refused", async () => {
    const count = await stored();
    const refused = [
      [{ ...claim, website: "javascript:alert(1)" }, 400],
      [{ ...claim, claim_slug: "nobody" }, 404],
      [{ ...claim, mission: "x".repeat(25_000) }, 400],
      [{ ...claim, idempotency_key: "a b" }, 400],
      [{ ...claim, mission: "x".repeat(70_000) }, 413],
    ] as const;
    for (const [fields, status] of refused) expect((await sendForm(fields)).status).toBe(status);
    expect(await stored()).toBe(count);
  });
});
