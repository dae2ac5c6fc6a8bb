import type { ConsensusMode } from "#content/enrichment/consensus.ts";
import { type EnrichmentRequest, readEnrichment, type Wrong } from "#content/enrichment/read.ts";
import type { Clock } from "#content/contract/time.ts";
import type { EnrichmentAnswer } from "#content/contract/enrichment-answers.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { type GroupCommit, groupCommit } from "#content/store/write-batcher.ts";
import type { Store } from "#content/store/open.ts";
import { enrichmentAnswer } from "./answer.ts";
import type { EnrichJob, EnrichOutcome, StoreFailure } from "./job.ts";
import { storeEnrichments } from "./transaction.ts";

/** What the verb works with; the service fills it from its parts. */
export type EnrichParts = {
  store: Store;
  clock: Clock;
  /** Without a trailing slash. */
  baseUrl: string;
  mode: ConsensusMode;
  /** Counts submissions of an agent; answers how long it must wait, 0 for not at all. */
  takeAgent: (agentId: string, submissions: number) => Promise<AgentAllowance>;
  /** Waits, bounded, until a change is published; absent where nothing is published beside the service. */
  waitForPublication?: ((sequence: number) => Promise<{ release: string } | null>) | undefined;
};

type AgentAllowance = { allowed: boolean; retryAfterMs: number };

export type EnrichCall = {
  slug: string;
  body: unknown;
  idempotencyKey: string | null;
  /** Keyed hash of the client's network; only asked for in the strict mode. */
  network: string | null;
};

export type EnrichFailure =
  | StoreFailure
  | { kind: "invalid_enrichment"; errors: Wrong[] }
  | { kind: "invalid_idempotency_key" }
  | { kind: "agent_rate_limited"; agent_id: string; retryAfterMs: number };

const idempotencyKeyLengthMax = 255;

/**
 * Takes what an agent found out about a nonprofit: stores it, and makes a structured value live when two agents agree.
 * All of it is one transaction; the answer comes after the commit is on disk and, for a value that went live, after the
 * published profile holds it or the wait for that ended. Nothing is ever fetched. Source: spec, "Enrichment".
 */
export async function enrich(
  parts: EnrichParts,
  call: EnrichCall,
): Promise<Result<EnrichmentAnswer, EnrichFailure>> {
  const read = readEnrichment(call.body, { thisYear: parts.clock().getUTCFullYear() });
  if (!read.ok) return fail({ kind: "invalid_enrichment", errors: read.failure });
  const key = call.idempotencyKey;
  if (key !== null && !isUsableKey(key)) return fail({ kind: "invalid_idempotency_key" });
  const limited = await limitAgent(parts, read.value);
  if (limited !== null) return fail(limited);
  const stored = await groupOf(parts.store).run({
    request: read.value,
    slug: call.slug,
    idempotencyKey: key,
    network: parts.mode === "networks" ? call.network : null,
    mode: parts.mode,
    now: parts.clock(),
  });
  if (!stored.ok) return stored;
  const published = await publication(parts, stored.value);
  return ok(
    enrichmentAnswer(stored.value, { ...published, baseUrl: parts.baseUrl, mode: parts.mode }),
  );
}

/** Printable, so that a key is the same thing to every proxy on its way. */
export const isUsableKey = (key: string): boolean =>
  key.length <= idempotencyKeyLengthMax && /^[\x21-\x7e]+$/.test(key);

async function limitAgent(
  { takeAgent }: EnrichParts,
  { agent_id, items }: EnrichmentRequest,
): Promise<EnrichFailure | null> {
  const { allowed, retryAfterMs } = await takeAgent(agent_id, items.length);
  return allowed ? null : { kind: "agent_rate_limited", agent_id, retryAfterMs };
}

/** `applied: true` is said only once the published profile holds the value. */
async function publication(
  { waitForPublication }: EnrichParts,
  { sequence }: EnrichOutcome,
): Promise<{ live: boolean; release: string | null }> {
  if (sequence === null || waitForPublication === undefined) return { live: false, release: null };
  const published = await waitForPublication(sequence);
  return { live: published !== null, release: published?.release ?? null };
}

type EnrichGroup = GroupCommit<EnrichJob, Result<EnrichOutcome, StoreFailure>>;
const groups = new WeakMap<Store, EnrichGroup>();

/** Submissions of one process that arrive together share a transaction and a sync to disk. */
function groupOf(store: Store): EnrichGroup {
  const known = groups.get(store);
  if (known !== undefined) return known;
  const made = groupCommit(store, storeEnrichments);
  groups.set(store, made);
  return made;
}
