import { describe, expect, test } from "bun:test";
import {
  type HostControl,
  hostControl,
  hostProofLifeMs,
  provesHost,
  emailHost,
} from "#content/onboarding/host-proof.ts";
import { onboardingChecks } from "#content/onboarding/review-checks.ts";
import { editable, onboardingOutcome, readEdits } from "#content/onboarding/outcome.ts";
import { onboardingType, programsIn, readOnboarding } from "#content/onboarding/read.ts";
import { sourceFrom } from "#content/nonprofit/record.ts";
import { isSharedHost, siteKey } from "#content/nonprofit/website.ts";
import { OnboardingBody } from "#content/contract/onboarding.ts";
import { fitted } from "#content/contract/problem.ts";
import type { SetBy } from "#content/contract/nonprofit.ts";
import { redCross } from "#test/support/filed.ts";
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
const { address } = aWallet();
const signed = { ...claim, usdc_wallet: address, wallet_signature: ` ${"2".repeat(70)} ` };
const tokenProgram = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const [ein] = redCross().registrations;

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
    expect(read(signed).proof).toEqual({ challenge: null, signature: "2".repeat(70) });
  });

  const mail = { contact_email: "a@b.example" };
  const x = (length: number) => "x".repeat(length);
  test.each<[paths: string[], what: string, ...unknown[]]>([
    [[""], "no object", null, "text"],
    [[""], "nobody to claim or to list", { ...mail, city: "Oslo" }],
    [["", "contact_email"], "nothing", {}],
    [
      ["name"],
      "no name",
      { ...mail, country: "Kenya" },
      { ...mail, country: "Kenya", name: "!!!" },
    ],
    [["country"], "no country", { ...mail, name: "A" }, { ...claim, country: "Atlantis" }],
    [["name"], "a hidden text", { ...claim, name: "a\u202Eb" }],
    [["contact_name"], "a hidden text", { ...claim, contact_name: "a\u0000b" }],
    [["claim_slug"], "too much", { ...claim, claim_slug: x(201) }],
    [["name"], "too much", { ...claim, name: x(201) }],
    [["country"], "too much", { ...claim, country: x(101) }],
    [["mission"], "too much", { ...claim, mission: x(1_001) }, { ...claim, mission: x(20_001) }],
    [["registration_number"], "too much", { ...claim, registration_number: x(65) }],
    [["wallet_signature"], "no signature", { ...claim, wallet_challenge: "x" }],
    [["wallet_signature"], "no wallet", { ...claim, wallet_signature: "1".repeat(70) }],
    [["wallet_signature"], "none in base58", { ...signed, wallet_signature: "0" }],
    [["wallet_signature"], "too much", { ...signed, wallet_challenge: x(1_001) }],
    [["contact_email"], "no address", { ...claim, contact_email: "nobody" }],
    [["website"], "no website", { ...claim, website: "javascript:alert(1)" }],
    ...(["donation_url", "logo_url"] as const).map<[string[], string, ...unknown[]]>((field) => [
      [field],
      "no public address",
      ...["javascript:1", "localhost/give", "http://10.0.0.1/give", "https://u@oak.example"].map(
        (link) => ({ ...claim, [field]: link }),
      ),
    ]),
    [["city"], "no text", { ...claim, city: 5 }],
    [["usdc_wallet"], "no wallet", { ...claim, usdc_wallet: "0xabc" }],
    [["usdc_wallet"], "a program", { ...claim, usdc_wallet: tokenProgram }],
  ])("is refused by %j: %s", (paths, _, ...bodies) => {
    for (const body of bodies) expect(pathsOf(body)).toEqual(paths);
  });

  test.each([
    ["a", { verified: 0, status: "listed" }, "claim"],
    ["a", { verified: 1, status: "listed" }, "change"],
    ["a", { verified: 0, status: "claimed" }, "change"],
    ["a", null, "claim"],
    [null, null, "registration"],
  ] as const)("of slug %p and profile %j is a %s", (claim_slug, profile, type) => {
    expect(onboardingType({ ...read(claim).request, claim_slug }, profile)).toBe(type);
  });
});

test.each([" hope-kitchen ", "almoner.example/nonprofits/hope-kitchen/?utm_source=x#give"])(
  "the slug in %j is hope-kitchen",
  (claim_slug) => expect(read({ ...claim, claim_slug }).request.claim_slug).toBe("hope-kitchen"),
);

const unproven: HostControl = { state: "not_proven", host: "b.example" };
const proven = {
  state: "proven",
  host: "b.example",
  ownWord: false,
  by: "dns",
  at: 1,
} as const satisfies HostControl;

const decision = {
  type: "claim",
  proof: null,
  edits: {},
  slug: "",
  host: unproven,
  revokedBefore: false,
  nowMs: 5,
} as const;

describe("an approval", () => {
  const outcome = (type: "claim" | "change", body: object, before = {}, more = {}) => {
    const { request } = read({ ...claim, ...body });
    return onboardingOutcome(aNonprofit(before), { ...decision, type, request, ...more });
  };

  test("of a claim fills, of a change replaces", () => {
    const places = { website: "https://new.example", city: "Kisumu" };
    const sent = { name: "New House", mission: "New.", ...places, country: "Kenya" };
    const live = { name: "Old House", mission: "Old.", website: "https://old.example" };
    const before = { ...live, city: null, country_code: "KE" };
    const filled = outcome("claim", sent, before);
    expect(filled.keptFields).toEqual(["mission", "website"]);
    const verified = { verified: 1, status: "claimed", city: "Kisumu" };
    expect(filled.after).toMatchObject({ ...live, ...verified });
    const replaced = outcome("change", sent, before);
    expect(replaced.keptFields).toEqual([]);
    expect(replaced.after).toMatchObject({ ...places, mission: "New.", name: "New House" });
    const changed = ["city", "contact_email", "mission", "name", "website"];
    expect(Object.keys(replaced.after.provenance).sort()).toEqual(changed);
  });

  test("leaves what is the same as it is", () => {
    const before = { website: "https://old.example", contact_email: "a@b.example" };
    const { after } = outcome("change", { website: "http://www.old.example/" }, before);
    expect([after.website, after.provenance]).toEqual(["https://old.example", {}]);
  });

  test("takes what the operator edited, and leaves out what is null", () => {
    const edits = { mission: "Edited.", city: null, causes: ["health"] };
    const { after } = outcome("claim", { mission: "New.", city: "Lamu" }, {}, { edits });
    expect(after).toMatchObject(edits);
    expect(after.provenance["mission"]?.set_by).toBe("operator");
  });

  test("of a claim corrects what it says is wrong, and keeps the rest", () => {
    const sent = { mission: "New.", city: "Kisumu", corrects: "city, website", programs: "New." };
    const old = { description: null, beneficiaries_per_year: null, location: null };
    const programs = [{ name: "Old.", ...old }];
    const before = { mission: "Old.", city: "Lamu", website: "https://old.example", programs };
    const { after, keptFields, correctedFields } = outcome("claim", sent, before);
    expect(after.programs).toEqual(programs);
    expect([keptFields, correctedFields]).toEqual([["mission", "programs"], ["city"]]);
    const right = outcome("claim", { ...sent, corrects: "programs" }, before);
    expect(right.correctedFields).toEqual(["programs"]);
    expect(right.after.programs).toEqual([{ name: "New.", ...old }]);
    const same = outcome("claim", { programs: "Old." }, before);
    expect([same.keptFields, same.after.provenance["programs"]]).toEqual([[], undefined]);
    expect(after).toMatchObject({ mission: "Old.", city: "Kisumu", website: before.website });
    expect(after.provenance["city"]?.set_by).toBe("organisation");
  });

  test("holds every wallet unless control of host and wallet is proven, and adds the proof to the same", () => {
    const proof = { challenge: "c", signature: "s" };
    const held = (more: object, before = {}) =>
      outcome("claim", { usdc_wallet: address }, before, more);
    for (const [more, why] of [
      [{}, "host"],
      [{ proof }, "host"],
      [{ host: proven }, "wallet"],
      [{ host: { ...proven, ownWord: true }, proof }, "only the organisation"],
      [{ host: proven, proof, revokedBefore: true }, "taken back"],
    ] as const) {
      const { after, wallet } = held(more);
      expect([after.usdc_wallet, wallet?.holdReason]).toEqual([null, expect.stringContaining(why)]);
    }
    const shown = { wallet_challenge: "c", wallet_signature: "s" };
    for (const [more, before, after, why] of [
      [{ host: proven }, {}, { usdc_wallet: address, ...shown }, null],
      [{}, { usdc_wallet: address }, shown, null],
      [
        { host: proven },
        { usdc_wallet: "old" },
        { usdc_wallet: "old" },
        "it replaces another wallet",
      ],
    ] as const)
      expect(held({ ...more, proof }, before)).toMatchObject({
        after,
        wallet: { holdReason: why },
      });
  });

  test("of a registration makes a profile", () => {
    const { request } = read({
      name: "Hope",
      country: "US",
      contact_email: "a@b.example",
      mission: "M.",
      registration_number: "EIN 530196605",
    });
    const profileOf = (edits: object, sent = request) =>
      onboardingOutcome(null, {
        ...decision,
        type: "registration",
        slug: "hope",
        request: sent,
        edits,
      }).after;
    const set_by = "organisation";
    expect(profileOf({})).toMatchObject({
      slug: "hope",
      name: "Hope",
      country_code: "US",
      mission: "M.",
      verified: 1,
      status: "claimed",
      registrations: [ein],
      provenance: { name: { set_by, applied_at: 5 }, registrations: { set_by } },
    });
    const edits = { name: "Hope House", country_code: null };
    const provenance = { name: { set_by: "operator" } };
    expect(profileOf(edits)).toMatchObject({ ...edits, provenance });
    expect(profileOf({}, { ...request, registration_number: null }).registrations).toEqual([]);
  });
});

describe("the host to prove", () => {
  const registered = (website: string | null) => ({ profile: null, website });
  const nothing = { proven_host: null, proven_by: null, proven_at: null };
  const dns = { proven_host: "hope.example", proven_by: "dns", proven_at: 1_000 } as const;
  const listed = (website: string | null, set_by?: SetBy) => ({
    website: "https://asked.example",
    profile: aNonprofit({
      website,
      provenance: set_by === undefined ? {} : { website: sourceFrom(set_by, 1) },
    }),
  });
  const notProven = (host: string): HostControl => ({ state: "not_proven", host });
  const none = (words: string): HostControl => ({
    state: "nothing_to_prove_against",
    why: expect.stringContaining(words),
  });
  test.each([
    [listed("https://WWW.Hope.example/about"), notProven("hope.example")],
    [listed("http://hope.example:8080", "register"), notProven("hope.example")],
    [listed("https://kitchen.hope.example", "operator"), notProven("kitchen.hope.example")],
    [registered("https://new.example"), notProven("new.example")],
    [listed(null), none("no website")],
    [listed("https://hope.example", "consensus"), none("agents")],
    [listed("https://www.facebook.com/hope"), none("many organisations")],
    [registered(null), none("no website")],
  ])("of %j, without a proof: %j", (claimed, control) => {
    expect(hostControl(claimed, nothing, 0)).toEqual(control);
  });
  test.each([
    [listed("https://hope.example", "register"), false],
    [listed("https://hope.example", "operator"), false],
    [listed("https://hope.example", "organisation"), true],
    [registered("https://hope.example"), true],
  ])("of %j is named by nobody but the organisation: %p", (claimed, ownWord) => {
    expect(hostControl(claimed, dns, 1_000)).toMatchObject({ state: "proven", ownWord });
  });
  test.each([
    ["hope.example", hostProofLifeMs - 1, "proven"],
    ["hope.example", hostProofLifeMs, "not_proven"],
    ["other.example", 0, "not_proven"],
    ["sub.hope.example", 0, "not_proven"],
  ])(
    "is proven for 30 days, while the profile names it: %s after %d ms is %s",
    (host, ms, state) => {
      expect(hostControl(listed(`https://${host}`), dns, 1_000 + ms)).toMatchObject({ state });
    },
  );
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

test.each([
  [null, { mission: "M.", city: null, website: null, country: null }],
  ['{"city":"Lamu"}', { mission: "M.", city: "Lamu" }],
])("edits begin with the request, and with what was edited before: %s", (before, edits) => {
  const { request } = read({ ...claim, mission: "M." });
  expect(JSON.parse(editable(request, before))).toMatchObject(edits);
});

test.each([
  [null, {}],
  [" ", {}],
  ['{"city":"Lamu,","country":null}', { city: "Lamu", country_code: null }],
  ['{"causes":["health","health"]}', { causes: ["health"] }],
  ['{"name":" Hope  House ","mission":null}', { name: "Hope House", mission: null }],
])("edits are read as values are: %s gives %j", (text, values) => {
  const edits = readEdits(text, { thisYear });
  expect(edits.ok ? edits.value : null).toEqual(values);
});

test.each([
  ["no object", ["{", "1"]],
  ["a bad name", ['{"name":""}', '{"name":"\u202E"}']],
  ["a bad place", ['{"city":"5"}', '{"country":"x"}']],
  ["an unknown cause", ['{"causes":["magic"]}']],
  ["a bad address", ['{"website":"javascript:1"}', '{"contact_email":"a@b.example"}']],
])("edits are refused that hold %s", (_, texts) => {
  expect(texts.filter((text) => readEdits(text, { thisYear }).ok)).toEqual([]);
});

test.each([
  ["{", /^To edit while approving, send value as a JSON object/],
  ['{"causes":["health","magic"]}', /^causes\[1\]: Send one of .*\beducation\b/],
  ['{"city":5}', /^city: Send a text\.$/],
  ['{"contact_email":"a@b.example"}', /^Leave out contact_email/],
])("edits that are refused say what is wrong: %s", (text, words) => {
  const edits = readEdits(text, { thisYear });
  expect(edits.ok ? "" : edits.failure).toMatch(words);
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

test.each([
  ["http://WWW.Hope.example/a?b=c", { same: ["hope.example"], below: "hope.example" }],
  ["facebook.com/Hope", { same: ["facebook.com/hope", "facebook.com/hope/"], below: null }],
  ["nothing", null],
])("a site is a host, on shared hosts a page: %s", (text, key) => {
  expect(siteKey(text)).toEqual(key);
  expect([isSharedHost("facebook.com"), isSharedHost("hope.example")]).toEqual([true, false]);
});

describe("checks", () => {
  const website = "https://old.example";
  const number = { country_code: "US", type: "State", registration_number: "No 7", org_id: null };
  const registered = redCross({ registrations: [...redCross().registrations, number] });
  const known = (field: "contact_email" | "website", set_by: SetBy) =>
    aNonprofit({
      contact_email: "a@b.example",
      website,
      provenance: { [field]: sourceFrom(set_by, 1) },
    });
  const plain = {
    type: "claim",
    profile: aNonprofit({ contact_email: "A@B.example", website, name: "Hope House" }),
    isProven: false,
    host: unproven,
    whyHeld: null,
    heldUntil: null,
    stoppedFor: null,
    duplicates: [],
    otherOwners: [],
    rivals: 0,
  } as const;
  const outcomesOf = (body: object, more: object, stored: object = {}) => {
    const request = { ...read({ ...claim, ...body }).request, ...stored };
    const checks = onboardingChecks({ ...plain, request, ...more });
    return Object.fromEntries(checks.map(({ name, outcome }) => [name, outcome]));
  };
  const mailAndSite = { contact_email: "x@new.example", website: "https://new.example" };
  const elsewhere = { contact_email: "x@else.example" };
  const atOldSite = { contact_email: "x@old.example" };
  const bySelf = { profile: known("website", "organisation") };
  const wallet = { usdc_wallet: address };
  const vault = { usdc_wallet: "BVMmxrEG9dkxqZK2vSZzHgDS6DwS6VAcWqBBvvL48SaY" };
  const held = { isProven: true, heldUntil: "soon", otherOwners: ["x"] };
  const owned = { "held wallet": "noted", "wallet owner": "failed" };
  test.each([
    [{}, {}, { "e-mail": "passed", duplicates: "passed", host: "noted" }],
    [atOldSite, {}, { "e-mail": "passed" }],
    [{ ...mailAndSite, ...elsewhere }, {}, { "e-mail": "noted", website: "noted" }],
    // Who makes up an address makes up a website for it.
    [mailAndSite, {}, { "e-mail": "noted" }],
    [mailAndSite, { profile: null }, { "e-mail": "noted" }],
    [{ website: "old.example" }, {}, { website: "passed" }],
    [{ name: "Hope House Inc" }, {}, { name: "passed" }],
    [{ name: "\u041D\u043E\u0440\u0435" }, {}, { name: "noted" }],
    [{ name: "Дом надежды" }, {}, { name: "failed" }],
    [{ name: "Quite Else" }, {}, { name: "failed" }],
    [vault, {}, { wallet: "noted", signature: "noted" }],
    [wallet, held, { wallet: "passed", signature: "passed", ...owned }],
    [wallet, { whyHeld: "why" }, { hold: "passed" }],
    [wallet, {}, { hold: "noted" }],
    [{}, { host: proven }, { host: "passed" }],
    [{}, { host: { state: "nothing_to_prove_against", why: "x" } }, { host: "noted" }],
    [{}, { stoppedFor: "not them" }, { "e-mail": "failed" }],
    [{}, { rivals: 2, duplicates: [{}] }, { others: "noted", duplicates: "noted" }],
    [{ contact_email: "x@mailinator.com" }, {}, { "e-mail": "failed" }],
    [{ registration_number: "5" }, {}, { registration: "noted" }],
    [{ registration_number: "EIN 530196605" }, { profile: registered }, { registration: "passed" }],
    [{ registration_number: "no.7" }, { profile: registered }, { registration: "passed" }],
    [{ registration_number: "12-3456789" }, { profile: registered }, { registration: "failed" }],
    [{ name: "placeholder" }, { profile: null }, { "test data": "failed" }],
    // Two ids of one agent are enough to put an address or a site into an empty profile, and to claim it with that.
    [{}, { profile: known("contact_email", "consensus") }, { "e-mail": "noted" }],
    [{}, { profile: known("contact_email", "register") }, { "e-mail": "passed" }],
    [atOldSite, { profile: known("website", "consensus") }, { "e-mail": "noted" }],
    [atOldSite, { profile: known("website", "operator") }, { "e-mail": "passed" }],
    // Of a listing, what an organisation said is left from a claim that was taken back.
    [atOldSite, bySelf, { "e-mail": "noted" }],
    [atOldSite, { type: "change", ...bySelf }, { "e-mail": "passed" }],
  ])("of %j with %j", (body, more, expected) => {
    expect(outcomesOf(body, more)).toMatchObject(expected);
  });

  test("find a wallet that is none in a request that was stored before it was known", () => {
    const outcomes = outcomesOf({}, { profile: null, whyHeld: "why" }, { usdc_wallet: "x" });
    expect(outcomes).toMatchObject({ wallet: "failed" });
  });
});

test("programmes are one a line; what is none is refused", () => {
  const first = { name: "Night kitchen", description: "soup" };
  const second = { name: "Van" };
  const value = [first, { ...second, description: null }];
  expect(programsIn("Night kitchen: soup\n\nVan")).toMatchObject({ ok: true, value });
  for (const text of ["Van\u202E: soup", `${"x".repeat(5_000)}: soup`])
    expect(programsIn(text).ok).toBe(false);
});
