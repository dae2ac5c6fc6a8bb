import { afterAll, beforeAll, expect, test } from "bun:test";
import { OnboardingBody } from "#content/contract/onboarding.ts";
import * as fc from "fast-check";
import { onboardingKeys } from "#api/onboarding/keys.ts";
import { onboard } from "#api/onboarding/onboard.ts";
import { decideReview } from "#api/operator/review-queues.ts";
import { revokeVerification } from "#api/operator/revoke-verification.ts";
import { donateTarget } from "#content/donation/store.ts";
import { hostProofLifeMs } from "#content/onboarding/host-proof.ts";
import { noteHostProof } from "#content/onboarding/store.ts";
import { challengeFor } from "#content/onboarding/wallet-challenge.ts";
import { applyDueWallets } from "#content/onboarding/wallet-hold-store.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, type TestService } from "#test/support/service.ts";
import { aWallet } from "#test/support/wallets.ts";

/** Promise 9 says 10,000: ALMONER_FULL_TESTS=1 plays them all, else fewer. */
const interleavings = process.env["ALMONER_FULL_TESTS"] === "1" ? 10_000 : 300;
const hold = 72 * 3_600_000;
const someWallets = () => Array.from({ length: 3 }, () => aWallet());
let wallets = someWallets();

let service: TestService;
const startMs = Date.parse("2026-06-01T12:00:00Z");
let nowMs = startMs;
beforeAll(async () => {
  service = await aService({
    env: { ALMONER_TRUSTED_HOPS: "1" },
    context: { clock: () => new Date(nowMs) },
  });
});
afterAll(() => service.close());

/** What anybody may do, in any order, at any time; a number picks one of the requests that were sent so far. */
type Step =
  | { kind: "send"; wallet: number | null; signed: boolean }
  | { kind: "approve" | "reject" | "stop" | "both" | "prove" | "not-proven"; pick: number }
  | { kind: "second"; pick: number }
  | { kind: "pass"; ms: number }
  | { kind: "sweep" }
  | { kind: "revoke" };

const pick = fc.nat(5);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("send" as const),
      wallet: fc.option(fc.nat(2), { freq: 8 }),
      signed: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constantFrom("approve" as const, "second" as const), pick }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("prove" as const, "prove" as const, "not-proven" as const),
      pick,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("reject" as const, "both" as const), pick }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("stop" as const), pick }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      ms: fc.constantFrom(1, 3_600_000, hold / 2, hold - 1, hold, hold + 1, 10 * hold, -3_600_000),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "sweep" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "revoke" as const }) },
);

type Sent = {
  id: string;
  type: "claim" | "change";
  wallet: string | null;
  signed: boolean;
  provenAt: number | null;
  approvedBy: string | null;
  wasHeld: boolean;
  status: "pending" | "approved" | "rejected";
};

/**
 * What the promise says, without a store: an approved wallet is in effect when its hold has passed, or at once where
 * control of host and wallet is proven, no other is there, and no verification was ever taken back.
 */
class Promised {
  verified: boolean;
  wallet: string | null;
  revoked = false;
  approvals: 1 | 2;
  held: { id: string; wallet: string; from: number } | null = null;
  sent: Sent[] = [];

  constructor(wallet: string | null, { verified, approvals }: Start) {
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
  approve(one: Sent, by: string, now: number): boolean {
    this.settle(now);
    if (one.status !== "pending" || (one.type === "claim") === this.verified) return false;
    if (this.approvals === 2 && one.wallet !== null && one.wallet !== this.wallet) {
      if (one.approvedBy === by) return false;
      const isFirst = one.approvedBy === null;
      one.approvedBy ??= by;
      if (isFirst) return true;
    }
    one.status = "approved";
    this.verified = true;
    if (one.wallet === null) return true;
    this.held = null;
    if (this.wallet === one.wallet || this.isAtOnce(one, now)) this.wallet = one.wallet;
    else {
      this.held = { id: one.id, wallet: one.wallet, from: now + hold };
      one.wasHeld = true;
    }
    return true;
  }
  isAtOnce({ signed, provenAt }: Sent, now: number): boolean {
    const isProven = signed && provenAt !== null && provenAt > now - hostProofLifeMs;
    return isProven && this.wallet === null && !this.revoked;
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

type Start = { wallet: boolean; verified: boolean; approvals: 1 | 2 };

const byOrganisation = {
  set_by: "organisation" as const,
  source: "organisation",
  source_url: null,
  agents: [],
  applied_at: 0,
};

/** Without a country nothing is compared: thousands of runs would find each other as duplicates. */
const aStart = (slug: string, { wallet, verified }: Start) =>
  aNonprofit({
    slug,
    country_code: null,
    causes: [],
    website: `https://${slug}.example`,
    usdc_wallet: wallet ? (wallets[0]?.address ?? null) : null,
    provenance: wallet ? { usdc_wallet: byOrganisation } : {},
    verified: verified ? 1 : 0,
    status: verified ? "claimed" : "listed",
  });

async function play(steps: readonly Step[], start: Start) {
  const slug = `run-${made++}`;
  // Wallets of its own, because each of their challenges counts once.
  [nowMs, wallets] = [startMs, someWallets()];
  const [record] = await service.add(aStart(slug, start));
  const usdc_wallet = record?.usdc_wallet ?? null;
  const promised = new Promised(usdc_wallet, start);
  for (const one of steps) {
    await take(one, slug, promised);
    const target = await donateTarget(service.store, slug, new Date(nowMs));
    expect(target?.usdc_wallet ?? null).toBe(promised.inEffect(nowMs));
    const { rows } = await service.store.raw.execute({
      sql: "SELECT usdc_wallet, verified FROM nonprofits WHERE id = ?",
      args: [record?.id ?? 0],
    });
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
    if (picked !== undefined) await takeOn(picked, one.kind, slug, promised);
  } else if (one.kind === "pass") nowMs += one.ms;
  else if (one.kind === "send") await send(one, slug, promised);
  else if (one.kind === "sweep") {
    await applyDueWallets(store, new Date(nowMs));
    promised.settle(nowMs);
  } else {
    const call = { slug, operator: "ada", reason: "test", take_back_values: false };
    const revoked = await revokeVerification(context, call);
    promised.settle(nowMs);
    expect(revoked.ok).toBe(promised.verified);
    if (!promised.verified) return;
    Object.assign(promised, { verified: false, wallet: null, held: null, revoked: true });
  }
}

/** Does something with one of the requests. */
async function takeOn(
  picked: Sent,
  kind: Extract<Step, { pick: number }>["kind"],
  slug: string,
  promised: Promised,
): Promise<void> {
  const config = { ...service.context.config, walletApprovals: promised.approvals };
  const context = { ...service.context, config };
  const decide = async (what: string, decision: "approved" | "rejected", operator: string) => {
    const call = { id: `${what}-${picked.id}`, decision, operator, value: null, reason: "because" };
    return (await decideReview(context, call)).ok;
  };
  if (kind === "approve" || kind === "second") {
    const by = kind === "approve" ? "ada" : "bob";
    const done = await decide("onboarding", "approved", by);
    expect(done).toBe(promised.approve(picked, by, nowMs));
  } else if (kind === "prove" || kind === "not-proven") {
    const host = kind === "prove" ? `${slug}.example` : "elsewhere.example";
    const proof = { id: picked.id, by: "file" as const, at: nowMs, host };
    await service.store.write((tx) => noteHostProof(tx, proof));
    if (picked.status === "pending") picked.provenAt = kind === "prove" ? nowMs : null;
  } else if (kind === "reject") {
    expect(await decide("onboarding", "rejected", "ada")).toBe(promised.reject(picked));
  } else if (kind === "stop") {
    expect(await decide("hold", "rejected", "ada")).toBe(promised.stop(picked, nowMs));
  } else {
    // Two operators at once: the first in the queue of writes wins.
    const done = await Promise.all([
      decide("onboarding", "approved", "ada"),
      decide("onboarding", "rejected", "bob"),
      decide("hold", "rejected", "bob"),
    ]);
    expect(done).toEqual([
      promised.approve(picked, "ada", nowMs),
      promised.reject(picked),
      promised.stop(picked, nowMs),
    ]);
  }
}

type Sending = Extract<Step, { kind: "send" }>;

async function send(
  { wallet: number, signed }: Sending,
  slug: string,
  promised: Promised,
): Promise<void> {
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
    wallet_signature:
      wallet !== undefined && signed
        ? wallet.sign(challengeFor(wallet.address, new Date(nowMs), keys.issuer).text)
        : undefined,
  };
  const outcome = await onboard(verb, {
    body: OnboardingBody.parse(body),
    idempotencyKey: null,
    countStored: async () => {},
  });
  if (!outcome.ok) throw new Error(outcome.failure.kind);
  const { submission_id: id, type } = outcome.value;
  expect(type).toBe(promised.verified ? "change" : "claim");
  promised.sent.push({
    id,
    type: promised.verified ? "change" : "claim",
    wallet: wallet?.address ?? null,
    signed,
    provenAt: null,
    approvedBy: null,
    wasHeld: false,
    status: "pending",
  });
}

test(`in ${interleavings} random interleavings the wallet in effect is approved, and proven or past its hold`, async () => {
  const start = fc.record({
    wallet: fc.boolean(),
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
      expect(response.status).toBe(target?.usdc_wallet === null ? 422 : 402);
      const recipient =
        response.status === 402
          ? ((await response.json()) as { recipient: string }).recipient
          : null;
      expect(recipient).toBe(target?.usdc_wallet ?? null);
    },
  );
  await fc.assert(property, { numRuns: interleavings });
}, 1_800_000);
