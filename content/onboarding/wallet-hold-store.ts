import { and, asc, desc, eq, lte, type SQL, sql } from "drizzle-orm";
import { type NonprofitRecord, sourceFrom } from "#content/nonprofit/record.ts";
import { clockName, type OperatorEntry } from "#content/operation/audit-store.ts";
import { type Write, writeAll } from "#content/operation/plan.ts";
import type { Queryable, Store, WriteTransaction } from "#content/store/open.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { planSaves } from "#content/nonprofit/save.ts";
import type { OnboardingOutcome } from "./outcome.ts";
import type { Onboarding } from "./store.ts";
import { builder, countUpTo, statement } from "#content/store/query.ts";
import { onboardingSubmissions, walletHolds as holds } from "#content/store/tables/onboarding.ts";

/** An approved wallet, the first or a new one, held until `effective_at`; instants in milliseconds since 1970. */
export type WalletHold = typeof holds.$inferSelect;

/** Literally as in the partial indexes of the table, so that SQLite uses them. */
const isHeld = sql`${holds.status} = 'held'`;

const appliedAtOnceMax = 100;

/**
 * Makes every change public whose hold has ended, each with its rows in `changes` and the audit log. Returns how many. Other
 * processes may run it at the same time.
 */
export async function applyDueWallets(
  store: Pick<Store, "db" | "raw" | "write">,
  now: Date,
): Promise<number> {
  let appliedCount = 0;
  // Nearly always nothing is due, so avoid waiting for the write lock.
  while ((await dueHolds(store, now, null, 1)).length > 0) {
    appliedCount += await store.write((tx) => applyDueHolds(tx, now, null));
  }
  return appliedCount;
}

/** The held changes that are due, of one nonprofit or (null) of all. Index: wallet_holds_due. */
const dueHolds = (
  store: Queryable,
  now: Date,
  nonprofitId: number | null,
  limit: number,
): Promise<WalletHold[]> => {
  const isOf = nonprofitId === null ? undefined : eq(holds.nonprofit_id, nonprofitId);
  return store.db
    .select()
    .from(holds)
    .where(and(isHeld, lte(holds.effective_at, now.getTime()), isOf))
    .orderBy(asc(holds.effective_at), asc(holds.submission_id))
    .limit(limit)
    .execute();
};

/** `applyDueWallets` inside a transaction, for one nonprofit or (null) for at most 100. */
export async function applyDueHolds(
  tx: WriteTransaction,
  now: Date,
  nonprofitId: number | null,
): Promise<number> {
  const due = await dueHolds(tx, now, nonprofitId, appliedAtOnceMax);
  for (const hold of due) await writeAll(tx, await planDue(tx, hold, now));
  return due.length;
}

async function planDue(store: Queryable, hold: WalletHold, now: Date): Promise<Write[]> {
  const [before] = await recordsById(store, [hold.nonprofit_id]);
  if (before === undefined) throw new Error(`no nonprofit ${hold.nonprofit_id} for a held wallet`);
  const at = now.getTime();
  const save = { before, after: withWallet(before, hold, at) };
  const { statements } = await planSaves(store, [save], { origin: "onboarding", now });
  const closure = {
    status: "in_effect",
    reason: null,
    slug: before.slug,
    by: clockName,
    at,
  } as const;
  return [...statements, ...closeHold(hold, closure)];
}

/** The record with another wallet, set by the organisation, and its proof, if any. */
export const withWallet = (
  before: NonprofitRecord,
  set: Pick<WalletHold, "wallet" | "wallet_challenge" | "wallet_signature">,
  at: number,
): NonprofitRecord => ({
  ...before,
  usdc_wallet: set.wallet,
  wallet_challenge: set.wallet_challenge,
  wallet_signature: set.wallet_signature,
  provenance: { ...before.provenance, usdc_wallet: sourceFrom("organisation", at) },
});

type WalletChange = {
  submission: Onboarding;
  before: NonprofitRecord | null;
  saved: NonprofitRecord;
  outcome: OnboardingOutcome;
  /** The nonprofit's held change, if any. */
  earlierHold: WalletHold | null;
  by: string;
  now: Date;
  effectiveAt: number;
};

/**
 * Holds an approved wallet, or logs one that took effect at once. Either replaces an earlier hold: the newest approved
 * request is what the organisation wants.
 */
export function changeWallet(change: WalletChange): Write[] {
  const { submission, before, saved, earlierHold, by } = change;
  const { slug } = saved;
  const { wallet } = change.outcome;
  if (wallet === null) return [];
  const at = change.now.getTime();
  const replacement =
    earlierHold === null
      ? []
      : closeHold(earlierHold, { status: "replaced", reason: null, slug, by, at });
  const wallet_before = before?.usdc_wallet ?? null;
  const set = { submission_id: submission.id, wallet_before, wallet: wallet.address };
  if (wallet.holdReason === null) {
    const isSame = wallet_before === wallet.address;
    return isSame ? replacement : [...replacement, walletEntry("set", set, { slug, by, at })];
  }
  const hold = {
    ...set,
    nonprofit_id: saved.id,
    wallet_challenge: submission.wallet_challenge,
    wallet_signature: submission.wallet_signature,
    approved_by: by,
    approved_at: at,
    effective_at: change.effectiveAt,
  };
  return [...replacement, ...holdWallet(slug, hold)];
}

/** Holds a change. Close an earlier hold of the nonprofit first. */
export const holdWallet = (
  slug: string,
  hold: Omit<WalletHold, "status" | "reason" | "decided_by" | "decided_at">,
): Write[] => [
  statement(builder.insert(holds).values({ ...hold, status: "held" })),
  walletEntry("held", hold, { slug, by: hold.approved_by, at: hold.approved_at }),
];

type HoldClosure = {
  status: "in_effect" | "stopped" | "replaced";
  reason: string | null;
  slug: string;
  by: string;
  at: number;
};

/** Ends a hold, unless it has already ended, and logs that. */
export const closeHold = (
  hold: WalletHold,
  { status, reason, slug, by, at }: HoldClosure,
): Write[] => [
  statement(
    builder
      .update(holds)
      .set({ status, reason, decided_by: by, decided_at: at })
      .where(and(eq(holds.submission_id, hold.submission_id), isHeld)),
  ),
  walletEntry(status, hold, { slug, by, at }),
];

/** The writes that stop a nonprofit's held change; none if nothing is held. */
export async function stopHeldWrites(
  store: Queryable,
  nonprofitId: number,
  closure: Omit<HoldClosure, "status">,
): Promise<Write[]> {
  const hold = await heldOf(store, nonprofitId);
  if (hold === null) return [];
  return closeHold(hold, { ...closure, status: "stopped" });
}

export const heldOf = (store: Queryable, nonprofitId: number): Promise<WalletHold | null> =>
  first(store, and(eq(holds.nonprofit_id, nonprofitId), isHeld));

/** The change of a wallet from a submission, whatever its outcome. */
export const holdById = (store: Queryable, submissionId: string): Promise<WalletHold | null> =>
  first(store, eq(holds.submission_id, submissionId));

async function first(store: Queryable, which: SQL | undefined): Promise<WalletHold | null> {
  const [hold] = await store.db.select().from(holds).where(which);
  return hold ?? null;
}

/** Why a change of this nonprofit's wallet from this contact was stopped; null if none was. Index: wallet_holds_stopped. */
export async function stoppedFrom(
  store: Queryable,
  { nonprofitId, contactEmail }: { nonprofitId: number; contactEmail: string },
): Promise<string | null> {
  const { request } = onboardingSubmissions;
  const [stopped] = await store.db
    .select({ reason: holds.reason })
    .from(holds)
    .innerJoin(onboardingSubmissions, eq(onboardingSubmissions.id, holds.submission_id))
    .where(
      and(
        eq(holds.nonprofit_id, nonprofitId),
        sql`${holds.status} = 'stopped'`,
        sql`lower(${request} ->> 'contact_email') = lower(${contactEmail})`,
      ),
    )
    .orderBy(desc(holds.decided_at))
    .limit(1);
  return stopped?.reason ?? null;
}

/** Held changes in the order in which they take effect, after a place. Index: wallet_holds_due. */
export async function holdQueue(
  store: Queryable,
  { after, limit }: { after: { at: number; id: string }; limit: number },
): Promise<WalletHold[]> {
  const { effective_at, submission_id } = holds;
  return store.db
    .select()
    .from(holds)
    .where(and(isHeld, sql`(${effective_at}, ${submission_id}) > (${after.at}, ${after.id})`))
    .orderBy(asc(effective_at), asc(submission_id))
    .limit(limit);
}

/** How many changes are held; counting stops at `max`. */
export const holdsWaiting = (store: Queryable, max: number): Promise<number> =>
  countUpTo(store, max, "SELECT 1 FROM wallet_holds WHERE status = 'held'");

/** Every step of a wallet is in the audit log under the profile's slug. */
export const walletEntry = (
  step: WalletHold["status"] | "set" | "removed",
  change: {
    submission_id: string | null;
    wallet_before: string | null;
    wallet: string | null;
    effective_at?: number;
  },
  { slug, by, at }: { slug: string; by: string; at: number },
): OperatorEntry => ({
  operator: by,
  action: `wallet.${step}`,
  subject: slug,
  detail: {
    submission_id: change.submission_id,
    from: change.wallet_before,
    to: change.wallet,
    ...(change.effective_at !== undefined && {
      effective_at: new Date(change.effective_at).toISOString(),
    }),
  },
  at,
});
