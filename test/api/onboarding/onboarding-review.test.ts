import { describe, expect, test } from "bun:test";
import { ReviewDecision, type ReviewItem } from "#content/contract/review.ts";
import { theOnboardingService } from "#test/support/onboarding.ts";
import { waysToGive } from "#content/nonprofit/ways-to-give.ts";
import { type NonprofitRecord, sourceFrom } from "#content/nonprofit/record.ts";
import { aNonprofit, anEin } from "#test/support/records.ts";
import { aWallet } from "#test/support/wallets.ts";

const service = await theOnboardingService();

let made = 0;
const aSlug = async (values: Partial<NonprofitRecord> = {}): Promise<string> => {
  const slug = `claimable-${made++}`;
  await service.add(aNonprofit({ slug, ...values }));
  return slug;
};
const claimOf = (claim_slug: string, more: object = {}) => ({
  claim_slug,
  contact_email: "office@house.example",
  ...more,
});

const submitted = async (body: object) => (await service.submit(body)).submission_id;
const { approve, review, reject } = {
  approve: (id: string, body?: object) => service.approve(id, body),
  review: (id: string) => service.review(id),
  reject: (id: string, reason: string, by?: "bob") =>
    service.decide(`onboarding-${id}`, "reject", { reason }, by),
};
const checksOf = (item: ReviewItem) =>
  Object.fromEntries(item.checks.map(({ name, outcome }) => [name, outcome]));

describe("a claim", () => {
  test("verifies the profile, fills what is empty, and keeps the contact private", async () => {
    const slug = await aSlug({ mission: "Ours.", contact_email: "info@agents.example" });
    const given = { website: "https://house.example", city: "Kisumu" };
    const more = { mission: "Theirs.", usdc_wallet: aWallet().address, contact_name: "Ada" };
    const id = await submitted(claimOf(slug, { ...given, ...more }));
    const before = { verified: 0, status: "listed", usdc_wallet: null, city: null };
    expect(await service.live(slug)).toMatchObject(before);
    const item = await review(id);
    const detail = { type: "claim", contact_name: "Ada", stays_as_it_is: { mission: "Theirs." } };
    expect(item).toMatchObject({ kind: "onboarding", slug, detail });
    const filled = ["city", "contact_email", "website"];
    const compared = item.comparison.map(({ field }) => field);
    expect(compared.sort()).toEqual([...filled, "usdc_wallet", "verified"].sort());
    const { status, body } = await approve(id);
    expect([status, ReviewDecision.parse(body)]).toMatchObject([200, { slug, live: true }]);
    const after = await service.live(slug);
    expect(after).toMatchObject({
      ...given,
      verified: 1,
      status: "claimed",
      mission: "Ours.",
      contact_email: "office@house.example",
      usdc_wallet: null,
    });
    for (const field of filled)
      expect(after.provenance[field]).toMatchObject({ set_by: "organisation", agents: [] });
    const [change] = (await service.json(`/api/history/${slug}`)).changes;
    expect(change).toMatchObject({ origin: "onboarding" });
    expect(change.fields).toContain("website");
    const profile = await (await service.get(`/api/nonprofits/${slug}`)).text();
    expect(profile).not.toMatch(/office@|Ada/);
    expect(JSON.parse(profile)).toMatchObject({ verified: 1, has_contact_email: true });
  });

  test("corrects a live value that it says is wrong, and says so when it is sent", async () => {
    const website = "https://wrong.example";
    const provenance = { website: sourceFrom("consensus", 1), city: sourceFrom("register", 1) };
    const van = { name: "Van", description: null, beneficiaries_per_year: null, location: null };
    const live = { website, city: "Lamu", mission: "Ours.", programs: [van] };
    const slug = await aSlug({ ...live, provenance });
    const right = { website: "https://right.example", city: "Kisumu" };
    const corrects = ["website", "city"];
    const claim = claimOf(slug, { ...right, mission: "Theirs.", programs: "Alpha: a", corrects });
    const { submission_id, message } = await service.submit(claim);
    expect(message).toContain("replaces the profile's website, city");
    expect(message).toContain("keeps its mission, programs");
    const { detail } = await review(submission_id);
    expect(detail["corrects"]).toEqual(corrects);
    expect(detail["stays_as_it_is"]).toEqual({ mission: "Theirs.", programs: "Alpha: a" });
    expect((await service.send(claimOf(slug, { corrects: ["name"] }))).status).toBe(400);
    expect((await approve(submission_id)).body.message).toContain("website, city is corrected");
    const after = await service.live(slug);
    expect(after).toMatchObject({ ...live, ...right });
    expect(after.provenance["website"]?.set_by).toBe("organisation");
  });

  test("gives the profile its donation page, logo, tagline and programmes", async () => {
    const slug = await aSlug({ donation_url: "https://agents.example/give" });
    const given = { logo_url: "https://oak.example/logo.png", tagline: "Warm meals" };
    const claim = claimOf(slug, {
      ...given,
      donation_url: "www.oak.example/give",
      programs: "Night kitchen: soup until ten\nVan",
      corrects: ["donation_url"],
    });
    await approve(await submitted(claim));
    const live = await service.live(slug);
    const programs = [{ name: "Night kitchen", description: "soup until ten" }, { name: "Van" }];
    const donation_url = "https://www.oak.example/give";
    expect(live).toMatchObject({ ...given, donation_url, programs });
    const [way] = waysToGive(live, { baseUrl: "" });
    expect(way).toMatchObject({ kind: "donation_page", url: donation_url });
  });

  test("publishes the proof of its wallet, at once where control of the host is proven", async () => {
    const slug = await aSlug({ website: "https://house.example" });
    const { address, challenge, signature } = await service.provenWallet();
    const proof = { usdc_wallet: address, wallet_signature: signature };
    const id = await submitted(claimOf(slug, proof));
    expect(checksOf(await review(id))["host"]).toBe("noted");
    await service.prove(id, "house.example");
    expect(checksOf(await review(id))["host"]).toBe("passed");
    const published = async () => (await service.json(`/api/nonprofits/${slug}`)).wallet_proof;
    expect(await published()).toBeUndefined();
    await approve(id);
    expect(await published()).toEqual({ challenge, signature });
  });

  test("is won by the first operator, and by one of two claims", async () => {
    const slug = await aSlug();
    const [first = "", second = ""] = await Promise.all(
      ["One", "Other"].map((contact_name) => submitted(claimOf(slug, { contact_name }))),
    );
    expect(checksOf(await review(first))["others"]).toBe("noted");
    const twice = await Promise.all([
      service.decide(`onboarding-${first}`, "approve", {}, "ada"),
      service.decide(`onboarding-${first}`, "approve", {}, "bob"),
      reject(first, "no", "bob"),
    ]);
    expect(twice.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
    for (const lost of twice.filter(({ status }) => status === 409))
      expect((await lost.json()).code).toBe("review_decided");
    const late = await approve(second);
    expect(late).toMatchObject({ status: 409, body: { code: "review_conflict" } });
    expect(late.body.detail).toContain("Another claim");
    expect((await service.live(slug)).verified).toBe(1);
    expect((await reject(second, "Claimed by them.")).status).toBe(200);
  });

  test("of a profile withdrawn since cannot be approved", async () => {
    const slug = await aSlug();
    const id = await submitted(claimOf(slug));
    await service.change(slug, { status: "withdrawn" });
    expect((await approve(id)).status).toBe(409);
  });

  test("tells the operator what to weigh", async () => {
    const usdc_wallet = aWallet().address;
    await aSlug({ usdc_wallet });
    const slug = await aSlug({
      name: "Hope Kitchen",
      website: "https://hope.example",
      country_code: "US",
      registrations: [anEin("53-0196605")],
    });
    const weighed = await review(
      await submitted(
        claimOf(slug, {
          contact_email: "a@mailinator.com",
          name: "Quick Loans",
          registration_number: "12-3456789",
          usdc_wallet,
          mission: "placeholder",
        }),
      ),
    );
    const failed = ["e-mail", "name", "registration", "wallet owner", "test data"];
    expect(weighed.flags).toEqual(failed);
    for (const name of failed) expect([name, checksOf(weighed)[name]]).toEqual([name, "failed"]);
  });
});

describe("a registration", () => {
  const registration = (name: string, more: object = {}) => ({
    name,
    country: "Kenya",
    contact_email: "a@lantern.example",
    ...more,
  });
  const duplicatesOf = async (id: string) => (await review(id)).detail["duplicates"];
  /** That it cannot be approved, because of another profile. */
  const isTaken = async (id: string, by: string, body?: object) =>
    expect(await approve(id, body)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(by) },
    });

  test("becomes a profile with a slug of its own, in all lists", async () => {
    await service.add(aNonprofit({ slug: "lantern", name: "Lantern", city: "Mombasa" }));
    const registration_number = "KE/2001/77";
    const { submission_id, slug } = await service.submit(
      registration("Lantern", { city: "Kisumu", mission: "We teach.", registration_number }),
    );
    expect(slug).toBe("lantern-kisumu");
    expect((await service.get(`/api/nonprofits/${slug}`)).status).toBe(404);
    const edits = { causes: ["education"], mission: "We teach children." };
    const { body } = await approve(submission_id, { value: JSON.stringify(edits) });
    expect(body).toMatchObject({ slug });
    expect(await service.live(slug)).toMatchObject({
      ...edits,
      name: "Lantern",
      verified: 1,
      status: "claimed",
      country_code: "KE",
      city: "Kisumu",
      register: null,
      provenance: { name: { set_by: "organisation" }, mission: { set_by: "operator" } },
      registrations: [{ registration_number, org_id: null }],
    });
    const { nonprofits } = await service.json("/api/search?q=lantern&country=Kenya");
    expect(nonprofits).toContainEqual(expect.objectContaining({ slug }));
  });

  test("shows what may be the same organisation, with the measure", async () => {
    const city = "Mombasa";
    await aSlug({
      slug: "surf-kids",
      name: `Surf Kids ${city}`,
      city,
      website: "surfkids.example",
    });
    const near = { city, website: "www.surfkids.example" };
    const id = await submitted(registration("The Surf Kids of Mombasa", near));
    const reasons = ["same_site", "near_name"];
    const measure = { slug: "surf-kids", reasons, name_similarity: expect.any(Number) };
    expect(await duplicatesOf(id)).toMatchObject([measure]);
  });

  test("with a number that is taken cannot be approved", async () => {
    const held = { slug: "same-number", name: "Quite Another", country_code: "US" };
    await aSlug({ ...held, registrations: [anEin("11-1111111")] });
    const number = { country: "US", registration_number: "EIN 11-1111111" };
    const id = await submitted(registration("New Name", number));
    await isTaken(id, "same-number");
    // The number of another register becomes a taken one when the operator repairs the country.
    const elsewhere = { registration_number: "11 1111111" };
    const moved = await submitted(registration("Moved House", elsewhere));
    await isTaken(moved, "same-number", { value: '{"country":"US"}' });
    expect((await approve(id, { value: '{"country":null}' })).status).toBe(409);
  });

  test("with a number that another wrote otherwise is found", async () => {
    const numbered = (name: string, registration_number: string) =>
      submitted(registration(name, { registration_number }));
    await approve(await numbered("Number House", "KE/2001/99"));
    const found = [{ slug: "number-house", reasons: ["same_registration"] }];
    expect(await duplicatesOf(await numbered("Quite Else", "ke 2001-99"))).toMatchObject(found);
  });

  test("made to look like another is found, whatever its letters", async () => {
    const city = "Kitale";
    await aSlug({ slug: "hope-orchard", name: "Hope Orchard", city });
    const name = "\u041D\u043E\u0440\u0435 \u041Er\u0441h\u0430rd";
    const item = await review(await submitted(registration(name, { city })));
    const found = { slug: "hope-orchard", reasons: ["near_name"], name_similarity: 1 };
    expect(item.detail["duplicates"]).toMatchObject([found]);
    expect(checksOf(item)["name"]).toBe("noted");
    const elsewhere = await submitted(registration("\u041D\u043E\u0440\u0435 Orchard"));
    expect(await duplicatesOf(elsewhere)).toMatchObject([{ slug: "hope-orchard" }]);
  });

  test("twice makes one profile unless an operator says otherwise", async () => {
    const city = "Lamu";
    const first = await submitted(registration("Mangrove Guild", { city }));
    const second = { city, contact_email: "b@guild.example" };
    const other = await submitted(registration("Mangrove Guild Trust", second));
    expect((await approve(first)).status).toBe(200);
    await isTaken(other, "mangrove-guild");
    expect(await duplicatesOf(other)).toMatchObject([{ slug: "mangrove-guild" }]);
    expect((await approve(other)).body).toMatchObject({ slug: "mangrove-guild-trust" });
  });
});

test("a change to the name of another profile, which came up since it was sent, is stopped once", async () => {
  const slug = await aSlug({ name: "Tide Watch", city: "Kilifi" });
  await approve(await submitted(claimOf(slug)));
  const id = await submitted(claimOf(slug, { name: "Reef Watch" }));
  await aSlug({ name: "Reef Watch", city: "Kilifi" });
  const { status, body } = await approve(id);
  expect([status, body]).toMatchObject([409, { detail: expect.stringContaining("claimable-") }]);
  expect((await service.live(slug)).name).toBe("Tide Watch");
  expect((await approve(id)).status).toBe(200);
  expect((await service.live(slug)).name).toBe("Reef Watch");
});
