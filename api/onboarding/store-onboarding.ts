import { createHash } from "node:crypto";
import { type OnboardingRequest, onboardingType } from "#content/onboarding/read.ts";
import type { ProofFailure, WalletProof } from "#content/onboarding/wallet-challenge.ts";
import type { Duplicate, OnboardingState, OnboardingType } from "#content/contract/onboarding.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { answerOnce } from "#content/operation/idempotency-store.ts";
import {
  addOnboarding,
  challengeIsUsed,
  type Onboarding,
  pendingTwin,
} from "#content/onboarding/store.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { recordBySlug, recordsById } from "#content/nonprofit/record-store.ts";

export type StoreOnboardingFailure =
  | ProofFailure
  | { kind: "nonprofit_not_found"; slug: string }
  | { kind: "nonprofit_withdrawn"; slug: string }
  | { kind: "idempotency_key_reused" }
  | { kind: "wallet_challenge_used" };

export type OnboardingJob = {
  id: string;
  request: OnboardingRequest;
  /** Null for none; a failure says why the proof that was sent does not count. */
  proof: Result<WalletProof | null, ProofFailure>;
  duplicates: Duplicate[];
  /** Equal for equal requests. */
  digest: string;
  statusDigest: string;
  idempotencyKey: string | null;
  now: Date;
};

/** What stands in the store now: of this request, or of the same one that came before. */
export type OnboardingStored = {
  id: string;
  type: OnboardingType;
  /** Of the profile; null for a registration. */
  slug: string | null;
  status: OnboardingState;
  /** Of the link to its status page. Null: the sender may not be the first one, and gets no link. */
  status_digest: string | null;
};

/**
 * Stores a request for review. The same request again is answered with the one that waits already, with its link only
 * under the Idempotency-Key of the first; a challenge counts for one submission.
 */
export async function storeOnboarding(
  tx: WriteTransaction,
  job: OnboardingJob,
): Promise<Result<OnboardingStored, StoreOnboardingFailure>> {
  const { request, digest, idempotencyKey, now } = job;
  // A key is its sender's own: another address may use the same text.
  const sender = digestOf(request.contact_email.toLowerCase());
  const once = { route: "onboard", sender, idempotencyKey, digest: () => digest, now };
  return answerOnce(tx, once, async () => {
    const twin = await pendingTwin(tx, digest);
    return twin === null ? storeNew(tx, job) : ok(await described(tx, twin));
  });
}

async function storeNew(
  tx: WriteTransaction,
  { id, request, proof: sent, ...job }: OnboardingJob,
): Promise<Result<OnboardingStored, StoreOnboardingFailure>> {
  const slug = request.claim_slug;
  const claimed = slug === null ? ok(null) : await claimable(tx, slug);
  if (!claimed.ok) return claimed;
  const profile = claimed.value;
  if (!sent.ok) return sent;
  const proof = sent.value;
  if (proof !== null && (await challengeIsUsed(tx, proof.challenge))) {
    return fail({ kind: "wallet_challenge_used" });
  }
  const type = onboardingType(request, profile);
  await addOnboarding(tx, {
    id,
    type,
    nonprofit_id: profile?.id ?? null,
    request,
    duplicates: job.duplicates,
    wallet_challenge: proof?.challenge ?? null,
    wallet_signature: proof?.signature ?? null,
    created_at: job.now.getTime(),
    request_digest: job.digest,
    status_digest: job.statusDigest,
  });
  return ok({ id, type, slug, status: "pending_review", status_digest: job.statusDigest });
}

async function claimable(
  tx: WriteTransaction,
  slug: string,
): Promise<Result<NonprofitRecord, StoreOnboardingFailure>> {
  const profile = await recordBySlug(tx, slug);
  if (profile === null) return fail({ kind: "nonprofit_not_found", slug });
  return profile.status === "withdrawn" ? fail({ kind: "nonprofit_withdrawn", slug }) : ok(profile);
}

async function described(tx: WriteTransaction, one: Onboarding): Promise<OnboardingStored> {
  const { id, type, nonprofit_id, status } = one;
  const [record] =
    nonprofit_id === null ? [] : await recordsById(tx, [nonprofit_id], { summaries: true });
  return { id, type, slug: record?.slug ?? null, status, status_digest: null };
}

/** What is stored in the place of a secret. */
export const digestOf = (text: string): string =>
  createHash("sha256").update(text).digest("base64url");
