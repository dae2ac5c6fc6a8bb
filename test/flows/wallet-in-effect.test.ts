import { expect, test } from "bun:test";
import { OnboardingBody } from "#content/contract/onboarding.ts";
import * as fc from "fast-check";
import { onboardingKeys } from "#content/onboarding/keys.ts";
import { onboard } from "#content/onboarding/onboard.ts";
import { correct } from "#content/correction/correct.ts";
import {
  editProfile,
  mergeProfile,
  restoreProfile,
  withdrawProfile,
  revokeVerification,
} from "#content/operator/change-profile.ts";
import { decideReview } from "#api/operator/requests.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { sourceFrom } from "#content/nonprofit/record.ts";
import { donateTarget } from "#content/giving/store.ts";
import { hostProofLifeMs } from "#content/onboarding/host-proof.ts";
import { onboardingStore } from "#content/onboarding/store.ts";
import { challengeFor, type Issuer } from "#content/onboarding/wallet-challenge.ts";
import { applyDueWallets } from "#content/onboarding/wallet-hold-store.ts";
import { doAll } from "#content/store/query.ts";
import { aNonprofit } from "#test/support/records.ts";
import { theChain } from "#test/support/local-chain.ts";
import { theService } from "#test/support/service.ts";
import { aWallet, type TestWallet } from "#test/support/wallets.ts";
import { isFull, measured, shown } from "#test/support/measured.ts";

/** Promise 9 says 10,000: ALMONER_FULL_TESTS=1 plays them all, else fewer. */
const interleavings = isFull ? 10_000 : 60;
const hold = 72 * 3_600_000;
const someWallets = () => Array.from({ length: 3 }, () => aWallet());
let wallets = someWallets();

const startMs = Date.parse("2026-06-01T12:00:00Z");
let nowMs = startMs;
const chain = await theChain();
const service = await theService({
  env: { ALMONER_TRUSTED_HOPS: "1", ALMONER_SOLANA_RPC_URLS: chain.url },
  context: { clock: () => new Date(nowMs) },
});

/** What anybody may do, in any order, at any time; a number picks one of the requests that were sent so far. */
type Step =
  | { kind: "send"; wallet: number | null; signed: boolean; moves: boolean }
  | { kind: "approve" | "second"; pick: number; edit: Edit }
  | { kind: "reject" | "stop" | "both"; pick: number }
  | { kind: "prove"; pick: number; host: Host }
  | { kind: "pass"; ms: number }
  | { kind: "sweep" }
  | { kind: "withdraw" }
  | { kind: "restore" }
  | { kind: "revoke"; takeBack: boolean }
  | { kind: "edit" | "correct"; host: Host }
  | { kind: "agree" | "contest" }
  | { kind: "merge"; named: boolean; wasRevoked: boolean };

const hosts = ["first", "own", "typed", "sent", "nowhere"] as const;
/** The host of the website that was there first, the claimant's own, one that the operator typed, one of agents, and one of nobody. */
type Host = (typeof hosts)[number];
const siteOf = (slug: string, host: Host) => `https://${slug}-${host}.example`;
const hostOf = (site: string | null) => hosts.find((host) => site?.includes(`-${host}.`)) ?? null;

/** What an operator edits: nothing, a city beside the website as it was sent, or the website. */
type Edit = "nothing" | "beside" | "website";

const anyPick = { pick: fc.nat(5) };
const oneOf = fc.constantFrom;
const often = <Made extends Step>(weight: number, parts: Parts<Made>) => ({
  weight,
  arbitrary: fc.record(parts) as unknown as fc.Arbitrary<Step>,
});
type Parts<Made> = { [Name in keyof Made]: fc.Arbitrary<Made[Name]> };
const anyPause = oneOf(1, 3_600_000, hold / 2, hold - 1, hold, hold + 1, 10 * hold, -3_600_000);
const anyEdit = oneOf<Edit[]>("nothing", "nothing", "beside", "website");
const anyHost = oneOf<Host[]>("first", "first", "own", "typed", "sent", "sent", "nowhere");
const step: fc.Arbitrary<Step> = fc.oneof(
  often(4, {
    kind: oneOf("send"),
    wallet: fc.option(fc.nat(2), { freq: 8 }),
    signed: fc.boolean(),
    moves: fc.boolean(),
  }),
  often(7, { kind: oneOf("approve", "second"), ...anyPick, edit: anyEdit }),
  often(4, { kind: oneOf("prove"), ...anyPick, host: anyHost }),
  often(1, { kind: oneOf("reject", "both"), ...anyPick }),
  often(2, { kind: oneOf("stop"), ...anyPick }),
  often(4, { kind: oneOf("pass"), ms: anyPause }),
  often(5, { kind: oneOf("sweep", "withdraw", "withdraw", "restore", "restore") }),
  often(1, { kind: oneOf("revoke"), takeBack: fc.boolean() }),
  often(3, {
    kind: oneOf("edit", "correct"),
    host: oneOf<Host[]>("first", "own", "typed", "sent"),
  }),
  often(2, { kind: oneOf("agree", "contest") }),
  often(1, { kind: oneOf("merge"), named: fc.boolean(), wasRevoked: fc.boolean() }),
);

type Sent = {
  id: string;
  type: "claim" | "change";
  wallet: string | null;
  signed: boolean;
  moves: boolean;
  proof: { host: Host; at: number } | null;
  first: { by: string; edit: Edit; held: boolean } | null;
  wasHeld: boolean;
  status: "pending" | "approved" | "rejected";
};

/** A website, and who named its host: nobody but a register or an operator is believed. */
type Site = {
  url: string | null;
  by: "believed" | "organisation" | "anyone";
  /** What comes back when the organisation's word in its place is taken back. */
  replaced?: Site | undefined;
};

/**
 * What the promise says, without a store: an approved wallet is in effect when its hold has passed, or at once where
 * control of the wallet is proven and of a host that somebody else named, no other is there, and no verification was ever
 * taken back.
 */
class Promised {
  verified: boolean;
  wallet: string | null;
  revoked = false;
  withdrawn = false;
  site: Site;
  approvals: 1 | 2;
  held: { id: string; wallet: string; from: number } | null = null;
  sent: Sent[] = [];

  constructor(wallet: string | null, { verified, approvals }: Start, url: string | null) {
    this.site = { url, by: "believed" };
    this.wallet = wallet;
    this.verified = verified;
    this.approvals = approvals;
  }

  inEffect(now: number): string | null {
    return this.held !== null && this.held.from <= now ? this.held.wallet : this.wallet;
  }
  settle(now: number): void {
    this.wallet = this.inEffect(now);
    if (this.held !== null && this.held.from <= now) this.held = null;
  }
  approve(one: Sent, by: string, given: Edit, now: number, slug: string): boolean {
    this.settle(now);
    if (one.status !== "pending" || this.withdrawn) return false;
    if ((one.type === "claim") === this.verified) return false;
    const edit = given === "nothing" ? (one.first?.edit ?? given) : given;
    const approval = { by, edit, held: !this.isAtOnce(one, now) };
    const counted = one.wallet === null || one.wallet === this.wallet || this.counts(one, approval);
    if (counted !== true) return counted === "first";
    one.status = "approved";
    this.verified = true;
    this.move(one, edit, slug);
    if (one.wallet !== null) this.pay(one, one.wallet, approval.held, now);
    return true;
  }
  /** Whether there are enough approvals of this wallet. The first of two is one, and the same operator again is none. */
  counts(one: Sent, approval: NonNullable<Sent["first"]>): true | "first" | "again" {
    if (this.approvals === 1) return true;
    const { first } = one;
    const isSame = first?.edit === approval.edit && first.held === approval.held;
    if (isSame) return first.by === approval.by ? "again" : true;
    one.first = approval;
    return "first";
  }
  pay(one: Sent, wallet: string, held: boolean, now: number): void {
    this.held = null;
    if (this.wallet === wallet || !held) this.wallet = wallet;
    else {
      this.held = { id: one.id, wallet, from: now + hold };
      one.wasHeld = true;
    }
  }
  /** A claim replaces a website only if it says that it is wrong; the same one keeps whose word it is. */
  move({ type, moves }: Sent, edit: Edit, slug: string): void {
    const sent = moves ? siteOf(slug, "own") : null;
    const url = edit === "website" ? siteOf(slug, "typed") : sent;
    const isKept = type === "claim" && this.site.url !== null && !moves;
    if (url === null || url === this.site.url || isKept) return;
    if (edit === "website") this.put(url, "believed");
    else {
      const replaced = this.site.by === "organisation" ? this.site.replaced : this.site;
      this.site = { url, by: "organisation", replaced };
    }
  }
  /** An operator sets a website, of their own or as someone sent it: the host stays the word of who named it first. */
  put(url: string, by: Site["by"]): void {
    this.site = hostOf(url) === hostOf(this.site.url) ? { ...this.site, url } : { url, by };
  }
  isAtOnce({ signed, proof }: Sent, now: number): boolean {
    const isProven = signed && proof?.host === hostOf(this.site.url) && this.site.by === "believed";
    const isFresh = proof !== null && proof.at > now - hostProofLifeMs;
    return isProven && isFresh && this.wallet === null && !this.revoked;
  }
  reject(one: Sent): boolean {
    if (one.status !== "pending") return false;
    one.status = "rejected";
    return true;
  }
  stop(one: Sent, now: number): boolean {
    if (one.wasHeld) this.settle(now);
    if (this.held?.id !== one.id) return false;
    this.held = null;
    return true;
  }
}

let made = 0;

type Start = { wallet: boolean; verified: boolean; approvals: 1 | 2; website: boolean };

const byOrganisation = sourceFrom("organisation", 0);

/** Without a country nothing is compared: thousands of runs would find each other as duplicates. */
const aStart = (slug: string, { wallet, verified, website }: Start) =>
  aNonprofit({
    slug,
    country_code: null,
    causes: [],
    website: website ? siteOf(slug, "first") : null,
    usdc_wallet: wallet ? (wallets[0]?.address ?? null) : null,
    provenance: wallet ? { usdc_wallet: byOrganisation } : {},
    verified: verified ? 1 : 0,
    status: verified ? "claimed" : "listed",
  });

async function play(steps: readonly Step[], start: Start) {
  const slug = `run-${made++}`;
  // Wallets of its own, because each of their challenges counts once.
  [nowMs, wallets] = [startMs, someWallets()];
  const { usdc_wallet, website } = aStart(slug, start);
  await service.add(aStart(slug, start));
  const promised = new Promised(usdc_wallet, start, website);
  for (const one of steps) {
    await take(one, slug, promised);
    const target = await donateTarget(service.store, slug, new Date(nowMs));
    expect(target?.usdc_wallet ?? null).toBe(promised.inEffect(nowMs));
    const rows = await service.rows("SELECT usdc_wallet, verified FROM nonprofits WHERE slug = ?", [
      slug,
    ]);
    expect([rows[0]?.["usdc_wallet"], rows[0]?.["verified"]]).toEqual([
      promised.wallet,
      promised.verified ? 1 : 0,
    ]);
  }
  return slug;
}

async function take(one: Step, slug: string, promised: Promised): Promise<void> {
  const { context, store } = service;
  if ("pick" in one) {
    const picked = promised.sent[one.pick % Math.max(1, promised.sent.length)];
    if (picked !== undefined) await takeOn(picked, one, slug, promised);
  } else if (one.kind === "pass") nowMs += one.ms;
  else if (one.kind === "send") await send(one, slug, promised);
  else if (one.kind === "sweep") {
    await applyDueWallets(store, new Date(nowMs));
    promised.settle(nowMs);
  } else if (one.kind === "revoke") await revoke(one.takeBack, slug, promised);
  else if (one.kind === "withdraw" || one.kind === "restore") {
    const verb = one.kind === "withdraw" ? withdrawProfile : restoreProfile;
    const done = await verb(context, { slug, ...byAda });
    promised.settle(nowMs);
    expect(done.ok).toBe((one.kind === "withdraw") !== promised.withdrawn);
    promised.withdrawn = one.kind === "withdraw";
    if (promised.withdrawn) promised.held = null;
  } else await setWebsite(one, slug, promised);
}

async function revoke(takeBack: boolean, slug: string, promised: Promised): Promise<void> {
  const call = { slug, ...byAda, take_back_values: takeBack };
  const revoked = await revokeVerification(service.context, call);
  promised.settle(nowMs);
  expect(revoked.ok).toBe(promised.verified);
  if (!promised.verified) return;
  Object.assign(promised, { verified: false, wallet: null, held: null, revoked: true });
  if (takeBack && promised.site.by === "organisation") {
    promised.site = promised.site.replaced ?? { url: null, by: "believed" };
  }
}

type Setting = Extract<Step, { kind: "edit" | "correct" | "agree" | "contest" | "merge" }>;

/** A website comes into the profile, by whoever. Each is new, so that it is never there already. */
async function setWebsite(one: Setting, slug: string, promised: Promised): Promise<void> {
  const url = `${siteOf(slug, "host" in one ? one.host : "sent")}/${made++}`;
  if (promised.withdrawn) return;
  if (one.kind === "edit") {
    const edited = await editProfile(service.context, { ...byAda, slug, values: { website: url } });
    expect(edited.ok).toBe(true);
    promised.put(url, "believed");
    promised.settle(nowMs);
  } else if (one.kind === "correct") {
    await correctTo(slug, url);
    promised.put(url, "anyone");
    promised.settle(nowMs);
  } else if (one.kind === "merge") {
    await mergeInto(slug, url, one);
    promised.revoked ||= one.wasRevoked;
    if (promised.site.url === null) promised.site = { url, by: one.named ? "believed" : "anyone" };
  } else if (promised.site.url === null) {
    await (one.kind === "agree" ? sendWebsites(slug, url, url) : contestTo(slug, url));
    promised.site = { url, by: "anyone" };
  }
}

const byAda = { operator: "ada", reason: "test" };

async function approve(id: string, value: string | null = null): Promise<void> {
  const call = { id, decision: "approved" as const, value, ...byAda };
  expect((await decideReview(service.context, call)).ok).toBe(true);
}

async function correctTo(slug: string, url: string): Promise<void> {
  const body = { field: "website", what_is_wrong: `Reason ${made}.`, suggested_value: url };
  const call = { slug, body, idempotencyKey: null, network: null, countStored: () => {} };
  const links = { baseUrl: "https://almoner.example", statusToken: (id: string) => id };
  const sent = await correct({ ...service.context, ...links }, call);
  if (!sent.ok) throw new Error(sent.failure.kind);
  await approve(`correction-${sent.value.correction_id}`);
}

/** Another profile, whose website agents named or not, claimed before or not, is withdrawn in favour of this one. */
async function mergeInto(
  slug: string,
  website: string,
  { named, wasRevoked }: Extract<Setting, { kind: "merge" }>,
): Promise<void> {
  const provenance = named ? {} : { website: sourceFrom("consensus", 0) };
  const status = wasRevoked ? "claimed" : "listed";
  const other = aNonprofit({ website, country_code: null, causes: [], provenance, status });
  await service.add(other);
  if (wasRevoked) await revokeVerification(service.context, { ...byAda, slug: other.slug });
  const call = { ...byAda, slug: other.slug, into: slug };
  expect((await mergeProfile(service.context, call)).ok).toBe(true);
}

async function contestTo(slug: string, url: string): Promise<void> {
  await sendWebsites(slug, url, `https://decoy-${made}.example`);
  const record = await recordBySlug(service.store, slug);
  await approve(`contested-${record?.id ?? 0}-website`, url);
}

/** Two agents of one network send a website each. */
async function sendWebsites(slug: string, ...values: string[]): Promise<void> {
  for (const value of values) {
    const body = { field: "website", value, agent_id: `agent-${made++}` };
    const client = { "x-forwarded-for": `10.5.${(made >> 8) & 255}.${made & 255}` };
    expect((await service.post(`/api/enrich/${slug}`, body, client)).status).toBe(200);
  }
}

/** Does something with one of the requests. */
async function takeOn(
  picked: Sent,
  one: Extract<Step, { pick: number }>,
  slug: string,
  promised: Promised,
): Promise<void> {
  const config = { ...service.context.config, walletApprovals: promised.approvals };
  const context = { ...service.context, config };
  const decide = async (
    what: string,
    decision: "approved" | "rejected",
    operator: string,
    value: string | null = null,
  ) => {
    const call = { id: `${what}-${picked.id}`, decision, operator, value, reason: "because" };
    return (await decideReview(context, call)).ok;
  };
  if (one.kind === "approve" || one.kind === "second") {
    const by = one.kind === "approve" ? "ada" : "bob";
    const done = await decide("onboarding", "approved", by, editOf(one.edit, picked, slug));
    expect(done).toBe(promised.approve(picked, by, one.edit, nowMs, slug));
  } else if (one.kind === "prove") {
    const host = new URL(siteOf(slug, one.host)).hostname;
    const proof = { proven_host: host, proven_by: "file", proven_at: nowMs } as const;
    await service.store.write((tx) => doAll(tx, [onboardingStore.changeWaiting(picked.id, proof)]));
    if (picked.status === "pending") picked.proof = { host: one.host, at: nowMs };
  } else if (one.kind === "reject") {
    expect(await decide("onboarding", "rejected", "ada")).toBe(promised.reject(picked));
  } else if (one.kind === "stop") {
    expect(await decide("hold", "rejected", "ada")).toBe(promised.stop(picked, nowMs));
  } else {
    // Two operators at once: the first in the queue of writes wins.
    const done = await Promise.all([
      decide("onboarding", "approved", "ada"),
      decide("onboarding", "rejected", "bob"),
      decide("hold", "rejected", "bob"),
    ]);
    expect(done).toEqual([
      promised.approve(picked, "ada", "nothing", nowMs, slug),
      promised.reject(picked),
      promised.stop(picked, nowMs),
    ]);
  }
}

/** As the desk sends it: all fields when one was edited. */
function editOf(edit: Edit, { moves }: Sent, slug: string): string | null {
  if (edit === "nothing") return null;
  const sent = moves ? siteOf(slug, "own") : null;
  const website = edit === "website" ? siteOf(slug, "typed") : sent;
  return JSON.stringify({ website, city: edit === "beside" ? "Lamu" : null });
}

const signature = (wallet: TestWallet, issuer: Issuer) =>
  wallet.sign(challengeFor(wallet.address, new Date(nowMs), issuer).text);

type Sending = Extract<Step, { kind: "send" }>;

async function send(
  { wallet: number, signed, moves }: Sending,
  slug: string,
  promised: Promised,
): Promise<void> {
  // Nothing can be asked for a withdrawn profile.
  if (promised.withdrawn) return;
  const { context, store } = service;
  const keys = onboardingKeys(context);
  const { clock, config } = context;
  const verb = { store, clock, config, baseUrl: "https://almoner.example", ...keys };
  const wallet = number === null ? undefined : wallets[number];
  // Each challenge counts once, and a wallet gets one a minute.
  if (signed) nowMs += 60_000;
  const body = {
    claim_slug: slug,
    contact_email: "a@b.example",
    contact_name: `Person ${made++}`,
    usdc_wallet: wallet?.address,
    ...(moves ? { website: siteOf(slug, "own"), corrects: "website" } : {}),
    wallet_signature: signed && wallet !== undefined ? signature(wallet, keys.issuer) : undefined,
  };
  const outcome = await onboard(verb, {
    body: OnboardingBody.parse(body),
    idempotencyKey: null,
    network: null,
    countStored: () => {},
  });
  if (!outcome.ok) throw new Error(outcome.failure.kind);
  const { submission_id: id, type } = outcome.value;
  const expected = promised.verified ? "change" : "claim";
  expect(type).toBe(expected);
  promised.sent.push({
    id,
    type: expected,
    wallet: wallet?.address ?? null,
    signed,
    moves,
    proof: null,
    first: null,
    wasHeld: false,
    status: "pending",
  });
}

/** Chance finds these seldom: a website of strangers that an operator tidies or picks, and a claim that proves its host. */
const strangersSites: Step[][] = [
  [{ kind: "contest" }],
  [{ kind: "agree" }, { kind: "edit", host: "sent" }],
  [{ kind: "agree" }, { kind: "correct", host: "sent" }],
  [
    { kind: "merge", named: false, wasRevoked: false },
    { kind: "edit", host: "sent" },
  ],
  [{ kind: "correct", host: "sent" }],
  [{ kind: "merge", named: true, wasRevoked: true }],
];
const claimed: Step[] = [
  { kind: "send", wallet: 0, signed: true, moves: false },
  { kind: "prove", pick: 0, host: "sent" },
  { kind: "approve", pick: 0, edit: "nothing" },
];
const unclaimed: Start = { wallet: false, website: false, verified: false, approvals: 1 };

test(`in ${interleavings} random interleavings the wallet in effect is approved, and proven or past its hold`, async () => {
  const start = fc.record({
    wallet: fc.boolean(),
    website: fc.boolean(),
    verified: fc.boolean(),
    approvals: fc.constantFrom(1 as const, 2 as const),
  });
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 3, maxLength: 12 }),
    start,
    async (steps, from) => {
      const slug = await play(steps, from);
      // The real answer of the service, for some of them.
      if (made % 50 > 1) return;
      const target = await donateTarget(service.store, slug, new Date(nowMs));
      // Each from a client of its own: a limit must not stand in for an answer.
      const client = { "x-forwarded-for": `10.4.${(made >> 8) & 255}.${made & 255}` };
      const response = await service.get(`/api/donate/${slug}`, client);
      const refused = target?.status === "withdrawn" ? 410 : 422;
      expect(response.status).toBe(refused === 410 || target?.usdc_wallet === null ? refused : 402);
      const recipient =
        response.status === 402
          ? ((await response.json()) as { recipient: string }).recipient
          : null;
      expect(recipient).toBe(response.status === 402 ? (target?.usdc_wallet ?? null) : null);
    },
  );
  const examples = strangersSites.map((steps): [Step[], Start] => [
    [...steps, ...claimed],
    unclaimed,
  ]);
  await fc.assert(property, { numRuns: interleavings, examples });
  measured(`${shown(interleavings)} interleavings, none paid another wallet`);
}, 3_500_000);
