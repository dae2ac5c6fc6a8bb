import type { ConsensusMode } from "#content/enrichment/consensus.ts";
import type { EnrichmentRequest } from "#content/enrichment/read.ts";
import type { EnrichTarget, OwnSubmission, Standing } from "#content/enrichment/target.ts";
import type { EnrichmentWrites } from "#content/enrichment/writes.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import type { Rejection, StoredSubmission } from "#content/enrichment/submissions.ts";

/** One request to enrich, read and checked, as it goes into a transaction. */
export type EnrichJob = {
  request: EnrichmentRequest;
  slug: string;
  idempotencyKey: string | null;
  /** Keyed hash of the client's network; null outside the strict mode. */
  network: string | null;
  mode: ConsensusMode;
  now: Date;
};

/** The transaction that a job shares with others, what they write together at its end, and the job's place among them. */
export type Group = { tx: WriteTransaction; writes: EnrichmentWrites; place: number };

/** One submission of a job, with what stands on its field. */
export type OneItem = {
  job: EnrichJob;
  target: EnrichTarget;
  item: EnrichmentRequest["items"][number];
  standing: Standing;
};

/** What became of a submission. `sequence` is that of the change that made its value live, null when none did. */
export type Stored = {
  submission: OwnSubmission;
  sequence: number | null;
  /** Other agents' values are pending too. */
  rivals: boolean;
  /** What was rejected on this field, as of after this submission. */
  rejections: readonly Rejection[];
};

export type StoreFailure =
  | { kind: "nonprofit_not_found"; slug: string }
  | { kind: "nonprofit_withdrawn"; slug: string }
  | { kind: "idempotency_key_reused" };

export type StoredItem = Pick<
  StoredSubmission,
  "id" | "field" | "field_type" | "status" | "audit_only" | "confidence" | "reason"
> & {
  corroborates: boolean;
  rivals: boolean;
  prior_rejections: readonly Rejection[];
};

/** What the transaction did: plain data, so that it can be kept for an Idempotency-Key. */
export type EnrichOutcome = {
  slug: string;
  name: string;
  items: StoredItem[];
  /** The newest change that made one of these values live; null when none is live. */
  sequence: number | null;
};
