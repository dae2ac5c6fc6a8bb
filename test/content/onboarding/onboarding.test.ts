import { describe, expect, test } from "bun:test";
import {
  type HostControl,
  hostControl,
  hostProofLifeMs,
  provesHost,
  emailHost,
} from "#content/onboarding/host-proof.ts";
import { programsIn } from "#content/onboarding/read.ts";
import { onboardingChecks } from "#content/onboarding/review-checks.ts";
import { editable, onboardingOutcome, readEdits } from "#content/onboarding/outcome.ts";
import { onboardingType, readOnboarding } from "#content/onboarding/read.ts";
import { sourceFrom } from "#content/nonprofit/record.ts";
import { isSharedHost, siteKey } from "#content/nonprofit/website.ts";
import { OnboardingBody } from "#content/contract/onboarding.ts";
import { fitted } from "#content/contract/problem.ts";
import type { SetBy } from "#content/contract/nonprofit.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aWallet } from "#test/support/wallets.ts";

const thisYear = 2026;
const read = (body: object) => {
  const outcome = readOnboarding(OnboardingBody.parse(body), { thisYear });
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.failure));
  return outcome.value;
};
const pathsOf = (body: unknown) => {
  const sent = fitted(OnboardingBody, body);
  if (!sent.ok) return sent.failure.map(({ path }) => path);
  const outcome = readOnboarding(sent.value, { thisYear });
  return outcome.ok ? [] : outcome.failure.map(({ path }) => path);
};
const claim = { claim_slug: "a", contact_email: "a@b.example" };

describe("a request", () => {
  test("is cleaned", () => {
    const { request, proof } = read({
      name: "  Hope\u0301   House ",
      country: "KENYA",
      city: "Kisumu,",
      contact_email: " a@b.example ",
      website: "b.example?utm_source=x",
      extra: 1,
    });
    expect(request).toMatchObject({
      claim_slug: null,
      name: "Hopé House",
      country_code: "KE",
      city: "Kisumu",
      contact_email: "a@b.example",
      website: "https://b.example",
    });
    expect(proof).toBeNull();
    const proven = {
      ...claim,
      usdc_wallet: aWallet().address,
      wallet_signature: ` ${"2".repeat(70)} `,
    };
    expect(read(proven).proof).toEqual({ challenge: null, signature: "2".repeat(70) });
  });

  test.each([
    [null, [""]],
    ["text", [""]],
    [{}, ["", "contact_email"]],
    [{ contact_email: "a@b.example", city: "Oslo" }, [""]],
    [{ ...claim, claim_slug: "x".repeat(201) }, ["claim_slug"]],
    [{ country: "Kenya", contact_email: "a@b.example" }, ["name"]],
    [{ name: "A", contact_email: "a@b.example" }, ["country"]],
    [{ ...claim, name: "a\u202Eb" }, ["name"]],
    [{ ...claim, contact_name: "a\u0000b" }, ["contact_name"]],
    [{ ...claim, name: "x".repeat(201) }, ["name"]],
    [{ ...claim, country: "x".repeat(101) }, ["country"]],
    [{ ...claim, mission: "x".repeat(20_001) }, ["mission"]],
    [{ ...claim, registration_number: "x".repeat(65) }, ["registration_number"]],
    [{ ...claim, wallet_challenge: "x" }, ["wallet_signature"]],
    [{ ...claim, wallet_signature: "1".repeat(70) }, ["wallet_signature"]],
    [{ ...claim, usdc_wallet: aWallet().address, wallet_signature: "0" }, ["wallet_signature"]],
    [
      {
        ...claim,
        usdc_wallet: aWallet().address,
        wallet_signature: "2".repeat(70),
        wallet_challenge: "x".repeat(1_001),
      },
      ["wallet_signature"],
    ],
  ])("is refused: %j", (body, paths) => {
    expect(pathsOf(body)).toEqual(paths);
  });

  test("is a claim, a change or a registration", () => {
    const { request } = read(claim);
    expect(onboardingType(request, { verified: 0, status: "listed" })).toBe("claim");
    expect(onboardingType(request, { verified: 1, status: "listed" })).toBe("change");
    expect(onboardingType(request, { verified: 0, status: "claimed" })).toBe("change");
    expect(onboardingType(request, null)).toBe("claim");
    expect(onboardingType({ ...request, claim_slug: null }, null)).toBe("registration");
  });
});

test.each([
  ["hope-kitchen", "hope-kitchen"],
  [" hope-kitchen ", "hope-kitchen"],
  ["https://almoner.example/nonprofits/hope-kitchen", "hope-kitchen"],
  ["almoner.example/nonprofits/hope-kitchen/?utm_source=x#give", "hope-kitchen"],
  ["/nonprofits/hope-kitchen", "hope-kitchen"],
])("the slug in %j is %s", (claim_slug, slug) => {
  expect(read({ ...claim, claim_slug }).request.claim_slug).toBe(slug);
});

const unproven: HostControl = { state: "not_proven", host: "b.example" };
const proven = {
  state: "proven",
  host: "b.example",
  ownWord: false,
  by: "dns",
  at: 1,
} as const satisfies HostControl;

describe("an approval", () => {
  const nowMs = 1_000;
  const outcome = (type: "claim" | "change", body: object, before = {}, more = {}) =>
    onboardingOutcome(aNonprofit(before), {
      type,
      request: read({ ...claim, ...body }).request,
      proof: null,
      edits: {},
      slug: "",
      host: unproven,
      revokedBefore: false,
      nowMs,
      ...more,
    });

  test("of a claim fills, of a change replaces", () => {
    const sent = {
      mission: "New.",
      website: "https://new.example",
      city: "Kisumu",
      country: "Kenya",
    };
    const before = {
      mission: "Old.",
      website: "https://old.example",
      city: null,
      country_code: "KE",
    };
    const filled = outcome("claim", sent, before);
    expect(filled.kept).toEqual(["mission", "website"]);
    expect(filled.after).toMatchObject({
      mission: "Old.",
      website: "https://old.example",
      city: "Kisumu",
      verified: 1,
      status: "claimed",
    });
    const replaced = outcome("change", sent, before);
    expect(replaced.kept).toEqual([]);
    expect(replaced.after).toMatchObject({
      mission: "New.",
      website: "https://new.example",
      city: "Kisumu",
    });
    expect(Object.keys(replaced.after.provenance).sort()).toEqual([
      "city",
      "contact_email",
      "mission",
      "website",
    ]);
  });

  test("leaves what is the same as it is", () => {
    const { after } = outcome(
      "change",
      { website: "http://www.old.example/" },
      { website: "https://old.example", contact_email: "a@b.example" },
    );
    expect(after.website).toBe("https://old.example");
    expect(after.provenance).toEqual({});
  });

  test("takes what the operator edited, and leaves out what is null", () => {
    const { after } = outcome(
      "claim",
      { mission: "New.", city: "Lamu" },
      {},
      { edits: { mission: "Edited.", city: null, causes: ["health"] } },
    );
    expect(after).toMatchObject({ mission: "Edited.", city: null, causes: ["health"] });
    expect(after.provenance["mission"]?.set_by).toBe("operator");
  });

  test("of a claim corrects what it says is wrong, and keeps the rest", () => {
    const sent = { mission: "New.", city: "Kisumu", corrects: "city, website" };
    const before = { mission: "Old.", city: "Lamu", website: "https://old.example" };
    const { after, kept, corrected } = outcome("claim", sent, before);
    expect([kept, corrected]).toEqual([["mission"], ["city"]]);
    expect(after).toMatchObject({ mission: "Old.", city: "Kisumu", website: before.website });
    expect(after.provenance["city"]?.set_by).toBe("organisation");
  });

  test("holds every wallet unless control of host and wallet is proven, and adds the proof to the same", () => {
    const { address } = aWallet();
    const proof = { challenge: "c", signature: "s" };
    const sent = { usdc_wallet: address };
    const held = (more: object, before = {}) => outcome("claim", sent, before, more);
    for (const [more, why] of [
      [{}, "host"],
      [{ proof }, "host"],
      [{ host: proven }, "wallet"],
      [{ host: { ...proven, ownWord: true }, proof }, "only the organisation"],
      [{ host: proven, proof, revokedBefore: true }, "taken back"],
    ] as const) {
      const { after, wallet } = held(more);
      expect([after.usdc_wallet, wallet?.held]).toEqual([null, expect.stringContaining(why)]);
    }
    expect(held({ host: proven, proof })).toMatchObject({
      after: { usdc_wallet: address, wallet_challenge: "c", wallet_signature: "s" },
      wallet: { address, held: null },
    });
    expect(held({ host: proven, proof }, { usdc_wallet: "old" })).toMatchObject({
      after: { usdc_wallet: "old" },
      wallet: { address, held: "it replaces another wallet" },
    });
    expect(held({ proof }, { usdc_wallet: address })).toMatchObject({
      after: { wallet_challenge: "c", wallet_signature: "s" },
      wallet: { held: null },
    });
  });
});

describe("the host to prove", () => {
  const registration = { type: "registration" as const, profile: null };
  const nothing = { proven_host: null, proven_by: null, proven_at: null };
  const listed = (website: string | null, set_by?: SetBy) => ({
    type: "claim" as const,
    website: "https://asked.example",
    profile: aNonprofit({
      website,
      provenance: set_by === undefined ? {} : { website: sourceFrom(set_by, 1) },
    }),
  });
  test.each([
    [listed("https://WWW.Hope.example/about"), "hope.example"],
    [listed("http://hope.example:8080", "register"), "hope.example"],
    [listed("https://kitchen.hope.example", "operator"), "kitchen.hope.example"],
    [listed("https://hope.example", "organisation"), "hope.example"],
    [{ ...registration, website: "https://new.example" }, "new.example"],
  ])("of %j is %s", (claimed, host) => {
    expect(hostControl(claimed, nothing, 0)).toEqual({ state: "not_proven", host });
  });
  test.each([
    [listed(null), "no website"],
    [listed("https://hope.example", "consensus"), "agents"],
    [listed("https://www.facebook.com/hope"), "many organisations"],
    [{ ...registration, website: null }, "no website"],
  ])("of %j is none: %s", (claimed, why) => {
    const control = hostControl(claimed, nothing, 0);
    expect(control).toMatchObject({
      state: "nothing_to_prove_against",
      why: expect.stringContaining(why),
    });
  });
  test.each([
    [listed("https://hope.example", "register"), false],
    [listed("https://hope.example", "operator"), false],
    [listed("https://hope.example", "organisation"), true],
    [{ ...registration, website: "https://hope.example" }, true],
  ])("of %j is named by nobody but the organisation: %p", (claimed, ownWord) => {
    const proof = { proven_host: "hope.example", proven_by: "dns" as const, proven_at: 1 };
    expect(hostControl(claimed, proof, 1)).toMatchObject({ state: "proven", ownWord });
  });
  test("is proven for 30 days, and only while the profile names it", () => {
    const at = 1_000;
    const proof = { proven_host: "hope.example", proven_by: "dns" as const, proven_at: at };
    const state = (website: string, nowMs: number) =>
      hostControl(listed(website), proof, nowMs).state;
    expect(state("https://hope.example", at + hostProofLifeMs - 1)).toBe("proven");
    expect(state("https://hope.example", at + hostProofLifeMs)).toBe("not_proven");
    expect(state("https://other.example", at)).toBe("not_proven");
    expect(state("https://sub.hope.example", at)).toBe("not_proven");
  });
  test.each([
    ["a@hope.example", "https://hope.example", true],
    ["a@Hope.example", "https://www.hope.example/", true],
    ["a@mail.hope.example", "https://hope.example", false],
    ["a@example", "https://hope.example", false],
    ["a@hope.example", "https://hope.example/~club", false],
    ["a@hope.example", "https://hope.example/?page=7", false],
    ["a@gmail.com", "https://gmail.com", false],
    ["a@mailinator.com", "https://mailinator.com", false],
  ])("is proven by a mailbox: %s at %s: %j", (email, website, expected) => {
    const host = new URL(website).hostname.replace("www.", "");
    expect(provesHost(email, { host, website })).toBe(expected);
  });
});

test("edits are read as values are", () => {
  const { request } = read({ ...claim, mission: "M." });
  expect(JSON.parse(editable(request, null))).toMatchObject({
    mission: "M.",
    website: null,
    city: null,
    country: null,
  });
  expect(JSON.parse(editable(request, '{"city":"Lamu"}'))).toMatchObject({
    mission: "M.",
    city: "Lamu",
  });
  expect(readEdits(null, { thisYear })).toEqual({ ok: true, value: {} });
  expect(readEdits(" ", { thisYear })).toEqual({ ok: true, value: {} });
  expect(
    readEdits('{"city":"Lamu,","country":null,"causes":["health","health"]}', { thisYear }),
  ).toEqual({ ok: true, value: { city: "Lamu", country_code: null, causes: ["health"] } });
  expect(readEdits('{"name":" Hope  House ","mission":null}', { thisYear })).toEqual({
    ok: true,
    value: { name: "Hope House", mission: null },
  });
  for (const value of [
    "{",
    "1",
    '{"name":"\u202E"}',
    '{"city":"5"}',
    '{"country":"x"}',
    '{"contact_email":"a@b.example"}',
  ]) {
    expect(readEdits(value, { thisYear }).ok).toBe(false);
  }
});

test.each([
  ["a@hope.example", "https://www.hope.example/x", "own_site"],
  ["a@mail.hope.example", "https://hope.example", "own_site"],
  ["a@hope.example", "https://de.hope.example", "own_site"],
  ["a@other.example", "https://hope.example", "other"],
  ["a@facebook.com", "https://facebook.com/hope", "other"],
  ["a@gmail.com", "https://hope.example", "free_mail"],
  ["a@x.mailinator.com", null, "disposable"],
  ["a@hope.example", null, "other"],
] as const)("the host of %s beside %s is %s", (email, website, host) => {
  expect(emailHost(email, website)).toBe(host);
});

test("a site is a host, on shared hosts a page", () => {
  expect(siteKey("http://WWW.Hope.example/a?b=c")).toEqual({
    same: ["hope.example"],
    below: "hope.example",
  });
  expect(siteKey("facebook.com/Hope")).toEqual({
    same: ["facebook.com/hope", "facebook.com/hope/"],
    below: null,
  });
  expect(siteKey("nothing")).toBeNull();
  expect([isSharedHost("facebook.com"), isSharedHost("hope.example")]).toEqual([true, false]);
});

test("a registration makes a profile", () => {
  const { request } = read({
    name: "Hope",
    country: "US",
    contact_email: "a@b.example",
    registration_number: "EIN 530196605",
    mission: "M.",
  });
  const made = (edits: object, sent = request) =>
    onboardingOutcome(null, {
      type: "registration",
      request: sent,
      proof: null,
      edits,
      slug: "hope",
      host: unproven,
      revokedBefore: false,
      nowMs: 5,
    }).after;
  expect(made({})).toMatchObject({
    slug: "hope",
    name: "Hope",
    country_code: "US",
    verified: 1,
    status: "claimed",
    mission: "M.",
    registrations: [
      {
        country_code: "US",
        type: "EIN",
        registration_number: "53-0196605",
        org_id: "US-EIN-530196605",
      },
    ],
    provenance: {
      name: { set_by: "organisation", applied_at: 5 },
      registrations: { set_by: "organisation" },
    },
  });
  expect(made({ name: "Hope House", country_code: null })).toMatchObject({
    name: "Hope House",
    country_code: null,
    provenance: { name: { set_by: "operator" } },
  });
  expect(made({}, { ...request, registration_number: null }).registrations).toEqual([]);
});

describe("checks", () => {
  const registered = aNonprofit({
    country_code: "US",
    registrations: [
      {
        country_code: "US",
        type: "EIN",
        registration_number: "53-0196605",
        org_id: "US-EIN-530196605",
      },
      { country_code: "US", type: "State", registration_number: "No 7", org_id: null },
    ],
  });
  const known = (field: "contact_email" | "website", set_by: SetBy) =>
    aNonprofit({
      contact_email: "a@b.example",
      website: "https://old.example",
      provenance: {
        [field]: { set_by, source: set_by, source_url: null, agents: [], applied_at: 1 },
      },
    });
  const checked = (body: object, more: object = {}) =>
    Object.fromEntries(
      onboardingChecks({
        type: "claim",
        request: read({ ...claim, ...body }).request,
        profile: aNonprofit({
          contact_email: "A@B.example",
          website: "https://old.example",
          name: "Hope House",
          registrations: [],
        }),
        proven: false,
        duplicates: [],
        host: unproven,
        whyHeld: null,
        otherOwners: [],
        rivals: 0,
        stoppedFor: null,
        heldUntil: null,
        ...more,
      }).map(({ name, outcome }) => [name, outcome]),
    );
  test.each([
    [{}, {}, { "e-mail": "passed", duplicates: "passed" }],
    [{ contact_email: "x@old.example" }, {}, { "e-mail": "passed" }],
    [
      { contact_email: "x@else.example", website: "https://new.example" },
      {},
      { "e-mail": "noted", website: "noted" },
    ],
    [{ website: "old.example" }, {}, { website: "passed" }],
    [
      { name: "Hope House Inc", registration_number: "5" },
      {},
      { name: "passed", registration: "noted" },
    ],
    [{ name: "Норе House" }, {}, { name: "noted" }],
    [{ name: "\u041D\u043E\u0440\u0435" }, {}, { name: "noted" }],
    [{ name: "Дом надежды" }, {}, { name: "failed" }],
    [
      { usdc_wallet: "BVMmxrEG9dkxqZK2vSZzHgDS6DwS6VAcWqBBvvL48SaY" },
      {},
      { wallet: "noted", signature: "noted" },
    ],
    [
      { usdc_wallet: aWallet().address },
      { proven: true, heldUntil: "soon", otherOwners: ["x"] },
      { wallet: "passed", signature: "passed", "held wallet": "noted", "wallet owner": "failed" },
    ],
    [{}, {}, { host: "noted" }],
    [{}, { host: proven }, { host: "passed" }],
    [{}, { host: { state: "nothing_to_prove_against", why: "x" } }, { host: "noted" }],
    [{ usdc_wallet: aWallet().address }, { whyHeld: "why" }, { hold: "passed" }],
    [{ usdc_wallet: aWallet().address }, {}, { hold: "noted" }],
    [{}, { stoppedFor: "not them" }, { "e-mail": "failed" }],
    [{}, { rivals: 1 }, { others: "noted" }],
    [{}, { rivals: 2, duplicates: [{}] }, { others: "noted", duplicates: "noted" }],
    [{}, { duplicates: [{}, {}] }, { duplicates: "noted" }],
    [{ name: "Quite Else" }, {}, { name: "failed" }],
    [{ contact_email: "x@mailinator.com" }, {}, { "e-mail": "failed" }],
    [{ registration_number: "EIN 530196605" }, { profile: registered }, { registration: "passed" }],
    [{ registration_number: "No 7" }, { profile: registered }, { registration: "passed" }],
    [{ registration_number: "no.7" }, { profile: registered }, { registration: "passed" }],
    [{ registration_number: "12-3456789" }, { profile: registered }, { registration: "failed" }],
    [{ name: "placeholder" }, { profile: null }, { "test data": "failed" }],
    [
      { website: "https://new.example", contact_email: "x@new.example" },
      { profile: null },
      { "e-mail": "noted" },
    ],
    // Two ids of one agent are enough to put an address or a site into an empty profile, and to claim it with that.
    [{}, { profile: known("contact_email", "consensus") }, { "e-mail": "noted" }],
    [{}, { profile: known("contact_email", "register") }, { "e-mail": "passed" }],
    [
      { contact_email: "x@old.example" },
      { profile: known("website", "consensus") },
      { "e-mail": "noted" },
    ],
    [
      { contact_email: "x@old.example" },
      { profile: known("website", "operator") },
      { "e-mail": "passed" },
    ],
    // Of a listing, what an organisation said is left from a claim that was taken back.
    [
      { contact_email: "x@old.example" },
      { profile: known("website", "organisation") },
      { "e-mail": "noted" },
    ],
    [
      { contact_email: "x@old.example" },
      { type: "change", profile: known("website", "organisation") },
      { "e-mail": "passed" },
    ],
  ])("of %j with %j", (body, more, expected) => {
    expect(checked(body, more)).toMatchObject(expected);
  });

  test("find a wallet that is none in a request that was stored before it was known", () => {
    const request = { ...read(claim).request, usdc_wallet: "x" };
    const checks = onboardingChecks({
      type: "claim",
      request,
      profile: null,
      proven: false,
      duplicates: [],
      host: unproven,
      whyHeld: "why",
      otherOwners: [],
      rivals: 0,
      stoppedFor: null,
      heldUntil: null,
    });
    expect(checks.find(({ name }) => name === "wallet")?.outcome).toBe("failed");
  });
});

test("programmes are one a line; what is none is refused in words", () => {
  expect(programsIn("Night kitchen: soup\n\nVan")).toMatchObject({
    ok: true,
    value: [
      { name: "Night kitchen", description: "soup" },
      { name: "Van", description: null },
    ],
  });
  for (const text of ["Van\u202E: soup", `${"x".repeat(5_000)}: soup`])
    expect(programsIn(text)).toMatchObject({
      ok: false,
      failure: { message: "programs has one programme a line: name: what it does." },
    });
});
