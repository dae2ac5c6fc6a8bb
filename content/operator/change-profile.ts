import type { z } from "zod";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { enrichableFields, isRowField } from "#content/contract/enrichment.ts";
import type { RevokeAnswer, RevokeBody } from "#content/contract/onboarding.ts";
import type { Wrong } from "#content/contract/problem.ts";
import type { ProfileChange, ProfileValues } from "#content/contract/profile-change.ts";
import { overruleField } from "#content/enrichment/agreed-field-store.ts";
import { readProfileValues } from "#content/enrichment/profile-values.ts";
import {
  edited,
  restored,
  whyNotMerged,
  withdrawnBy,
} from "#content/nonprofit/operator-changes.ts";
import type { SourcedValue } from "#content/nonprofit/provenance.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { planSaves, type Save } from "#content/nonprofit/save.ts";
import { publicFields, publicValue } from "#content/nonprofit/wire.ts";
import { profileFields } from "#content/onboarding/outcome.ts";
import { noteRevoked, standingVerification } from "#content/onboarding/store.ts";
import {
  applyDueHolds,
  stopHeldWrites,
  walletEntry,
} from "#content/onboarding/wallet-hold-store.ts";
import { type Plan, planned, type Write } from "#content/operation/plan.ts";
import { type Link, linkThatTook, planLink, planUnlink } from "#content/register/links-store.ts";
import { type OperatorWorld, isLive, operate } from "#content/requests/kind.ts";
import type { Queryable } from "#content/store/open.ts";
import type { Statement } from "#content/store/query.ts";

export type ProfileFailure =
  | { kind: "nonprofit_not_found"; slug: string }
  | { kind: "not_verified"; slug: string }
  | { kind: "profile_conflict"; message: string }
  | { kind: "invalid_profile"; errors: Wrong[] };

type ProfileWorld = Pick<OperatorWorld, "store" | "clock" | "curated" | "waitForPublication">;
type OperatorRequest<Body> = Body & { slug: string; operator: string; reason: string };

/** The result of an operator's change: saves and other writes; `detail` goes into the audit log with the reason. */
type ProfileOutcome = {
  saves: Save[];
  /** Writes to run before the saves, none of them to profiles. */
  writes?: readonly Write[];
  fields: readonly string[];
  message: string;
  detail?: Record<string, unknown>;
};

type Planner<Answer, Failure> = (
  store: Queryable,
  before: NonprofitRecord,
  now: Date,
) => Promise<Plan<Answer, Failure>>;

/**
 * Reads, plans and carries out one change of a profile in one transaction, and returns the sequence of its public change, or
 * null. Held wallets that are due take effect first.
 */
export const onProfile = <Answer extends { slug: string }, Failure>(
  { store, clock }: Pick<OperatorWorld, "store" | "clock">,
  slug: string,
  plan: Planner<Answer, Failure>,
) =>
  store.write(async (tx) => {
    const now = clock();
    const profile = await recordBySlug(tx, slug);
    if (profile === null) return fail({ kind: "nonprofit_not_found", slug } as const);
    await applyDueHolds(tx, now, profile.id);
    const before = (await recordBySlug(tx, slug)) ?? profile;
    return operate(tx, profile.id, await plan(tx, before, now));
  });

/** One change by an operator, with an entry in the audit log; afterwards this process reads the recommendations again. */
async function changeProfile(
  world: ProfileWorld,
  { slug, operator, reason, change }: OperatorRequest<Pick<ProfileChange, "change">>,
  outcomeOf: (
    ...of: Parameters<Planner<ProfileOutcome, ProfileFailure>>
  ) => Promise<Result<ProfileOutcome, ProfileFailure>>,
): Promise<Result<ProfileChange, ProfileFailure>> {
  const result = await onProfile(world, slug, async (store, before, now) => {
    const outcome = await outcomeOf(store, before, now);
    if (!outcome.ok) return outcome;
    const { saves, writes = [], fields, message, detail } = outcome.value;
    const entry = {
      operator,
      action: `profile.${change}`,
      subject: slug,
      detail: { reason, public: true, ...detail },
      at: now.getTime(),
    };
    const { statements } = await planSaves(store, saves, { origin: "operator", now });
    const answer = { slug, change, fields: publicFields(fields), message };
    return planned(ok(answer), ...writes, ...statements, entry);
  });
  if (!result.ok) return result;
  // A restored profile may be a recommended one.
  world.curated.lookAgain();
  const { sequence, ...answer } = result.value;
  return ok({ ...answer, live: await isLive(world, sequence) });
}

const conflict = (message: string) => fail({ kind: "profile_conflict", message } as const);

/** Withdraws a profile; its address stays. A held wallet is stopped and does not return if the profile is restored. */
export const withdrawProfile = (world: ProfileWorld, request: OperatorRequest<unknown>) =>
  changeProfile(world, { ...request, change: "withdrawn" }, async (store, before, now) => {
    if (before.status === "withdrawn") return conflict("This profile is withdrawn already.");
    const { slug, reason, operator: by } = request;
    const stops = await stopHeldWrites(store, before.id, { reason, slug, by, at: now.getTime() });
    return ok({
      saves: [{ before, after: withdrawnBy(before, now) }],
      writes: stops,
      fields: ["status"],
      message: `Withdrawn: it is in no list and takes no data and no donations. Restore undoes it.${stops.length > 0 ? " Its wallet on hold is stopped for good." : ""}`,
    });
  });

/** Restores a profile that an operator or a register withdrew; a merged one gets its registrations back. */
export const restoreProfile = (world: ProfileWorld, request: OperatorRequest<unknown>) =>
  changeProfile(world, { ...request, change: "restored" }, async (store, before, now) => {
    if (before.status !== "withdrawn") return conflict("This profile is not withdrawn.");
    const link = await linkThatTook(store, before.slug);
    if (link !== null) return ok(await unlinked(store, before, link, { ...request, now }));
    const { merged_into } = before;
    const stays =
      merged_into === null
        ? ""
        : ` What went to ${merged_into} stays there, its registrations included: edit both where that is wrong.`;
    return ok({
      saves: [{ before, after: restored(before, now) }],
      fields: merged_into === null ? ["status"] : ["status", "merged_into"],
      message: `Restored: it is in the lists again.${stays}`,
      detail: merged_into === null ? {} : { merged_into },
    });
  });

/** Undoes a link. What its register has removed since stays withdrawn. */
async function unlinked(
  store: Queryable,
  before: NonprofitRecord,
  link: Link,
  { operator: by, reason, now }: OperatorRequest<{ now: Date }>,
): Promise<ProfileOutcome> {
  const undone = { by, reason, now };
  const { saves, statements, kept, fields } = await planUnlink(store, before, link, undone);
  const isListed = saves[0]?.after.status !== "withdrawn";
  const otherFields = publicFields(fields).filter((field) => field !== "registrations");
  const back = `with its registrations, which ${kept} gave back${otherFields.length > 0 ? ` with ${otherFields.join(", ")}` : ""}`;
  const message = isListed
    ? `Restored: it is in the lists again, ${back}.`
    : `No longer merged, ${back}; but its register no longer has it, so it stays withdrawn. Restore it once more to list it all the same.`;
  return {
    saves,
    writes: statements,
    fields: [...(isListed ? ["status"] : []), "merged_into", "registrations"],
    message: `${message} The two are never linked again by themselves.`,
    detail: { merged_into: kept, fields },
  };
}

/**
 * Withdraws a profile in favour of another, which gets what it lacks. Wallet, contact address, claim, donations and
 * submissions stay where they are: past gifts keep their recipient, and no organisation gets another's wallet.
 */
export const mergeProfile = (
  world: ProfileWorld,
  { into: targetSlug, ...request }: OperatorRequest<{ into: string }>,
) =>
  changeProfile(world, { ...request, change: "merged" }, async (store, before, now) => {
    const into = await recordBySlug(store, targetSlug);
    if (into === null) return fail({ kind: "nonprofit_not_found", slug: targetSlug });
    const why = whyNotMerged(before, into);
    if (why !== null) return conflict(why);
    const { operator, reason } = request;
    const link = { source: "operator", set_by: operator, reason, now } as const;
    const linkPlan = await planLink(store, { gone: before, into }, link);
    const { saves, statements, fields } = linkPlan;
    return ok({
      saves,
      writes: statements,
      fields,
      message: `Merged: its page leads to ${targetSlug}, which got ${fields.length === 0 ? "nothing that it lacked" : fields.join(", ")}. Donations and submissions stay on record where they were made.`,
      detail: { into: targetSlug, fields },
    });
  });

/**
 * Sets or empties fields of a profile for an operator. Agents whose values waited for such a field, or had made another
 * value live, learn that an operator decided.
 */
export const editProfile = (
  world: ProfileWorld,
  { values, ...request }: OperatorRequest<{ values: ProfileValues }>,
) =>
  changeProfile(world, { ...request, change: "edited" }, async (_, before, now) => {
    if (before.status === "withdrawn") {
      return conflict("This profile is withdrawn. Restore it before you edit it.");
    }
    const profileValues = readProfileValues(values, { thisYear: now.getUTCFullYear() });
    if (!profileValues.ok) return fail({ kind: "invalid_profile", errors: profileValues.failure });
    const plan = planFields(before, profileValues.value, now);
    if (plan === null) return conflict("The profile holds these values already.");
    const message = `Saved: ${publicFields(plan.fields).join(", ").replaceAll("_", " ")}.`;
    return ok({ ...plan, message });
  });

/**
 * What becomes of a profile once an operator sets these values: the saves, the fields, the detail for the audit log, and
 * the writes to do before the saves, which reject what agents sent for these fields. Null when the profile holds the
 * values already. `suggestions`: see edited.
 */
export function planFields(
  before: NonprofitRecord,
  values: Partial<NonprofitRecord>,
  now: Date,
  suggestions: readonly SourcedValue[] = [],
) {
  const { after, fields } = edited(before, values, now, suggestions);
  if (fields.length === 0) return null;
  const writes: Statement[] = [];
  for (const field of enrichableFields) {
    if (isRowField(field) || !fields.includes(field)) continue;
    const value = after[field] === null ? null : String(after[field]);
    writes.push(...overruleField({ nonprofit_id: before.id, field, value, now }));
  }
  const detail = { was: loggable(before, fields), set: loggable(after, fields) };
  return { saves: [{ before, after }], writes, fields, detail };
}

/** Values for the audit log, which keeps them forever: contacts are left out. */
const loggable = (record: NonprofitRecord, fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    fields.map((field) => {
      const value: unknown = record[field as "name"];
      return [field, typeof value === "string" ? publicValue(field, value) : value];
    }),
  );

type Revocation = z.output<typeof RevokeBody> & { slug: string; operator: string };

/**
 * Revokes the verification of a nonprofit, which becomes a listing that can be claimed again. Values that the organisation
 * had set are removed, and what they replaced returns; a held wallet is stopped. So no gift and no value remains with
 * someone who was wrongly believed. One transaction, with an entry in the audit log.
 */
export async function revokeVerification(
  world: Pick<OperatorWorld, "store" | "clock" | "waitForPublication">,
  { slug, operator, reason, take_back_values }: Revocation,
): Promise<Result<RevokeAnswer, ProfileFailure>> {
  const outcome = await onProfile(world, slug, async (store, before, now) => {
    const at = now.getTime();
    const stands = await standingVerification(store, before.id);
    if (before.verified === 0 && before.status !== "claimed" && stands === null) {
      return fail({ kind: "not_verified", slug } as const);
    }
    const { after, taken_back, put_back } = listedAgain(before, take_back_values !== false);
    const stops = await stopHeldWrites(store, before.id, { reason, slug, by: operator, at });
    const save = { before, after };
    const { statements } = await planSaves(store, [save], { origin: "revocation", now });
    const removal = { submission_id: null, wallet_before: before.usdc_wallet, wallet: null };
    const entries = taken_back.includes("usdc_wallet")
      ? [walletEntry("removed", removal, { slug, by: operator, at })]
      : [];
    const detail = { reason, taken_back, put_back };
    const entry = { operator, action: "verification.revoked", subject: slug, detail, at };
    const stopped_hold = stops.length > 0;
    const writes = [...statements, noteRevoked(before.id, at), ...stops, ...entries, entry];
    return planned(ok({ slug, taken_back, put_back, stopped_hold }), ...writes);
  });
  if (!outcome.ok) return outcome;
  const { sequence, ...answer } = outcome.value;
  return ok({ ...answer, live: await isLive(world, sequence) });
}

const alwaysTaken = ["usdc_wallet", "contact_email", "donation_url"] as const;
const takenUnlessTold = [
  "name" as const,
  ...profileFields.filter((field) => field !== "donation_url"),
];

/** Whether the organisation set a field. The name of a profile that it registered stays: there is no other. */
function isTaken(before: NonprofitRecord, field: keyof NonprofitRecord) {
  const source = before.provenance[field];
  if (before[field] === null || source?.set_by !== "organisation") return false;
  return field !== "name" || source.replaced !== undefined;
}

/** The profile without the organisation's values, and with those that they replaced. */
function listedAgain(before: NonprofitRecord, takeBackValues: boolean) {
  const after: NonprofitRecord = { ...before, provenance: { ...before.provenance }, verified: 0 };
  if (before.status === "claimed") after.status = "listed";
  const taken_back: string[] = [];
  const put_back: string[] = [];
  for (const field of takeBackValues ? [...alwaysTaken, ...takenUnlessTold] : alwaysTaken) {
    if (!isTaken(before, field)) continue;
    const replaced = before.provenance[field]?.replaced;
    taken_back.push(field);
    Object.assign(after, { [field]: replaced?.value ?? null });
    delete after.provenance[field];
    if (replaced === undefined) continue;
    put_back.push(field);
    if (replaced.source !== null) after.provenance[field] = replaced.source;
  }
  taken_back.push(...withoutPrograms(after, takeBackValues));
  if (after.usdc_wallet === null) {
    after.wallet_challenge = null;
    after.wallet_signature = null;
  }
  return { after, taken_back, put_back };
}

/** Empties the programmes that the organisation listed; returns the names of emptied fields. */
function withoutPrograms(after: NonprofitRecord, takeBackValues: boolean): string[] {
  const provenance = after.provenance["programs"];
  if (!takeBackValues || provenance?.set_by !== "organisation") return [];
  after.programs = [];
  delete after.provenance["programs"];
  return ["programs"];
}
