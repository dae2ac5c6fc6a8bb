import { z } from "zod";
import { OnboardingRequest } from "./read.ts";
import {
  Duplicate,
  type OnboardingState,
  type OnboardingType,
} from "#content/contract/onboarding.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";

/** What an organisation sent, and the outcome of it. Instants in milliseconds since 1970. Private. */
export type Onboarding = {
  id: string;
  type: OnboardingType;
  nonprofit_id: number | null;
  request: OnboardingRequest;
  /** SHA-256 of the token of the status page. */
  status_digest: string;
  duplicates: Duplicate[];
  wallet_challenge: string | null;
  wallet_signature: string | null;
  status: OnboardingState;
  reason: string | null;
  reviewed_by: string | null;
  created_at: number;
  reviewed_at: number | null;
  /** When the verification that came of it was taken back. */
  revoked_at: number | null;
};

export type NewOnboarding = Pick<
  Onboarding,
  | "id"
  | "type"
  | "nonprofit_id"
  | "request"
  | "status_digest"
  | "duplicates"
  | "wallet_challenge"
  | "wallet_signature"
  | "created_at"
> & { request_digest: string };

/** Stores a request that waits for review. */
export async function addOnboarding(tx: WriteTransaction, one: NewOnboarding): Promise<void> {
  await tx.raw.execute({
    sql: `INSERT INTO onboarding_submissions (id, type, nonprofit_id, request, request_digest, status_digest, duplicates,
            wallet_challenge, wallet_signature, status, created_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending_review', ?)`,
    args: [
      one.id,
      one.type,
      one.nonprofit_id,
      JSON.stringify(one.request),
      one.request_digest,
      one.status_digest,
      JSON.stringify(one.duplicates),
      one.wallet_challenge,
      one.wallet_signature,
      one.created_at,
    ],
  });
}

export const onboardingById = (store: Queryable, id: string): Promise<Onboarding | null> =>
  first(store, "id = ?", id);

/** The one that the link of a status page shows. Index: onboarding_by_status_token. */
export const onboardingByToken = (store: Queryable, digest: string): Promise<Onboarding | null> =>
  first(store, "status_digest = ?", digest);

/** The same request that waits already. Index: one_pending_submission_per_request. */
export const pendingTwin = (store: Queryable, requestDigest: string): Promise<Onboarding | null> =>
  first(store, "status = 'pending_review' AND request_digest = ?", requestDigest);

/** Whether a challenge came with another submission. Index: one_submission_per_challenge. */
export const challengeIsUsed = async (store: Queryable, challenge: string): Promise<boolean> =>
  (await first(store, "wallet_challenge = ?", challenge)) !== null;

async function first(store: Queryable, where: string, value: string): Promise<Onboarding | null> {
  const { rows } = await store.raw.execute({
    sql: `SELECT * FROM onboarding_submissions WHERE ${where} LIMIT 1`,
    args: [value],
  });
  return rows[0] === undefined ? null : fromRow(rows[0]);
}

/** What waits for review, the oldest first, after a place. Index: onboarding_by_status. */
export async function onboardingQueue(
  store: Queryable,
  { after, limit }: { after: { at: number; id: string }; limit: number },
): Promise<Onboarding[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT * FROM onboarding_submissions INDEXED BY onboarding_by_status
          WHERE status = 'pending_review' AND (created_at, id) > (?, ?)
          ORDER BY created_at, id
          LIMIT ?`,
    args: [after.at, after.id, limit],
  });
  return rows.map(fromRow);
}

/** How many wait. Stops counting at `max`. */
export async function onboardingWaiting(store: Queryable, max: number): Promise<number> {
  const { rows } = await store.raw.execute({
    sql: `SELECT count(*) AS count
          FROM (SELECT 1 FROM onboarding_submissions WHERE status = 'pending_review' LIMIT ?)`,
    args: [max],
  });
  return Number(rows[0]?.["count"] ?? 0);
}

/** How many requests for these profiles wait, by the profile's id. Index: onboarding_by_nonprofit. */
export async function pendingByNonprofit(
  store: Queryable,
  ids: readonly number[],
): Promise<Map<number, number>> {
  const { rows } = await store.raw.execute({
    sql: `SELECT nonprofit_id, count(*) AS count FROM onboarding_submissions INDEXED BY onboarding_by_nonprofit
          WHERE nonprofit_id IN (SELECT value FROM json_each(?)) AND status = 'pending_review'
          GROUP BY nonprofit_id`,
    args: [JSON.stringify(ids)],
  });
  return new Map(rows.map((row) => [Number(row["nonprofit_id"]), Number(row["count"])]));
}

/** Slugs of other nonprofits with this wallet, withdrawn ones too. Index: nonprofits_by_wallet. */
export async function otherOwnersOf(
  store: Queryable,
  wallet: string,
  nonprofitId: number | null,
): Promise<string[]> {
  const { rows } = await store.raw.execute({
    sql: "SELECT slug FROM nonprofits WHERE usdc_wallet = ? AND id <> ? ORDER BY id LIMIT 5",
    args: [wallet, nonprofitId ?? 0],
  });
  return rows.map((row) => String(row["slug"]));
}

export type Closing = {
  id: string;
  status: "approved" | "rejected";
  nonprofit_id: number | null;
  reason: string | null;
  by: string;
  at: number;
};

/** Decides one that waits. False when it was decided meanwhile: the first operator wins. */
export async function closeOnboarding(tx: WriteTransaction, one: Closing): Promise<boolean> {
  const { rowsAffected } = await tx.raw.execute({
    sql: `UPDATE onboarding_submissions
          SET status = ?, nonprofit_id = ?, reason = ?, reviewed_by = ?, reviewed_at = ?
          WHERE id = ? AND status = 'pending_review'`,
    args: [one.status, one.nonprofit_id, one.reason, one.by, one.at, one.id],
  });
  return rowsAffected === 1;
}

/** Keeps what was found when duplicates were looked for again. */
export async function keepDuplicates(
  tx: WriteTransaction,
  { id, duplicates }: Pick<Onboarding, "id" | "duplicates">,
): Promise<void> {
  await tx.raw.execute({
    sql: "UPDATE onboarding_submissions SET duplicates = ? WHERE id = ?",
    args: [JSON.stringify(duplicates), id],
  });
}

/** The approved request by which a nonprofit was verified, unless that was taken back. */
export async function standingVerification(
  store: Queryable,
  nonprofitId: number,
): Promise<string | null> {
  const { rows } = await store.raw.execute({
    sql: `SELECT id FROM onboarding_submissions
          WHERE nonprofit_id = ? AND type <> 'change' AND status = 'approved' AND revoked_at IS NULL`,
    args: [nonprofitId],
  });
  return rows[0] === undefined ? null : String(rows[0]["id"]);
}

/** Notes that the verification of a nonprofit was taken back: another claim may be approved then. */
export async function noteRevoked(tx: WriteTransaction, nonprofitId: number, at: number) {
  await tx.raw.execute({
    sql: `UPDATE onboarding_submissions SET revoked_at = ?
          WHERE nonprofit_id = ? AND type <> 'change' AND status = 'approved' AND revoked_at IS NULL`,
    args: [at, nonprofitId],
  });
}

function fromRow(row: object): Onboarding {
  const stored = row as Record<keyof Onboarding, unknown>;
  return {
    id: String(stored.id),
    type: stored.type as OnboardingType,
    nonprofit_id: stored.nonprofit_id as number | null,
    request: OnboardingRequest.parse(JSON.parse(String(stored.request))),
    status_digest: String(stored.status_digest),
    duplicates: z.array(Duplicate).parse(JSON.parse(String(stored.duplicates))),
    wallet_challenge: stored.wallet_challenge as string | null,
    wallet_signature: stored.wallet_signature as string | null,
    status: stored.status as OnboardingState,
    reason: stored.reason as string | null,
    reviewed_by: stored.reviewed_by as string | null,
    created_at: Number(stored.created_at),
    reviewed_at: stored.reviewed_at as number | null,
    revoked_at: stored.revoked_at as number | null,
  };
}
