import type { z } from "zod";
import type { RevokeAnswer, RevokeBody } from "#content/contract/onboarding.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { profileFields } from "#content/onboarding/outcome.ts";
import { noteRevoked, standingVerification } from "#content/onboarding/store.ts";
import { planSaves } from "#content/nonprofit/save.ts";
import { walletEntry, stopHeldWrites } from "#content/onboarding/wallet-hold-store.ts";
import { planned } from "#content/operation/plan.ts";
import { onProfile } from "./change-profile.ts";
import { type OperatorWorld, isLive } from "#content/requests/kind.ts";

export type RevokeFailure =
  | { kind: "nonprofit_not_found"; slug: string }
  | { kind: "not_verified"; slug: string };

type Revocation = z.output<typeof RevokeBody> & { slug: string; operator: string };

/**
 * Takes back the verification of a nonprofit: it is a listing again, which can be claimed again. What the organisation
 * had set goes with it, and what that replaced comes back; a held wallet is stopped: no gift goes to anyone who was wrongly
 * believed, and no word of theirs stays. One transaction, written to the audit log.
 */
export async function revokeVerification(
  world: Pick<OperatorWorld, "store" | "clock" | "waitForPublication">,
  { slug, operator, reason, take_back_values }: Revocation,
): Promise<Result<RevokeAnswer, RevokeFailure>> {
  const done = await onProfile(world, slug, async (store, before, now) => {
    const at = now.getTime();
    const stands = await standingVerification(store, before.id);
    if (before.verified === 0 && before.status !== "claimed" && stands === null) {
      return fail({ kind: "not_verified", slug } as const);
    }
    const { after, taken_back, put_back } = listedAgain(before, take_back_values !== false);
    const stops = await stopHeldWrites(store, before.id, { reason, slug, by: operator, at });
    const save = { before, after };
    const { statements } = await planSaves(store, [save], { origin: "revocation", now });
    const removed = { submission_id: null, wallet_before: before.usdc_wallet, wallet: null };
    const entries = taken_back.includes("usdc_wallet")
      ? [walletEntry("removed", removed, { slug, by: operator, at })]
      : [];
    const detail = { reason, taken_back, put_back };
    const entry = { operator, action: "verification.revoked", subject: slug, detail, at };
    const stopped_hold = stops.length > 0;
    const writes = [...statements, noteRevoked(before.id, at), ...stops, ...entries, entry];
    return planned(ok({ slug, taken_back, put_back, stopped_hold }), ...writes);
  });
  if (!done.ok) return done;
  const { sequence, ...answer } = done.value;
  return ok({ ...answer, live: await isLive(world, sequence) });
}

const alwaysTaken = ["usdc_wallet", "contact_email", "donation_url"] as const;
const takenUnlessTold = profileFields.filter((field) => field !== "donation_url");

/** The profile without what was taken on the organisation's word, and with what that had replaced. */
function listedAgain(before: NonprofitRecord, takeBackValues: boolean) {
  const after: NonprofitRecord = { ...before, provenance: { ...before.provenance }, verified: 0 };
  if (before.status === "claimed") after.status = "listed";
  const taken_back: string[] = [];
  const put_back: string[] = [];
  for (const field of takeBackValues ? [...alwaysTaken, ...takenUnlessTold] : alwaysTaken) {
    const source = before.provenance[field];
    if (before[field] === null || source?.set_by !== "organisation") continue;
    taken_back.push(field);
    after[field] = source.replaced?.value ?? null;
    delete after.provenance[field];
    if (source.replaced === undefined) continue;
    put_back.push(field);
    if (source.replaced.source !== null) after.provenance[field] = source.replaced.source;
  }
  taken_back.push(...withoutPrograms(after, takeBackValues));
  if (after.usdc_wallet === null) {
    after.wallet_challenge = null;
    after.wallet_signature = null;
  }
  return { after, taken_back, put_back };
}

/** Empties the programmes that the organisation listed; answers what it emptied. */
function withoutPrograms(after: NonprofitRecord, takeBackValues: boolean): string[] {
  const said = after.provenance["programs"];
  if (!takeBackValues || said?.set_by !== "organisation") return [];
  after.programs = [];
  delete after.provenance["programs"];
  return ["programs"];
}
