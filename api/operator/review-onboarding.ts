import { onboardingOutcome, type OnboardingOutcome } from "#content/onboarding/outcome.ts";
import { type OnboardingEdits, readEdits } from "#content/onboarding/edits.ts";
import { isoTime } from "#content/contract/time.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { findDuplicates } from "#content/onboarding/duplicates.ts";
import { newestChangeOf } from "#content/nonprofit/history.ts";
import {
  closeOnboarding,
  keepDuplicates,
  type Onboarding,
  onboardingById,
  onboardingQueue,
  onboardingWaiting,
  standingVerification,
} from "#content/onboarding/store.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { recordsById } from "#content/nonprofit/records.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { settleDue } from "#content/onboarding/wallet-holds.ts";
import { changeWallet } from "#api/onboarding/change-wallet.ts";
import { slugFor, soughtFor } from "#api/onboarding/onboard.ts";
import { onboardingItems, proofOf } from "./onboarding-items.ts";
import { placeIn } from "./queue-place.ts";
import type { Decided, Deciding, ReviewDesk, ReviewFailure } from "./review-desk.ts";

/** Claims, registrations and changes that organisations sent: nothing of them is public before it is approved here. */
export const onboardingDesk: ReviewDesk = {
  list: async (store, { after, limit }) => {
    return onboardingItems(store, await onboardingQueue(store, { after: placeIn(after), limit }));
  },

  find: async (store, key) => {
    const waiting = await waitingOnboarding(store, key);
    if (!waiting.ok) return null;
    const { one, record } = waiting.value;
    const duplicates = await findDuplicates(store, soughtFor(one.request, record));
    const [item] = await onboardingItems(store, [{ ...one, duplicates }]);
    return item ?? null;
  },

  count: onboardingWaiting,

  approve: async (tx, _, deciding) => {
    const { key, value, now } = deciding;
    const found = await onboardingById(tx, key);
    if (found?.nonprofit_id != null) await settleDue(tx, now, found.nonprofit_id);
    const waiting = await waitingOnboarding(tx, key);
    if (!waiting.ok) return waiting;
    const edits = readEdits(value, { thisYear: now.getUTCFullYear() });
    if (!edits.ok) {
      return fail({ kind: "review_value_not_usable", message: edits.failure.message });
    }
    const { one, record } = waiting.value;
    const obstacle =
      (await obstacleOf(tx, one, record)) ?? (await unseenDuplicate(tx, one, edits.value));
    if (obstacle !== null) return fail({ kind: "review_conflict", message: obstacle });
    return ok(await approved(tx, { one, record, edits: edits.value }, deciding));
  },

  reject: async (tx, _, { key, reason, operator, now }) => {
    const waiting = await waitingOnboarding(tx, key);
    if (!waiting.ok) return waiting;
    const { one, record } = waiting.value;
    await closed(tx, one, {
      status: "rejected",
      nonprofit_id: one.nonprofit_id,
      reason,
      by: operator,
      at: now.getTime(),
    });
    const slug = record?.slug ?? null;
    return ok({ slug, sequence: null, message: "It is rejected; the sender sees the reason." });
  },
};

type Waiting = { one: Onboarding; record: NonprofitRecord | null };

async function waitingOnboarding(
  store: Queryable,
  key: string,
): Promise<Result<Waiting, ReviewFailure>> {
  const one = /^[\da-f]{1,64}$/.test(key) ? await onboardingById(store, key) : null;
  if (one === null) return fail({ kind: "review_not_found", id: `onboarding-${key}` });
  if (one.status !== "pending_review") {
    return fail({ kind: "review_decided", status: one.status });
  }
  const [record = null] =
    one.nonprofit_id === null ? [] : await recordsById(store, [one.nonprofit_id]);
  return ok({ one, record });
}

/** What makes approval impossible since the request came, as a sentence for the operator; null for nothing. */
async function obstacleOf(tx: WriteTransaction, one: Onboarding, record: Waiting["record"]) {
  if (one.type === "registration") return null;
  if (record === null || record.status === "withdrawn") {
    return "The profile is withdrawn. Reject this with that reason.";
  }
  const claimed = record.verified === 1 || record.status === "claimed";
  if (one.type === "change") {
    return claimed
      ? null
      : "The verification of this profile was taken back since: its organisation has to claim it anew. Reject this.";
  }
  if (claimed) {
    return "Another claim of this profile was approved since. Reject this, or ask for a change of the profile.";
  }
  return (await standingVerification(tx, record.id)) === null
    ? null
    : "An earlier claim of this profile stands although it is not verified. Revoke its verification first.";
}

/**
 * A new profile must not double one that came while the request waited: what the reviewer has not seen stops the approval
 * once, and is in the review then. A number that is taken stops it for good. Looked for as it was edited.
 */
async function unseenDuplicate(tx: WriteTransaction, one: Onboarding, edits: OnboardingEdits) {
  if (one.type !== "registration") return null;
  // Without a country of the operator's the number is still read by that of the request.
  const country_code = edits.country_code ?? one.request.country_code;
  const duplicates = await findDuplicates(
    tx,
    soughtFor({ ...one.request, ...edits, country_code }, null),
  );
  const taken = duplicates.find(({ reasons }) => reasons.includes("same_registration"));
  if (taken !== undefined) {
    return `The registration number is that of ${taken.slug}. Reject this, and ask to claim that profile.`;
  }
  const seen = new Set(one.duplicates.map(({ slug }) => slug));
  const unseen = duplicates.find(({ slug }) => !seen.has(slug));
  if (unseen === undefined) return null;
  await keepDuplicates(tx, { id: one.id, duplicates });
  return `${unseen.slug} may be the same organisation and came up since this was looked at. Look again; approving once more makes a profile of its own.`;
}

type Accepting = Waiting & { edits: OnboardingEdits };

/** Writes all that an approval brings about: profile, wallet or its hold, and the end of the review. */
async function approved(
  tx: WriteTransaction,
  { one, record, edits }: Accepting,
  { operator, now, walletHoldMs }: Deciding,
): Promise<Decided> {
  const { request } = one;
  const name = edits.name ?? request.name ?? "";
  const slug = record?.slug ?? (await slugFor(tx, { name, city: edits.city ?? request.city }));
  const proof = proofOf(one);
  const outcome = onboardingOutcome(record, {
    type: one.type,
    request,
    proof,
    edits,
    slug,
    nowMs: now.getTime(),
  });
  const last = record === null ? null : await newestChangeOf(tx, record.id);
  const saves = [{ before: record, after: outcome.after }];
  const [saved] = await saveNonprofits(tx, saves, { origin: "onboarding", now });
  if (saved === undefined) throw new Error(`nothing was saved for ${one.id}`);
  const effectiveAt = now.getTime() + walletHoldMs;
  await changeWallet(tx, { one, before: record, saved, outcome, by: operator, now, effectiveAt });
  await closed(tx, one, {
    status: "approved",
    nonprofit_id: saved.id,
    reason: null,
    by: operator,
    at: now.getTime(),
  });
  const newest = await newestChangeOf(tx, saved.id);
  return {
    slug: saved.slug,
    sequence: newest === last ? null : newest,
    message: messageOf(outcome, effectiveAt),
  };
}

async function closed(
  tx: WriteTransaction,
  { id }: Onboarding,
  closing: Omit<Parameters<typeof closeOnboarding>[1], "id">,
): Promise<void> {
  if (!(await closeOnboarding(tx, { id, ...closing }))) throw new Error(`${id} waits no more`);
}

function messageOf({ kept, wallet }: OnboardingOutcome, effectiveAt: number): string {
  const said = ["It is approved."];
  if (kept.length > 0) said.push(`The profile keeps its ${kept.join(", ")}.`);
  if (wallet?.held === true) {
    said.push(
      `The new wallet takes effect at ${isoTime(effectiveAt)} unless its hold is rejected before.`,
    );
  }
  return said.join(" ");
}
