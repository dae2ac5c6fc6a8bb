import assert from "node:assert/strict";
import type { z } from "zod";
import type {
  EnrichmentAnswer,
  EnrichmentSubmission,
  PriorRejection,
} from "#content/contract/enrichment-answers.ts";
import {
  batchItemsMax,
  type EnrichmentBody,
  type EnrichmentItem,
  fieldTypeOf,
  proseFields,
  structuredFields,
  whichField,
} from "#content/contract/enrichment.ts";
import { type Wrong, wrongsMax } from "#content/contract/problem.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { wireTime } from "#content/contract/base/time.ts";
import { publicName } from "#content/nonprofit/public-name.ts";
import { publicValue } from "#content/nonprofit/wire.ts";
import { type Agent, readAgent } from "./agent.ts";
import {
  agentsNeeded,
  type ConsensusMode,
  promotionNote,
  type SubmissionState,
} from "./consensus.ts";
import type { StoredItem } from "./plan.ts";
import type { NewSubmission, Rejection } from "./submission-store.ts";
import { checkSourceUrl, checkValue, isTestData } from "./value.ts";

export type ReadItem = Pick<
  NewSubmission,
  "field" | "field_type" | "value" | "normalised_value" | "source_url"
> & { test_data: boolean };

/** A checked and cleaned request to enrich: at least one item, each field at most once. */
export type EnrichmentRequest = Agent & { items: ReadItem[] };

/**
 * Reads the body of POST /api/enrich/{slug}: one submission, a batch, or both. One bad item refuses the whole request, and
 * the errors name each bad item by its path.
 */
export function readEnrichment(
  body: EnrichmentBody,
  { thisYear }: { thisYear: number },
): Result<EnrichmentRequest, Wrong[]> {
  const fields = body.fields ?? [];
  const single = singleItem(body);
  if (!single.ok) return single;
  // The `source_url` beside the batch applies to all items that have none of their own.
  const batch = fields.map((field, at) => {
    const item = { ...field, source_url: field.source_url ?? body.source_url };
    return { item, path: `fields[${at}]` };
  });
  const sentItems = [...single.value, ...batch];
  if (sentItems.length === 0) {
    const message = "Send field and value, or fields: an array of {field, value, source_url}.";
    return fail([{ path: "", message }]);
  }
  if (sentItems.length > batchItemsMax) {
    return fail([{ path: "fields", message: `A batch may hold at most ${batchItemsMax} fields.` }]);
  }
  const { agent, wrongs: wrongNames } = readAgent(body);
  const wrongs: Wrong[] = [...wrongNames];
  const items: ReadItem[] = [];
  const seen = new Set<string>();
  for (const { item, path } of sentItems) {
    const at = (name: string) => (path === "" ? name : `${path}.${name}`);
    if (seen.has(item.field)) {
      const message = `${item.field} is in this batch twice: send each field once.`;
      wrongs.push({ path: at("field"), message });
    }
    seen.add(item.field);
    const read = readItem(item, agent, thisYear);
    if (read.ok) items.push(read.value);
    else wrongs.push(...read.failure.map((wrong) => ({ ...wrong, path: at(wrong.path) })));
  }
  return wrongs.length > 0 ? fail(wrongs.slice(0, wrongsMax)) : ok({ ...agent, items });
}

type Item = z.infer<typeof EnrichmentItem>;

/** Checks one item; errors are named by its members. */
function readItem(item: Item, agent: Agent, thisYear: number): Result<ReadItem, Wrong[]> {
  const { field } = item;
  const value = checkValue(field, item.value, { thisYear });
  const source = checkSourceUrl(item.source_url);
  if (!value.ok || !source.ok) {
    return fail([
      ...(value.ok ? [] : [{ path: "value", message: value.failure }]),
      ...(source.ok ? [] : [{ path: "source_url", message: source.failure }]),
    ]);
  }
  return ok({
    field,
    field_type: fieldTypeOf(field),
    ...value.value,
    source_url: source.value,
    test_data: isTestData({ field, ...value.value, ...agent }),
  });
}

/** `field` beside `fields` is one more item; `field` without `value`, or the reverse, is an error. */
function singleItem(body: EnrichmentBody): Result<{ item: Item; path: string }[], Wrong[]> {
  // A null member counts as absent.
  const { field, value, source_url } = body;
  if (field == null && value == null) return ok([]);
  if (field == null) return fail([{ path: "field", message: whichField }]);
  if (value == null)
    return fail([{ path: "value", message: `value must be the ${field}, as text.` }]);
  return ok([{ item: { field, value, source_url }, path: "" }]);
}

/** The result of the transaction, with earlier rejections. */
export type EnrichOutcome = Omit<EnrichResult, "items"> & {
  /** Bytes stored; 0 when nothing new was stored. */
  bytes: number;
  items: (StoredItem & { prior_rejections: readonly Rejection[] })[];
};

/** The result of the transaction: plain data that can be stored under an Idempotency-Key. */
export type EnrichResult = {
  nonprofit_id: number;
  slug: string;
  name: string;
  /** Whether the agent's id is bound; the request then came with its secret. */
  bound: boolean;
  items: StoredItem[];
  /** The time of the transaction, in milliseconds since 1970. */
  at: number;
  /** The newest change that made one of these values live; null when none is live. */
  sequence: number | null;
};

const bound = "Your agent_id is bound: only its secret submits under it.";
const unbound = (baseUrl: string) =>
  `Your agent_id is not bound: anyone can submit under it. POST ${baseUrl}/api/agents binds an unused one to a secret.`;

/** What the answer depends on besides the outcome. */
export type AnswerContext = {
  baseUrl: string;
  mode: ConsensusMode;
  /** Whether the published profile shows what was applied. */
  live: boolean;
  /** Whether a rollback holds publishing. */
  held: boolean;
  release: string | null;
};

/** The answer to a client about its submissions. */
export function enrichmentAnswer(outcome: EnrichOutcome, context: AnswerContext): EnrichmentAnswer {
  const profile_url = `${context.baseUrl}/nonprofits/${outcome.slug}`;
  const submissions = outcome.items.map((item) => submissionOf(item, profile_url, context));
  const [first] = submissions;
  assert(first !== undefined, "a submission has a field");
  return {
    message: summary(submissions),
    nonprofit: outcome.name,
    profile_url,
    auto_promote: {
      structured: [...structuredFields],
      prose_pending: [...proseFields],
      ...Object.fromEntries(submissions.map(({ field, applied }) => [field, applied])),
    },
    field_type: first.field_type,
    promotion_note: first.promotion_note,
    submissions,
    release: context.release,
    bound: outcome.bound,
    note: `${outcome.bound ? bound : unbound(context.baseUrl)} Every applied submission credits its agent_name on the leaderboard: ${context.baseUrl}/agents and ${context.baseUrl}/api/agents/leaderboard.`,
  };
}

function submissionOf(
  item: EnrichOutcome["items"][number],
  profile_url: string,
  context: AnswerContext,
): EnrichmentSubmission {
  const decidedByPerson = item.field_type === "prose" && item.status === "applied";
  return {
    submission_id: item.id,
    field: item.field,
    field_type: item.field_type,
    status: item.status,
    applied: item.status === "applied" && context.live,
    confidence: item.confidence,
    consensus: item.confidence >= agentsNeeded,
    promotion_note: promotionNote(item.field, stateOf(item, context, decidedByPerson)),
    prior_rejections: item.prior_rejections.map((rejection) => rejectionOf(item.field, rejection)),
    profile_url,
  };
}

function stateOf(
  item: StoredItem,
  { live, held, mode }: AnswerContext,
  byPerson: boolean,
): SubmissionState {
  const agents = item.confidence;
  if (item.status === "rejected") return { kind: "rejected", reason: item.reason ?? "" };
  if (byPerson) return { kind: "accepted" };
  if (item.status === "applied") {
    return live ? { kind: "live", agents } : { kind: "publishing", agents, held };
  }
  if (item.audit_only === 1) return { kind: item.corroborates ? "corroborates" : "audit" };
  if (item.field_type === "prose") return { kind: "queued" };
  const { rivals, tests } = item;
  if (tests !== null && tests !== "others") return { kind: "test", cause: tests };
  return { kind: "awaiting", agents, rivals, tests: tests !== null, mode };
}

const rejectionOf = (field: string, rejection: Rejection): PriorRejection => ({
  agent: publicName(rejection),
  rejected_value: publicValue(field, rejection.value),
  reason: rejection.reason ?? "",
  winning_value:
    rejection.winning_value === null ? null : publicValue(field, rejection.winning_value),
  rejected_at: wireTime(new Date(rejection.decided_at ?? 0)),
});

function summary(submissions: readonly EnrichmentSubmission[]): string {
  const applied = submissions.filter(({ status }) => status === "applied").length;
  const received = submissions.length === 1 ? "1 submission" : `${submissions.length} submissions`;
  const rejected = submissions.filter(({ status }) => status === "rejected").length;
  const waiting = submissions.length - applied - rejected;
  return `Thank you: ${received} received, ${applied} applied, ${waiting} pending${rejected === 0 ? "" : `, ${rejected} rejected`}. Each promotion_note says what comes next.`;
}
