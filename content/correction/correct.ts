import { secretDigest } from "#content/runtime/digest.ts";
import messages from "#content/editorial/request-messages.json";
import type {
  CorrectionAnswer,
  CorrectionBody,
  CorrectionStatus,
} from "#content/contract/correction.ts";
import type { Wrong } from "#content/contract/problem.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { type Clock, isoTime } from "#content/contract/base/time.ts";
import { readCorrection, saysAlready } from "./read.ts";
import { correctionStore } from "./store.ts";
import { isQueueFull } from "#content/requests/quota.ts";
import { recordBySlug, recordsById } from "#content/nonprofit/record-store.ts";
import {
  type NewRequest,
  receive,
  type ReceiveFailure,
  type RequestCall,
} from "#content/requests/receive.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { type Plan, planned } from "#content/operation/plan.ts";

export type CorrectWorld = {
  store: Store;
  clock: Clock;
  /** Without a trailing slash. */
  baseUrl: string;
  /** The secret in the link of a status page, always the same for an id. */
  statusToken: (id: string) => string;
};

export type CorrectFailure =
  | { kind: "nonprofit_not_found"; slug: string }
  | { kind: "nonprofit_withdrawn"; merged_into: string | null }
  | { kind: "invalid_correction"; errors: Wrong[] }
  | { kind: "nothing_to_correct"; field: string }
  | { kind: "correction_queue_full" }
  | ReceiveFailure;

/** The most waiting corrections of one network over all profiles, so that no one fills the operator's queue alone. */
export const waitingInAllMax = 50;

/**
 * Accepts a report from anyone that a value is wrong. It is stored for an operator, and nothing is public before one
 * decides. A repeated correction is answered with the waiting one, with its link only under the first one's Idempotency-Key
 * (docs/decisions/33-corrections.md).
 */
export async function correct(
  world: CorrectWorld,
  call: RequestCall & { slug: string },
): Promise<Result<CorrectionAnswer, CorrectFailure>> {
  const { slug } = call;
  const now = world.clock();
  const result = readCorrection(call.body, { thisYear: now.getUTCFullYear() });
  if (!result.ok) return fail({ kind: "invalid_correction", errors: result.failure });
  const request = result.value;
  const { statusToken } = world;
  const receipt = await receive({ ...world, now }, call, {
    route: "correct",
    sender: call.network ?? "",
    request,
    sameness: [slug, request],
    statusToken,
    waitingTwin: correctionStore.waitingTwin,
    again: (_, { id }) => ({ id, isFirst: false }),
    plan: (store, row) => planNew(store, { slug, request, row, now }),
  });
  if (!receipt.ok) return receipt;
  const { id, isFirst } = receipt.value;
  return ok({
    success: true,
    correction_id: id,
    slug,
    field: request.field,
    status: "pending_review",
    message: isFirst ? messages.correction.waits : messages.correction.waits_already,
    status_url: isFirst ? `${world.baseUrl}/corrections/status#${statusToken(id)}` : null,
  });
}

type Job = { slug: string; request: CorrectionBody; row: NewRequest; now: Date };

async function planNew(
  store: Queryable,
  { slug, request, row, now }: Job,
): Promise<Plan<{ id: string; isFirst: boolean }, CorrectFailure>> {
  const record = await recordBySlug(store, slug);
  if (record === null) return fail({ kind: "nonprofit_not_found", slug });
  if (record.status === "withdrawn") {
    return fail({ kind: "nonprofit_withdrawn", merged_into: record.merged_into });
  }
  if (saysAlready(record, request.field, request.suggested_value, now)) {
    return fail({ kind: "nothing_to_correct", field: request.field });
  }
  const { network } = row;
  const { waitingFor, waitingOfNetwork } = correctionStore;
  const isFull =
    isQueueFull(await waitingFor(store, record.id), network) ||
    (network !== null && (await waitingOfNetwork(store, network)) >= waitingInAllMax);
  if (isFull) return fail({ kind: "correction_queue_full" });
  const insertion = correctionStore.add({ ...request, ...row, nonprofit_id: record.id });
  return planned(ok({ id: row.id, isFirst: true }), insertion);
}

/** The status of a correction, for anyone who has its link; null if there is none. */
export async function correctionStatus(
  { store, baseUrl }: Pick<CorrectWorld, "store" | "baseUrl">,
  token: string,
): Promise<CorrectionStatus | null> {
  const correction = await correctionStore.byToken(store, secretDigest(token));
  if (correction === null) return null;
  const [record] = await recordsById(store, [correction.nonprofit_id]);
  const slug = record?.slug ?? "";
  return {
    correction_id: correction.id,
    slug,
    field: correction.field,
    status: correction.status,
    reason: correction.reason,
    submitted_at: isoTime(correction.created_at),
    reviewed_at: correction.reviewed_at === null ? null : isoTime(correction.reviewed_at),
    profile_url: `${baseUrl}/nonprofits/${slug}`,
    history_url: `${baseUrl}/api/history/${slug}`,
    message: messages.correction[correction.status],
  };
}
