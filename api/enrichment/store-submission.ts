import { decide, type Decision } from "#content/enrichment/consensus.ts";
import { comparedLive } from "#content/enrichment/normalise.ts";
import { corroborates } from "#content/enrichment/promotion-note.ts";
import { addCorroboration } from "#content/enrichment/apply-field.ts";
import type { OwnSubmission, Standing } from "#content/enrichment/target.ts";
import { type NewSubmission, priorRejections } from "#content/enrichment/submissions.ts";
import type { Group, OneItem, Stored } from "./job.ts";
import { applySubmission, recount, replaceOwn } from "./apply-submission.ts";
import { earlierOf, repeatSubmission } from "./repeat-submission.ts";

/** Stores a submission and does what the rules decide of it; one that the agent sent before is not stored again. */
export async function storeSubmission(group: Group, one: OneItem): Promise<Stored> {
  const earlier = earlierOf(one);
  if (earlier !== null) return repeatSubmission(group, one, earlier);
  const { job, item, standing } = one;
  const fresh = newSubmission(one);
  const decision = decide({
    field_type: item.field_type,
    live: standing.live === null ? null : comparedLive(item.field, standing.live),
    pending: standing.voices,
    mine: fresh,
    mode: job.mode,
  });
  countSubmission(group, one, fresh);
  switch (decision.kind) {
    case "audit":
      return told(one, await audit(group, one, fresh, decision.corroborates));
    case "queued":
      return told(
        one,
        group.writes.insert({ ...fresh, network: null, confidence: countedOnce(standing) }),
      );
    case "pending":
      return wait(group, one, { fresh, decision });
    case "applied": {
      await replaceOwn(group, fresh, decision);
      const mine = group.writes.insert({ ...fresh, confidence: decision.confidence });
      return applySubmission(group, one, { mine, decision });
    }
    default:
      return decision satisfies never;
  }
}

const newSubmission = ({ job, target, item }: OneItem): NewSubmission => ({
  nonprofit_id: target.id,
  field: item.field,
  field_type: item.field_type,
  value: item.value,
  normalised_value: item.normalised_value,
  source_url: item.source_url,
  agent_id: job.request.agent_id,
  agent_name: job.request.agent_name,
  network: job.network,
  status: "pending",
  audit_only: 0,
  test_data: item.test_data ? 1 : 0,
  confidence: 1,
  reason: null,
  winning_value: null,
  created_at: job.now.getTime(),
  applied_at: null,
  decided_at: null,
});

/** How many distinct agents sent this value where nothing is to be decided; one that sent it before counts once. */
const countedOnce = ({ own, running }: Standing): number =>
  own === null ? running + 1 : Math.max(1, running);

/** For a submission that makes nothing live and competes with none. */
const told = ({ standing }: OneItem, submission: OwnSubmission): Stored => ({
  submission,
  sequence: null,
  rivals: false,
  rejections: standing.rejections,
});

/** The field holds a value: logged, and the agent named as one more source when it found the same. */
async function audit(
  { tx, writes }: Group,
  { job, target, standing }: OneItem,
  fresh: NewSubmission,
  corroborating: boolean,
): Promise<OwnSubmission> {
  const confidence = countedOnce(standing);
  const reason = corroborating ? corroborates : null;
  const submission = writes.insert({ ...fresh, network: null, audit_only: 1, confidence, reason });
  if (corroborating && fresh.test_data === 0) {
    await addCorroboration(tx, { ...fresh, slug: target.slug, now: job.now });
  }
  return submission;
}

type Pending = Extract<Decision, { kind: "pending" }>;

async function wait(
  group: Group,
  { standing }: OneItem,
  { fresh, decision }: { fresh: NewSubmission; decision: Pending },
): Promise<Stored> {
  const { tx, writes } = group;
  await replaceOwn(group, fresh, decision);
  // Alone with its value there is nobody else to tell.
  if (decision.confidence > 1) await recount(group, fresh, decision.confidence);
  const submission = writes.insert({ ...fresh, confidence: decision.confidence });
  if (fresh.test_data === 0) writes.countPending(fresh);
  const isNews = decision.replaces !== null;
  const rejections = isNews ? await priorRejections(tx, fresh) : standing.rejections;
  return { submission, sequence: null, rivals: standing.rivals, rejections };
}

function countSubmission(
  { writes: { tally }, place }: Group,
  { target, job, item }: OneItem,
  fresh: NewSubmission,
): void {
  const counted = fresh.test_data === 0;
  tally.add("total");
  tally.add(`status:${fresh.status}`);
  tally.add(`field:${fresh.field}`);
  if (counted) tally.add("public_submissions");
  // Of a batch the first item that counts is the one that touches the nonprofit.
  const first = job.request.items.find(({ test_data }) => !test_data) === item;
  const touched = counted && first && !target.touched;
  tally.seen({ ...fresh, at: fresh.created_at, place }, { counted, touched });
}
