import { describe, expect, test } from "bun:test";
import { sourceFrom } from "#content/nonprofit/record.ts";
import { ReviewItem } from "#content/contract/review.ts";
import {
  anOnboardingService,
  theOnboardingService,
  operatorTokens,
} from "#test/support/onboarding.ts";
import { aNonprofit } from "#test/support/records.ts";
import { theChain } from "#test/support/local-chain.ts";
import { aClient } from "#test/support/service.ts";
import { aWallet, type TestWallet } from "#test/support/wallets.ts";
import { forTests } from "#test/support/at-file-top.ts";

const hold = 72 * 3_600_000;
const chain = await theChain();
const service = await theOnboardingService([], { ALMONER_SOLANA_RPC_URLS: chain.url });

let made = 0;
/** A listing with a website that nobody claimed. */
async function aListing(more: object = {}): Promise<{ slug: string; host: string }> {
  const slug = `listing-${made++}`;
  const host = `${slug}.example`;
  await service.add(aNonprofit({ slug, website: `https://${host}`, ...more }));
  return { slug, host };
}

/** Sends a claim as the attacker would: from an address at the organisation's host, with a wallet of its own, signed. */
const claim = (slug: string, host: string, wallet: TestWallet) =>
  sendSigned({ claim_slug: slug }, host, wallet);

async function sendSigned(body: object, host: string, wallet: TestWallet): Promise<string> {
  service.pass(60_000);
  const asked = await service.get(`/api/onboard/challenge?wallet=${wallet.address}`);
  const { challenge } = (await asked.json()) as { challenge: string };
  const { submission_id } = await service.submit({
    ...body,
    contact_email: `office@${host}`,
    contact_name: `Person ${made++}`,
    usdc_wallet: wallet.address,
    wallet_signature: wallet.sign(challenge),
  });
  return submission_id;
}

/** An operator approves a claim, whatever else it does. */
const approveItem = async (id: string, body = {}) =>
  expect((await service.decide(id, "approve", body)).status).toBe(200);
const approve = (id: string, body = {}) => approveItem(`onboarding-${id}`, body);
/** A claim whose sender proves control of this host; answers its id. */
async function provenClaim(slug: string, host: string, wallet = aWallet()): Promise<string> {
  const id = await claim(slug, host, wallet);
  await service.prove(id, host);
  return id;
}
/** What an operator asks for, and gets. */
async function operate(path: string, body: object) {
  const bearer = { authorization: `Bearer ${operatorTokens.ada}` };
  const answer = await service.post(`/api/admin/${path}`, body, { ...bearer, ...aClient() });
  expect(answer.status).toBe(200);
  return answer.json();
}
const change = (verb: "revoke" | "withdraw" | "restore", slug: string) =>
  operate(`nonprofits/${slug}/${verb}`, { reason: "An impostor." });
const edit = (slug: string, website: string) =>
  operate(`nonprofits/${slug}/edit`, { values: { website }, reason: "Tidier." });
const merge = (slug: string, into: string) =>
  operate(`nonprofits/${slug}/merge`, { into, reason: "Twins." });
const enrich = (slug: string, value: string, agent_id: string) =>
  service.post(`/api/enrich/${slug}`, { field: "website", value, agent_id }, aClient());
/** Two ids of one machine make a website live. */
async function agree(slug: string, value: string): Promise<void> {
  for (const agent of ["a", "b"]) {
    expect((await enrich(slug, value, `${slug}-${agent}`)).status).toBe(200);
  }
  expect((await service.live(slug)).website).toBe(value);
}
/** The newest review of a kind. */
async function newest(kind: string): Promise<ReviewItem> {
  const answer = await (await service.admin(`/api/admin/reviews?kind=${kind}&limit=100`)).json();
  return ReviewItem.parse(answer.reviews.at(-1));
}
/** A website beside a decoy, so that an operator has to pick one. */
async function contested(slug: string, value: string): Promise<ReviewItem> {
  await enrich(slug, value, `${slug}-a`);
  await enrich(slug, "https://nonsense-decoy.example", `${slug}-b`);
  return newest("contested");
}
async function correct(slug: string, suggested_value: string): Promise<ReviewItem> {
  service.pass(1);
  const body = { field: "website", what_is_wrong: "It has moved.", suggested_value };
  expect((await service.post(`/api/corrections/${slug}`, body, aClient())).status).toBe(200);
  return newest("correction");
}
/** The recipient of the 402; null when it asks for no payment. */
async function payee(slug: string): Promise<string | null> {
  const response = await service.get(`/api/donate/${slug}`, aClient());
  if (response.status === 422) return null;
  expect(response.status).toBe(402);
  return ((await response.json()) as { recipient: string }).recipient;
}

describe("an attacker whose claim one operator approves", () => {
  test("is paid by no 402 before the hold ends, with an address at the host and a wallet of its own", async () => {
    const { slug, host } = await aListing();
    const wallet = aWallet();
    const id = await claim(slug, host, wallet);
    await approve(id);
    expect(await payee(slug)).toBeNull();
    expect((await service.live(slug)).usdc_wallet).toBeNull();
    service.pass(hold - 1);
    expect(await payee(slug)).toBeNull();
    const stopped = await service.decide(`hold-${id}`, "reject", { reason: "Not them." });
    expect(stopped.status).toBe(200);
    service.pass(hold);
    expect(await payee(slug)).toBeNull();
  });

  test("gets round the hold neither by a revocation nor with a proof after it", async () => {
    const { slug, host } = await aListing({ verified: 1, status: "claimed" });
    await change("revoke", slug);
    const wallet = aWallet();
    await approve(await provenClaim(slug, host, wallet));
    expect(await payee(slug)).toBeNull();
    service.pass(hold);
    expect(await payee(slug)).toBe(wallet.address);
  });

  test("gets round the hold neither by merging what was revoked, nor by undoing that", async () => {
    const { slug: gone, host } = await aListing({ verified: 1, status: "claimed" });
    await change("revoke", gone);
    const { slug: middle } = await aListing({ website: null });
    const { slug } = await aListing({ website: null });
    await merge(gone, middle);
    await merge(middle, slug);
    expect((await service.live(slug)).website).toBe(`https://${host}`);
    for (const restored of [null, gone, middle]) {
      if (restored !== null) await change("restore", restored);
      const id = await provenClaim(slug, host);
      const review = await service.review(id);
      expect(checkIn(review, "hold").message).toContain("was taken back before");
      if (restored !== middle)
        await service.decide(`onboarding-${id}`, "reject", { reason: "No." });
      else await approve(id);
    }
    expect(await payee(slug)).toBeNull();
  });

  // What the claimed profile has, the host that is proven, and how long ago.
  const byAgents = { provenance: { website: sourceFrom("consensus", 1) } };
  const byClaim = { provenance: { website: sourceFrom("organisation", 1) } };
  test.each<[what: string, profile: object, other: string | null, days: number]>([
    ["of a host that agents put into the profile", byAgents, null, 0],
    ["of a host that an earlier claim put into the profile", byClaim, null, 0],
    ["of another host", {}, "attacker.example", 0],
    ["that is 30 days old", {}, null, 30],
  ])("gains nothing from a proof %s", async (_, profile, other, days) => {
    const { slug, host } = await aListing(profile);
    const id = await claim(slug, host, aWallet());
    await service.prove(id, other ?? host);
    service.pass(days * 86_400_000);
    await approve(id);
    expect(await payee(slug)).toBeNull();
  });

  test("takes nothing along of what it corrected when the claim is taken back", async () => {
    const register = sourceFrom("register", 1, { source: "irs-bmf" });
    const agents = sourceFrom("consensus", 1, { agents: ["a", "b"] });
    const provenance = { website: register, city: agents };
    const { slug, host } = await aListing({ city: "Nairobi", mission: "To feed.", provenance });
    const ask = async (body: object) => {
      const sent = { claim_slug: slug, contact_email: "x@evil.example", ...body };
      await approve((await service.submit(sent)).submission_id);
    };
    const website = "https://evil.example";
    const corrects = ["website", "city", "mission"];
    await ask({ website, city: "Eviltown", mission: "To take.", corrects });
    // What replaces its own words keeps what these replaced.
    const { name } = await service.live(slug);
    await ask({ name: "Evil House", website: `${website}/2`, city: "Evilville" });
    expect(await service.live(slug)).toMatchObject({ name: "Evil House", website: `${website}/2` });
    const revoked = await change("revoke", slug);
    expect(revoked.taken_back).toEqual(["contact_email", "name", "mission", "website", "city"]);
    expect(revoked.put_back).toEqual(["name", "mission", "website", "city"]);
    const live = await service.live(slug);
    expect(live).toMatchObject({
      name,
      website: `https://${host}`,
      city: "Nairobi",
      mission: "To feed.",
      provenance,
      contact_email: null,
    });
    expect(live.provenance["mission"]).toBeUndefined();
    // Neither can agents bring it back.
    for (const agent of ["c", "d"]) await enrich(slug, website, `${slug}-${agent}`);
    expect((await service.live(slug)).website).toBe(`https://${host}`);
  });

  test("does not make its website the operator's by what the operator edits beside it", async () => {
    const { slug, host } = await aListing({ website: null, city: null });
    const website = `https://www.${host}/start?from=1`;
    const sent = { claim_slug: slug, contact_email: `office@${host}`, website, city: "Kisum" };
    const { submission_id } = await service.submit(sent);
    // The desk sends every field when one was edited; the website is only tidied.
    const value = JSON.stringify({ website: `https://${host}`, city: "Kisumu", country: null });
    await approve(submission_id, { value });
    const { provenance } = await service.live(slug);
    expect(provenance["website"]?.set_by).toBe("organisation");
    expect(provenance["city"]?.set_by).toBe("operator");
    await change("revoke", slug);
    expect((await service.live(slug)).website).toBeNull();
  });

  // Each gives a profile a website that strangers named, and that an operator only tidied or picked.
  const toEvil: Record<string, (slug: string, site: string) => Promise<void>> = {
    "a correction tidied": async (slug, site) => {
      await agree(slug, site.replace("https", "http"));
      const item = await correct(slug, site);
      expect(checkIn(item, "agents").message).toContain("came from agents");
      await approveItem(item.id);
    },
    "a correction brought": async (slug, site) => {
      await approveItem((await correct(slug, site)).id, { value: `${site}/welcome` });
    },
    "an edit tidied": async (slug, site) => {
      await agree(slug, site);
      await edit(slug, `${site}/`);
    },
    "an edit moved to another port": async (slug, site) => {
      await agree(slug, site);
      await edit(slug, `${site}:8443/start`);
    },
    "an operator picked among those of agents": async (slug, site) => {
      await approveItem((await contested(slug, site)).id, { value: site });
    },
    "an operator typed after one of agents, and tidied later": async (slug, site) => {
      await approveItem((await contested(slug, `${site}/decoy`)).id, { value: site });
      await edit(slug, `${site}/home`);
    },
    "a merge brought": async (slug, site) => {
      const other = aNonprofit({ website: null });
      await service.add(other);
      await agree(other.slug, site);
      await edit(other.slug, `${site}/`);
      await merge(other.slug, slug);
    },
    "a claim of another site was edited back to": async (slug, site) => {
      await agree(slug, site.replace("https", "http"));
      const body = { claim_slug: slug, website: `https://decoy-${slug}.example` };
      const asked = { ...body, corrects: ["website"], contact_email: "a@b.example" };
      const { submission_id } = await service.submit(asked);
      const value = JSON.stringify({ website: `${site}/home` });
      await approve(submission_id, { value });
    },
  };

  test.each(Object.keys(toEvil))("gains nothing from the proof of a host that %s", async (way) => {
    const { slug, host } = await aListing({ website: null });
    await toEvil[way]?.(slug, `https://${host}`);
    expect((await service.live(slug)).website).toContain(host);
    const wallet = aWallet();
    const id = await provenClaim(slug, host, wallet);
    const review = await service.review(id);
    for (const name of ["host", "e-mail"]) expect(checkIn(review, name).outcome).toBe("noted");
    await approve(id);
    expect(await payee(slug)).toBeNull();
    service.pass(hold);
    expect(await payee(slug)).toBe(wallet.address);
  });

  test("is the organisation, and paid, where an operator or a register named the proven host, whoever tidied it", async () => {
    const register = { website: sourceFrom("register", 1, { source: "irs-bmf" }) };
    for (const [provenance, isTidied] of [
      [{}, false],
      [{}, true],
      [register, true],
    ] as const) {
      const { slug, host } = await aListing({ provenance });
      if (isTidied) await approveItem((await correct(slug, `https://${host}/home`)).id);
      const wallet = aWallet();
      await approve(await provenClaim(slug, host, wallet));
      expect(await payee(slug)).toBe(wallet.address);
    }
    const { slug, host } = await aListing({ website: null });
    await agree(slug, "https://not-theirs.example");
    await edit(slug, `https://${host}`);
    await approve(await provenClaim(slug, host));
    expect(await payee(slug)).not.toBeNull();
  });

  test("is held with a registration whose own host is proven, and with what it asks for afterwards", async () => {
    const host = `registered-${made++}.example`;
    const body = { name: `Kitchen ${host}`, country: "Kenya", website: `https://${host}` };
    const first = aWallet();
    const id = await sendSigned(body, host, first);
    await service.prove(id, host);
    const review = await service.review(id);
    expect(checkIn(review, "host")).toMatchObject({ outcome: "noted" });
    expect(checkIn(review, "host").message).toContain("only the organisation itself");
    const decided = await service.decide(`onboarding-${id}`, "approve");
    const { slug } = (await decided.json()) as { slug: string };
    expect(await payee(slug)).toBeNull();
    await service.decide(`hold-${id}`, "reject", { reason: "Not them." });
    // The same with a website that a later change brought.
    for (const now of [host, `elsewhere-${host}`]) {
      const sent = { claim_slug: slug, contact_email: `office@${host}`, website: `https://${now}` };
      await approve((await service.submit(sent)).submission_id);
      const again = await sendSigned({ claim_slug: slug }, host, aWallet());
      await service.prove(again, now);
      await approve(again);
      expect(await payee(slug)).toBeNull();
      await service.decide(`hold-${again}`, "reject", { reason: "Not them." });
    }
  });

  test("is not paid after the profile was withdrawn and restored", async () => {
    const { slug, host } = await aListing();
    const id = await claim(slug, host, aWallet());
    await approve(id);
    const withdrawn = await change("withdraw", slug);
    expect(withdrawn.message).toContain("wallet on hold is stopped");
    service.pass(hold + 1);
    await change("restore", slug);
    expect(await payee(slug)).toBeNull();
  });
});

const checkIn = ({ checks }: ReviewItem, name: string) => {
  const found = checks.find((check) => check.name === name);
  if (found === undefined) throw new Error(`no check ${name}`);
  return found;
};

describe("where two operators approve a wallet", () => {
  const two = forTests(() => anOnboardingService([], { ALMONER_WALLET_APPROVALS: "2" }));
  const decide = async (id: string, operator: keyof typeof operatorTokens, value?: object) => {
    const body = value === undefined ? {} : { value: JSON.stringify(value) };
    const response = await two.decide(`onboarding-${id}`, "approve", body, operator);
    return { status: response.status, body: (await response.json()) as { complete?: boolean } };
  };
  const sent = async (slug: string) => {
    await two.add(aNonprofit({ slug }));
    const { submission_id } = await two.submit({
      claim_slug: slug,
      contact_email: "office@two.example",
      city: "Lamu",
      usdc_wallet: aWallet().address,
    });
    return submission_id;
  };

  test("one of them alone, twice, sets none", async () => {
    const id = await sent("alone");
    expect(await decide(id, "ada")).toMatchObject({ status: 200, body: { complete: false } });
    expect((await decide(id, "ada")).status).toBe(409);
    expect((await two.live("alone")).verified).toBe(0);
    expect((await two.review(id)).summary).toContain("1 of 2 approvals, by ada");
    expect(await decide(id, "bob")).toMatchObject({ status: 200, body: { complete: true } });
    expect((await two.live("alone")).verified).toBe(1);
  });

  test("the second approves the edits of the first, or counts as the first with other ones", async () => {
    const id = await sent("edited");
    await decide(id, "ada", { city: "Oslo" });
    const { editing, comparison } = await two.review(id);
    expect(editing?.current).toContain('"city":"Oslo"');
    expect(comparison).toContainEqual({ field: "city", before: null, after: "Oslo" });
    expect((await decide(id, "bob", {})).body.complete).toBe(false);
    expect((await decide(id, "ada", { city: "Oslo" })).body.complete).toBe(false);
    expect((await decide(id, "bob")).body.complete).toBe(true);
    expect((await two.live("edited")).city).toBe("Oslo");
  });

  test("the first counts only for what it was told: held, or at once", async () => {
    const { address, signature } = await two.provenWallet();
    await two.add(aNonprofit({ slug: "later", website: "https://later.example" }));
    const { submission_id: id } = await two.submit({
      claim_slug: "later",
      contact_email: "office@later.example",
      usdc_wallet: address,
      wallet_signature: signature,
    });
    expect((await decide(id, "ada")).body.complete).toBe(false);
    await two.prove(id, "later.example");
    expect((await decide(id, "bob")).body.complete).toBe(false);
    expect((await two.live("later")).usdc_wallet).toBeNull();
    expect((await decide(id, "ada")).body.complete).toBe(true);
    expect((await two.live("later")).usdc_wallet).toBe(address);
  });

  test("a first approval among many is not called done", async () => {
    const id = `onboarding-${await sent("among-many")}`;
    const bearer = { authorization: `Bearer ${operatorTokens.ada}` };
    const body = { ids: [id], decision: "approved" };
    const answer = await (await two.post("/api/admin/reviews", body, bearer)).json();
    const message = expect.stringContaining("another operator has to approve");
    expect(answer).toMatchObject({ done: 0, results: [{ id, done: false, message }] });
  });

  test("both at once count as two, and what sets no wallet needs one", async () => {
    const id = await sent("at-once");
    const both = await Promise.all([decide(id, "ada"), decide(id, "bob")]);
    expect(both.filter(({ body }) => body.complete === true)).toHaveLength(1);
    await two.add(aNonprofit({ slug: "plain" }));
    const plain = { claim_slug: "plain", contact_email: "office@two.example" };
    const { submission_id } = await two.submit(plain);
    expect((await decide(submission_id, "ada")).body.complete).toBe(true);
  });
});
