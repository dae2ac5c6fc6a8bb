import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ReviewDecision, ReviewItem, ReviewList } from "#content/contract/review.ts";
import { anOnboardingService, type OnboardingService } from "#test/support/onboarding.ts";
import { waysToGive } from "#content/nonprofit/ways-to-give.ts";
import { sourceFrom } from "#content/nonprofit/record.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aWallet } from "#test/support/wallets.ts";

let service: OnboardingService;
beforeAll(async () => {
  service = await anOnboardingService();
});
afterAll(() => service.close());

let made = 0;
const aSlug = async (context = {}): Promise<string> => {
  const slug = `claimable-${made++}`;
  await service.add(aNonprofit({ slug, ...context }));
  return slug;
};
const claimOf = (claim_slug: string, more: object = {}) => ({
  claim_slug,
  contact_email: "office@house.example",
  ...more,
});

const review = async (id: string) =>
  ReviewItem.parse(await (await service.admin(`/api/admin/reviews/onboarding-${id}`)).json());
const approve = async (id: string, body = {}) => {
  const response = await service.decide(`onboarding-${id}`, "approve", body);
  return { status: response.status, body: await response.json() };
};
const check = (item: ReviewItem, name: string) =>
  item.checks.find((one) => one.name === name)?.outcome ?? null;
const changesOf = async (slug: string) => {
  const answer = await service.get(`/api/history/${slug}`);
  return ((await answer.json()) as { changes: { origin: string; fields: string[] }[] }).changes;
};

describe("a claim", () => {
  test("verifies the profile, fills what is empty, and keeps the contact private", async () => {
    const slug = await aSlug({ mission: "Ours.", contact_email: "info@agents.example" });
    const wallet = aWallet();
    const sent = {
      mission: "Theirs.",
      website: "https://house.example",
      city: "Kisumu",
      usdc_wallet: wallet.address,
      contact_name: "Ada",
    };
    const { submission_id } = await service.submit(claimOf(slug, sent));
    const before = await service.live(slug);
    expect(before).toMatchObject({ verified: 0, status: "listed", usdc_wallet: null, city: null });
    const item = await review(submission_id);
    expect(item).toMatchObject({
      kind: "onboarding",
      slug,
      detail: { type: "claim", contact_name: "Ada", stays_as_it_is: { mission: "Theirs." } },
    });
    expect(item.comparison.map(({ field }) => field).sort()).toEqual([
      "city",
      "contact_email",
      "usdc_wallet",
      "verified",
      "website",
    ]);
    const { status, body } = await approve(submission_id);
    expect([status, ReviewDecision.parse(body)]).toMatchObject([200, { slug, live: true }]);
    const after = await service.live(slug);
    expect(after).toMatchObject({
      verified: 1,
      status: "claimed",
      mission: "Ours.",
      website: "https://house.example",
      city: "Kisumu",
      contact_email: "office@house.example",
      usdc_wallet: null,
    });
    for (const field of ["website", "city", "contact_email"]) {
      expect(after.provenance[field]).toMatchObject({ set_by: "organisation", agents: [] });
    }
    const [change] = await changesOf(slug);
    expect(change).toMatchObject({ origin: "onboarding" });
    expect(change?.fields).toContain("website");
    const profile = await (await service.get(`/api/nonprofits/${slug}`)).text();
    expect(profile).not.toMatch(/office@|Ada/);
    expect(JSON.parse(profile)).toMatchObject({
      verified: 1,
      has_contact_email: true,
    });
  });

  test("corrects a live value that it says is wrong, and says so when it is sent", async () => {
    const website = "https://wrong.example";
    const provenance = { website: sourceFrom("consensus", 1), city: sourceFrom("register", 1) };
    const slug = await aSlug({ website, city: "Lamu", mission: "Ours.", provenance });
    const right = { website: "https://right.example", city: "Kisumu", mission: "Theirs." };
    const { submission_id, message } = await service.submit(
      claimOf(slug, { ...right, corrects: ["website", "city"] }),
    );
    expect(message).toContain("replaces the profile's website, city");
    expect(message).toContain("keeps its mission");
    expect((await review(submission_id)).detail["corrects"]).toEqual(["website", "city"]);
    expect((await service.send(claimOf(slug, { corrects: ["name"] }))).status).toBe(400);
    expect((await approve(submission_id)).body.message).toContain("website, city is corrected");
    const after = await service.live(slug);
    expect(after).toMatchObject({ ...right, mission: "Ours." });
    expect(after.provenance["website"]?.set_by).toBe("organisation");
  });

  test("gives the profile its donation page, logo, tagline and programmes", async () => {
    const slug = await aSlug({ donation_url: "https://agents.example/give" });
    const { submission_id } = await service.submit(
      claimOf(slug, {
        donation_url: "www.oak.example/give",
        logo_url: "https://oak.example/logo.png",
        tagline: "Warm meals",
        programs: "Night kitchen: soup until ten\nVan",
        corrects: ["donation_url"],
      }),
    );
    await approve(submission_id);
    const live = await service.live(slug);
    expect(live).toMatchObject({
      donation_url: "https://www.oak.example/give",
      logo_url: "https://oak.example/logo.png",
      tagline: "Warm meals",
      programs: [{ name: "Night kitchen", description: "soup until ten" }, { name: "Van" }],
    });
    const [way] = waysToGive(live, { baseUrl: "" });
    expect(way).toMatchObject({ kind: "donation_page", url: "https://www.oak.example/give" });
  });

  test("publishes the proof of its wallet, at once where control of the host is proven", async () => {
    const slug = await aSlug({ website: "https://house.example" });
    const wallet = aWallet();
    const { challenge } = await (
      await service.get(`/api/onboard/challenge?wallet=${wallet.address}`)
    ).json();
    const signature = wallet.sign(challenge);
    const { submission_id } = await service.submit(
      claimOf(slug, { usdc_wallet: wallet.address, wallet_signature: signature }),
    );
    expect(check(await review(submission_id), "host")).toBe("noted");
    await service.prove(submission_id, "house.example");
    expect(check(await review(submission_id), "host")).toBe("passed");
    expect(
      (await (await service.get(`/api/nonprofits/${slug}`)).json()).wallet_proof,
    ).toBeUndefined();
    await approve(submission_id);
    const profile = await (await service.get(`/api/nonprofits/${slug}`)).json();
    expect(profile.wallet_proof).toEqual({ challenge, signature });
  });

  test("is won by the first operator, and by one of two claims", async () => {
    const slug = await aSlug();
    const [first, second] = await Promise.all([
      service.submit(claimOf(slug, { contact_name: "One" })),
      service.submit(claimOf(slug, { contact_name: "Other" })),
    ]);
    expect(check(await review(first.submission_id), "others")).toBe("noted");
    const name = (id: string) => `onboarding-${id}`;
    const twice = await Promise.all([
      service.decide(name(first.submission_id), "approve", {}, "ada"),
      service.decide(name(first.submission_id), "approve", {}, "bob"),
      service.decide(name(first.submission_id), "reject", { reason: "no" }, "bob"),
    ]);
    expect(twice.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
    const lost = twice.filter(({ status }) => status === 409);
    for (const response of lost) expect((await response.json()).code).toBe("review_decided");
    const late = await approve(second.submission_id);
    expect([late.status, late.body.code]).toEqual([409, "review_conflict"]);
    expect(late.body.detail).toContain("Another claim");
    expect((await service.live(slug)).verified).toBe(1);
    expect(
      (await service.decide(name(second.submission_id), "reject", { reason: "Claimed by them." }))
        .status,
    ).toBe(200);
  });

  test("of a profile withdrawn since cannot be approved", async () => {
    const slug = await aSlug();
    const { submission_id } = await service.submit(claimOf(slug));
    const { saveNonprofits } = await import("#content/nonprofit/save.ts");
    const before = await service.live(slug);
    await service.store.write((tx) =>
      saveNonprofits(tx, [{ before, after: { ...before, status: "withdrawn" } }], {
        origin: "test",
        now: new Date(),
      }),
    );
    expect((await approve(submission_id)).status).toBe(409);
    expect((await service.live(slug)).verified).toBe(0);
  });

  test("tells the operator what to weigh", async () => {
    const wallet = aWallet().address;
    await aSlug({ usdc_wallet: wallet });
    const slug = await aSlug({
      name: "Hope Kitchen",
      website: "https://hope.example",
      contact_email: null,
      registrations: [
        {
          country_code: "US",
          type: "EIN",
          registration_number: "53-0196605",
          org_id: "US-EIN-530196605",
        },
      ],
      country_code: "US",
    });
    const weighed = async (more: object) => {
      const { submission_id } = await service.submit(claimOf(slug, more));
      return review(submission_id);
    };
    const good = await weighed({
      contact_email: "a@hope.example",
      name: "The Hope Kitchen Inc",
      registration_number: "EIN 530196605",
      website: "http://www.hope.example/",
    });
    expect(
      ["e-mail", "name", "registration", "website", "duplicates"].map((name) => check(good, name)),
    ).toEqual(Array(5).fill("passed"));
    const bad = await weighed({
      contact_email: "a@mailinator.com",
      name: "Quick Loans",
      registration_number: "12-3456789",
      usdc_wallet: wallet,
      mission: "placeholder",
    });
    expect(
      ["e-mail", "name", "registration", "wallet owner", "test data"].map((name) =>
        check(bad, name),
      ),
    ).toEqual(Array(5).fill("failed"));
    expect(bad.flags).toEqual(["e-mail", "name", "registration", "wallet owner", "test data"]);
    // Who makes up an address makes up a website for it.
    const own = await weighed({
      contact_email: "a@quick.example",
      website: "https://quick.example",
    });
    expect(check(own, "e-mail")).toBe("noted");
  });
});

describe("a registration", () => {
  const registration = (name: string, more: object = {}) => ({
    name,
    country: "Kenya",
    contact_email: "a@lantern.example",
    ...more,
  });

  test("becomes a profile with a slug of its own, in all lists", async () => {
    await service.add(aNonprofit({ slug: "lantern", name: "Lantern", city: "Mombasa" }));
    const { submission_id, slug } = await service.submit(
      registration("Lantern", {
        city: "Kisumu",
        mission: "We teach.",
        registration_number: "KE/2001/77",
      }),
    );
    expect(slug).toBe("lantern-kisumu");
    expect((await service.get(`/api/nonprofits/${slug}`)).status).toBe(404);
    const { body } = await approve(submission_id, {
      value: JSON.stringify({ causes: ["education"], mission: "We teach children." }),
    });
    expect(body).toMatchObject({ slug });
    expect(await service.live(slug)).toMatchObject({
      name: "Lantern",
      verified: 1,
      status: "claimed",
      country_code: "KE",
      city: "Kisumu",
      causes: ["education"],
      mission: "We teach children.",
      register: null,
      provenance: { name: { set_by: "organisation" }, mission: { set_by: "operator" } },
      registrations: [{ registration_number: "KE/2001/77", org_id: null }],
    });
    const found = await (await service.get("/api/search?q=lantern&country=Kenya")).json();
    expect(found.nonprofits.map((one: { slug: string }) => one.slug)).toContain(slug);
  });

  test("shows what may be the same organisation, with the measure", async () => {
    await service.add(
      aNonprofit({
        slug: "surf-kids",
        name: "Surf Kids Mombasa",
        city: "Mombasa",
        website: "https://surfkids.example/en",
      }),
      aNonprofit({
        slug: "same-number",
        name: "Quite Another",
        country_code: "US",
        registrations: [
          {
            country_code: "US",
            type: "EIN",
            registration_number: "11-1111111",
            org_id: "US-EIN-111111111",
          },
        ],
      }),
    );
    const near = await service.submit(
      registration("The Surf Kids of Mombasa", {
        city: "Mombasa",
        website: "www.surfkids.example",
      }),
    );
    expect((await review(near.submission_id)).detail["duplicates"]).toMatchObject([
      {
        slug: "surf-kids",
        reasons: ["same_site", "near_name"],
        name_similarity: expect.any(Number),
      },
    ]);
    const number = await service.submit(
      registration("New Name", { country: "US", registration_number: "EIN 11-1111111" }),
    );
    expect((await review(number.submission_id)).detail["duplicates"]).toMatchObject([
      { slug: "same-number", reasons: ["same_registration"] },
    ]);
    const taken = await approve(number.submission_id);
    expect([taken.status, taken.body.detail]).toEqual([
      409,
      expect.stringContaining("same-number"),
    ]);
    // The number of another register becomes a taken one when the operator repairs the country.
    const moved = await service.submit(
      registration("Moved House", { country: "Kenya", registration_number: "11 1111111" }),
    );
    const edited = await approve(moved.submission_id, { value: '{"country":"US"}' });
    expect([edited.status, edited.body.detail]).toEqual([
      409,
      expect.stringContaining("same-number"),
    ]);
    expect((await approve(number.submission_id, { value: '{"country":null}' })).status).toBe(409);
  });

  test.each([
    ["US-EIN-112222222", "US", "11-2222222"],
    ["GB-CHC-210183", "United Kingdom", "Registered charity no. 210183"],
    ["GB-CHC-210183-1", "GB", "210183-1"],
    ["GB-SC-SC041666", "GB", "sc 041666"],
    ["GB-NIC-100012", "GB", "NIC100012"],
    ["AU-ABN-51824753556", "AU", "51 824 753 556"],
    ["XS-SAMPLE-0000042", "Kenya", "SAMPLE-0000042"],
    ["XS-SAMPLE-7-0000042", "Kenya", "sample 7-0000042"],
  ])("with the number of %s is found, written %p %p", async (org_id, country, number) => {
    const country_code = org_id.startsWith("XS") ? "KE" : org_id.slice(0, 2);
    const slug = org_id.toLowerCase();
    const held = { country_code, type: "Number", registration_number: number, org_id };
    await service.add(aNonprofit({ slug, name: "Held", country_code, registrations: [held] }));
    const sent = await service.submit(
      registration("Quite New", { country, registration_number: number }),
    );
    expect((await review(sent.submission_id)).detail["duplicates"]).toMatchObject([
      { slug, reasons: ["same_registration"] },
    ]);
  });

  test("with a number that another wrote otherwise is found", async () => {
    const first = await service.submit(
      registration("Number House", { registration_number: "KE/2001/99" }),
    );
    await approve(first.submission_id);
    const other = await service.submit(
      registration("Quite Else", { registration_number: "ke 2001-99" }),
    );
    expect((await review(other.submission_id)).detail["duplicates"]).toMatchObject([
      { slug: "number-house", reasons: ["same_registration"] },
    ]);
  });

  test("made to look like another is found, whatever its letters", async () => {
    await service.add(aNonprofit({ slug: "hope-orchard", name: "Hope Orchard", city: "Kitale" }));
    const { submission_id } = await service.submit(
      registration("\u041D\u043E\u0440\u0435 \u041Er\u0441h\u0430rd", { city: "Kitale" }),
    );
    const item = await review(submission_id);
    expect(item.detail["duplicates"]).toMatchObject([
      { slug: "hope-orchard", reasons: ["near_name"], name_similarity: 1 },
    ]);
    expect(check(item, "name")).toBe("noted");
    const elsewhere = await service.submit(registration("\u041D\u043E\u0440\u0435 Orchard"));
    expect((await review(elsewhere.submission_id)).detail["duplicates"]).toMatchObject([
      { slug: "hope-orchard" },
    ]);
  });

  test("twice makes one profile unless an operator says otherwise", async () => {
    const one = await service.submit(registration("Mangrove Guild", { city: "Lamu" }));
    const other = await service.submit(
      registration("Mangrove Guild Trust", { city: "Lamu", contact_email: "b@guild.example" }),
    );
    expect((await approve(one.submission_id)).status).toBe(200);
    const stopped = await approve(other.submission_id);
    expect([stopped.status, stopped.body.detail]).toEqual([
      409,
      expect.stringContaining("mangrove-guild"),
    ]);
    expect((await review(other.submission_id)).detail["duplicates"]).toMatchObject([
      { slug: "mangrove-guild" },
    ]);
    expect((await approve(other.submission_id)).body).toMatchObject({
      slug: "mangrove-guild-trust",
    });
  });

  test("is edited only within what an organisation may say", async () => {
    const { submission_id } = await service.submit(registration("Edited"));
    for (const value of [
      "x",
      "[]",
      '{"usdc_wallet":"x"}',
      '{"causes":["magic"]}',
      '{"website":"javascript:1"}',
      '{"name":""}',
      '{"country":"Atlantis"}',
    ]) {
      expect((await approve(submission_id, { value })).status).toBe(400);
    }
    expect(
      (await approve(submission_id, { value: '{"name":" Edited  Well ","city":null}' })).body.slug,
    ).toBe("edited-well");
  });
});

test("the queue is a page of the oldest, and its places stay good", async () => {
  const ids: string[] = [];
  for (let at = 0; at < 5; at++) {
    service.pass(1_000);
    ids.push((await service.submit(claimOf(await aSlug()))).submission_id);
  }
  const page = async (after: string) =>
    ReviewList.parse(
      await (await service.admin(`/api/admin/reviews?kind=onboarding&limit=2${after}`)).json(),
    );
  const seen: string[] = [];
  let after = "";
  for (;;) {
    const { reviews, next } = await page(after);
    seen.push(...reviews.map(({ id }) => id));
    if (reviews[0] !== undefined && after === "")
      await service.decide(reviews[0].id, "reject", { reason: "x" });
    if (next === null) break;
    after = `&after=${encodeURIComponent(next)}`;
  }
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.slice(-5)).toEqual(ids.map((id) => `onboarding-${id}`));
  expect((await service.decide("onboarding-zz", "approve")).status).toBe(404);
  expect((await service.decide("onboarding-abc", "approve")).status).toBe(404);
});
