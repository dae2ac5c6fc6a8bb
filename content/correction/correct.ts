import { secretDigest } from "#content/runtime/digest.ts";
import messages from "#content/editorial/request-messages.json";
import { randomBytes } from "node:crypto";
import { keptAnswerBytes, rowBytes, sizeOf } from "#content/operation/stored-bytes.ts";
import type {
  CorrectionAnswer,
  CorrectionBody,
  CorrectionStatus,
} from "#content/contract/correction.ts";
import type { Wrong } from "#content/contract/problem.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { type Clock, isoTime } from "#content/contract/base/time.ts";
import { readCorrection, saysAlready } from "./read.ts";
import {
  addCorrection,
  type Correction,
  correctionByToken,
  waitingForProfile,
  waitingOfNetwork,
  waitingTwin,
} from "./store.ts";
import { isQueueFull } from "#content/enrichment/consensus.ts";
import { recordBySlug, recordsById } from "#content/nonprofit/record-store.ts";
import { planOnce, requestDigest, isUsableKey } from "#content/operation/idempotency-store.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { carryOut, type Plan, planned } from "#content/operation/plan.ts";

export type CorrectWorld = {
  store: Store;
  clock: Clock;
  /** Without a trailing slash. */
  baseUrl: string;
  /** The secret of the link to a status page, always the same for the same id. */
  statusToken: (id: string) => string;
};

export type CorrectFailure =
  | { kind: "nonprofit_not_found"; slug: string }
  | { kind: "nonprofit_withdrawn"; merged_into: string | null }
  | { kind: "invalid_correction"; errors: Wrong[] }
  | { kind: "nothing_to_correct"; field: string }
  | { kind: "correction_queue_full" }
  | { kind: "invalid_idempotency_key" }
  | { kind: "idempotency_key_reused" };

/** Corrections of one network that may wait for all profiles together: no one fills the operator's queue alone. */
export const waitingInAllMax = 50;

export type CorrectCall = {
  slug: string;
  body: unknown;
  idempotencyKey: string | null;
  /** Keyed hash of the client's /24 or /48; null when it is not known. */
  network: string | null;
  countStored: (bytes: number) => void;
};

/**
 * Takes a word of anyone that a value is wrong. It is stored for an operator, and nothing of it is public before one
 * decides. The same correction again is answered with the one that waits, with its link only under the first one's
 * Idempotency-Key. Source: docs/decisions/33.
 */
export async function correct(
  world: CorrectWorld,
  { slug, body, idempotencyKey, network, countStored }: CorrectCall,
): Promise<Result<CorrectionAnswer, CorrectFailure>> {
  const now = world.clock();
  const read = readCorrection(body, { thisYear: now.getUTCFullYear() });
  if (!read.ok) return fail({ kind: "invalid_correction", errors: read.failure });
  if (idempotencyKey !== null && !isUsableKey(idempotencyKey)) {
    return fail({ kind: "invalid_idempotency_key" });
  }
  const request = read.value;
  const request_digest = requestDigest([slug, request]);
  const sender = network ?? "";
  const once = { route: "correct", sender, idempotencyKey, digest: () => request_digest, now };
  let bytes = 0;
  const stored = await world.store.write(async (tx) => {
    const plan = await planOnce(tx, once, async () => {
      bytes = keptAnswerBytes(idempotencyKey, sender, 1);
      const twin = await waitingTwin(tx, request_digest);
      if (twin !== null) return planned(ok({ id: twin.id, isFirst: false }));
      bytes += 2 * rowBytes + sizeOf(JSON.stringify(request));
      return planNew(tx, world, { slug, request, request_digest, network, now });
    });
    return carryOut(tx, plan);
  });
  if (!stored.ok) return stored;
  countStored(bytes);
  const { id, isFirst } = stored.value;
  const link = `${world.baseUrl}/corrections/status#${world.statusToken(id)}`;
  return ok({
    success: true,
    correction_id: id,
    slug,
    field: request.field,
    status: "pending_review",
    message: isFirst ? messages.correction.waits : messages.correction.waits_already,
    status_url: isFirst ? link : null,
  });
}

type Job = Pick<Correction, "request_digest" | "network"> & {
  slug: string;
  request: CorrectionBody;
  now: Date;
};

async function planNew(
  store: Queryable,
  { statusToken }: CorrectWorld,
  { slug, request, request_digest, network, now }: Job,
): Promise<Plan<{ id: string; isFirst: boolean }, CorrectFailure>> {
  const record = await recordBySlug(store, slug);
  if (record === null) return fail({ kind: "nonprofit_not_found", slug });
  if (record.status === "withdrawn") {
    return fail({ kind: "nonprofit_withdrawn", merged_into: record.merged_into });
  }
  if (saysAlready(record, request.field, request.suggested_value, now)) {
    return fail({ kind: "nothing_to_correct", field: request.field });
  }
  const isFull =
    isQueueFull(await waitingForProfile(store, record.id), network) ||
    (network !== null && (await waitingOfNetwork(store, network)) >= waitingInAllMax);
  if (isFull) return fail({ kind: "correction_queue_full" });
  const id = randomBytes(10).toString("hex");
  const correction = {
    ...request,
    id,
    nonprofit_id: record.id,
    network,
    request_digest,
    status_digest: secretDigest(statusToken(id)),
    created_at: now.getTime(),
  };
  return planned(ok({ id, isFirst: true }), addCorrection(correction));
}

/** The outcome of a correction, for anyone who holds its link; null for none. */
export async function correctionStatus(
  { store, baseUrl }: Pick<CorrectWorld, "store" | "baseUrl">,
  token: string,
): Promise<CorrectionStatus | null> {
  const correction = await correctionByToken(store, secretDigest(token));
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
