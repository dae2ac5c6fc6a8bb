import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { logOperator } from "#content/operation/audit-store.ts";
import type { Queryable, Store, WriteTransaction } from "#content/store/open.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";

/** An approved change of a wallet. Held until `effective_at`; instants in milliseconds since 1970. */
export type WalletHold = {
  submission_id: string;
  nonprofit_id: number;
  wallet_before: string;
  wallet: string;
  wallet_challenge: string | null;
  wallet_signature: string | null;
  status: "held" | "in_effect" | "stopped" | "replaced";
  reason: string | null;
  approved_by: string;
  approved_at: number;
  effective_at: number;
  decided_by: string | null;
  decided_at: number | null;
};

const appliedAtOnceMax = 100;

/**
 * Makes every change public whose hold has ended, each with its lines in `changes` and in the audit log. Answers how many
 * those were. Runs beside other processes that do the same.
 */
export async function applyDueWallets(
  store: Pick<Store, "raw" | "write">,
  now: Date,
): Promise<number> {
  let applied = 0;
  for (;;) {
    // Nearly always nothing is due: then no one waits for the write lock.
    const { rows } = await store.raw.execute({
      sql: "SELECT 1 FROM wallet_holds WHERE status = 'held' AND effective_at <= ? LIMIT 1",
      args: [now.getTime()],
    });
    if (rows.length === 0) return applied;
    applied += await store.write((tx) => applyDueHolds(tx, now, null));
  }
}

/** The same inside a transaction, for one nonprofit or (null) for at most 100 of them. */
export async function applyDueHolds(
  tx: WriteTransaction,
  now: Date,
  nonprofitId: number | null,
): Promise<number> {
  const { rows } = await tx.raw.execute({
    sql: `SELECT * FROM wallet_holds
          WHERE status = 'held' AND effective_at <= ?1 AND (?2 IS NULL OR nonprofit_id = ?2)
          ORDER BY effective_at, submission_id
          LIMIT ${appliedAtOnceMax}`,
    args: [now.getTime(), nonprofitId],
  });
  for (const hold of rows.map(holdFrom)) {
    const [before] = await recordsById(tx, [hold.nonprofit_id]);
    if (before === undefined)
      throw new Error(`no nonprofit ${hold.nonprofit_id} for a held wallet`);
    const after = withWallet(before, hold, now.getTime());
    await saveNonprofits(tx, [{ before, after }], { origin: "onboarding", now });
    await closeHold(tx, hold, {
      status: "in_effect",
      reason: null,
      by: clockName,
      at: now.getTime(),
    });
    await logWallet(tx, "wallet.in_effect", hold, {
      slug: before.slug,
      by: clockName,
      at: now.getTime(),
    });
  }
  return rows.length;
}

/** Who is named in the audit log for what time alone brings about. */
const clockName = "the clock";

type WalletSet = Pick<WalletHold, "wallet" | "wallet_challenge" | "wallet_signature">;

/** The record with another wallet, set by the organisation, and the proof that belongs to it, if any. */
export const withWallet = (
  before: NonprofitRecord,
  set: WalletSet,
  at: number,
): NonprofitRecord => ({
  ...before,
  usdc_wallet: set.wallet,
  wallet_challenge: set.wallet_challenge,
  wallet_signature: set.wallet_signature,
  provenance: {
    ...before.provenance,
    usdc_wallet: {
      set_by: "organisation",
      source: "organisation",
      source_url: null,
      agents: [],
      applied_at: at,
    },
  },
});

/** Begins to hold a change. A change of the same nonprofit that is held must have been closed before. */
export async function holdWallet(
  tx: WriteTransaction,
  slug: string,
  hold: Omit<WalletHold, "status" | "reason" | "decided_by" | "decided_at">,
): Promise<void> {
  await tx.raw.execute({
    sql: `INSERT INTO wallet_holds (submission_id, nonprofit_id, wallet_before, wallet, wallet_challenge,
            wallet_signature, status, approved_by, approved_at, effective_at)
          VALUES (?, ?, ?, ?, ?, ?, 'held', ?, ?, ?)`,
    args: [
      hold.submission_id,
      hold.nonprofit_id,
      hold.wallet_before,
      hold.wallet,
      hold.wallet_challenge,
      hold.wallet_signature,
      hold.approved_by,
      hold.approved_at,
      hold.effective_at,
    ],
  });
  await logWallet(tx, "wallet.held", hold, { slug, by: hold.approved_by, at: hold.approved_at });
}

type Closing = {
  status: Exclude<WalletHold["status"], "held">;
  reason: string | null;
  by: string;
  at: number;
};

/** Ends a hold. False when it had ended already. */
export async function closeHold(
  tx: WriteTransaction,
  { submission_id }: Pick<WalletHold, "submission_id">,
  { status, reason, by, at }: Closing,
): Promise<boolean> {
  const { rowsAffected } = await tx.raw.execute({
    sql: `UPDATE wallet_holds SET status = ?, reason = ?, decided_by = ?, decided_at = ?
          WHERE submission_id = ? AND status = 'held'`,
    args: [status, reason, by, at, submission_id],
  });
  return rowsAffected === 1;
}

/** The held change of a nonprofit, null for none. */
export async function heldOf(store: Queryable, nonprofitId: number): Promise<WalletHold | null> {
  const { rows } = await store.raw.execute({
    sql: "SELECT * FROM wallet_holds WHERE nonprofit_id = ? AND status = 'held'",
    args: [nonprofitId],
  });
  return rows[0] === undefined ? null : holdFrom(rows[0]);
}

/** The change of a wallet that came of a submission, whatever its outcome. */
export async function holdById(store: Queryable, submissionId: string): Promise<WalletHold | null> {
  const { rows } = await store.raw.execute({
    sql: "SELECT * FROM wallet_holds WHERE submission_id = ?",
    args: [submissionId],
  });
  return rows[0] === undefined ? null : holdFrom(rows[0]);
}

/** Why a change of this nonprofit's wallet was stopped that came with this contact; null for none. Index: wallet_holds_stopped. */
export async function stoppedFrom(
  store: Queryable,
  { nonprofitId, contactEmail }: { nonprofitId: number; contactEmail: string },
): Promise<string | null> {
  const { rows } = await store.raw.execute({
    sql: `SELECT h.reason
          FROM wallet_holds AS h INDEXED BY wallet_holds_stopped
          JOIN onboarding_submissions AS s ON s.id = h.submission_id
          WHERE h.nonprofit_id = ? AND h.status = 'stopped' AND lower(s.request ->> 'contact_email') = lower(?)
          ORDER BY h.decided_at DESC
          LIMIT 1`,
    args: [nonprofitId, contactEmail],
  });
  return rows[0] === undefined ? null : String(rows[0]["reason"]);
}

/** Held changes, those first that take effect first, after a place. Index: wallet_holds_due. */
export async function holdQueue(
  store: Queryable,
  { after, limit }: { after: { at: number; id: string }; limit: number },
): Promise<(WalletHold & { slug: string; name: string })[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT h.*, n.slug, n.name
          FROM wallet_holds AS h INDEXED BY wallet_holds_due
          JOIN nonprofits AS n ON n.id = h.nonprofit_id
          WHERE h.status = 'held' AND (h.effective_at, h.submission_id) > (?, ?)
          ORDER BY h.effective_at, h.submission_id
          LIMIT ?`,
    args: [after.at, after.id, limit],
  });
  return rows.map((row) => ({
    ...holdFrom(row),
    slug: String(row["slug"]),
    name: String(row["name"]),
  }));
}

/** How many changes are held. Stops counting at `max`. */
export async function holdsWaiting(store: Queryable, max: number): Promise<number> {
  const { rows } = await store.raw.execute({
    sql: "SELECT count(*) AS count FROM (SELECT 1 FROM wallet_holds WHERE status = 'held' LIMIT ?)",
    args: [max],
  });
  return Number(rows[0]?.["count"] ?? 0);
}

/** Every step of a wallet stands in the audit log under the profile's slug. */
export const logWallet = (
  tx: WriteTransaction,
  action:
    | "wallet.set"
    | "wallet.held"
    | "wallet.in_effect"
    | "wallet.stopped"
    | "wallet.replaced"
    | "wallet.removed",
  change: {
    submission_id: string | null;
    wallet_before: string | null;
    wallet: string | null;
    effective_at?: number;
  },
  { slug, by, at }: { slug: string; by: string; at: number },
): Promise<void> =>
  logOperator(tx, {
    operator: by,
    action,
    subject: slug,
    detail: {
      submission_id: change.submission_id,
      from: change.wallet_before,
      to: change.wallet,
      ...(change.effective_at === undefined
        ? {}
        : { effective_at: new Date(change.effective_at).toISOString() }),
    },
    at,
  });

const holdFrom = (row: object): WalletHold => ({ ...row }) as WalletHold;
