import { z } from "zod";
import { agentFlags } from "#content/enrichment/agent.ts";
import { checkPickText, type PickText } from "#content/recommendation/pick-text.ts";
import { objectIn } from "#content/contract/json-object.ts";
import { isoTime } from "#content/contract/time.ts";
import { sensitiveClaims } from "#content/recommendation/wording.ts";
import type { FoundReview } from "#content/contract/review.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import {
  type StoredPick,
  addPick,
  isInFile,
  pickOf,
  replacePick,
} from "#content/recommendation/pick-store.ts";
import {
  agentsBehindDraft,
  applyAgreeing,
  draftById,
  draftQueue,
  type QueuedDraft,
  closeDraft,
  waitingDraftCount,
} from "#content/recommendation/draft-store.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import type { ReviewQueue, ReviewFailure } from "./review-queue.ts";

/** Recommendations that agents drafted: a person approves, edits or rejects them. */
export const draftReviews: ReviewQueue = {
  list: async (store, { after, limit }) => {
    const place = /^\d{1,15}$/.test(after ?? "") ? Number(after) : 0;
    const found: FoundReview[] = [];
    for (const one of await draftQueue(store, { after: place, limit })) {
      found.push(await itemOf(store, one));
    }
    return found;
  },

  find: async (store, key) => {
    const waiting = await waitingDraft(store, key);
    return waiting.ok ? itemOf(store, waiting.value) : null;
  },

  count: waitingDraftCount,

  approve: async (tx, { key, value, operator, now }) => {
    const waiting = await waitingDraft(tx, key);
    if (!waiting.ok) return waiting;
    const draft = waiting.value;
    if (isInFile(draft.slug)) return fail({ kind: "review_value_not_usable", message: inFile });
    const words = edited(draft, value);
    if (words === null) return fail({ kind: "review_value_not_usable", message: howToEdit });
    const text = checkPickText(words, { byAgent: false });
    if (!text.ok) {
      const [first] = text.failure;
      const message = `${first?.path ?? "value"}: ${first?.message ?? "it cannot be used."}`;
      return fail({ kind: "review_value_not_usable", message });
    }
    await recommendAs(tx, draft, { text: text.value, operator, at: now.getTime() });
    const { slug } = draft;
    return ok({ slug, sequence: null, message: `${slug} is recommended within seconds.` });
  },

  reject: async (tx, { key, reason, operator, now }) => {
    const waiting = await waitingDraft(tx, key);
    if (!waiting.ok) return waiting;
    const { id, slug } = waiting.value;
    const decided_by = `operator:${operator}`;
    await closeDraft(tx, id, { status: "rejected", reason, decided_by, at: now.getTime() });
    return ok({ slug, sequence: null, message: "The draft is rejected." });
  },
};

const inFile =
  "content/editorial/starter-set.json holds this nonprofit, and what it says wins: edit it there, and reject this draft.";

/** Makes the draft the recommendation of its nonprofit, and closes those of other agents that name the same intents. */
async function recommendAs(
  tx: WriteTransaction,
  draft: QueuedDraft,
  { text, operator, at }: { text: PickText; operator: string; at: number },
): Promise<void> {
  const { id, nonprofit_id } = draft;
  const before = await pickOf(tx, nonprofit_id);
  const pick = {
    ...text,
    nonprofit_id,
    causes: before?.causes ?? null,
    origin: "draft" as const,
    draft_id: id,
    added_by: operator,
    updated_at: at,
  };
  await (before === null ? addPick(tx, pick) : replacePick(tx, pick));
  await applyAgreeing(tx, draft, { decided_by: `operator:${operator}`, at });
}

/** What approve takes as `value` to change both. Null is a text that was emptied. */
const EditedDraft = z.strictObject({
  recommended_for: z.array(z.string()).optional(),
  why_recommended: z
    .string()
    .nullish()
    .transform((text) => (text === null ? "" : text)),
});

const howToEdit =
  'To change both, send value as a JSON object, for example {"recommended_for": ["donors interested in wells"], "why_recommended": "Repairs wells."}. Any other text replaces why_recommended.';

/** The words to approve: the draft's own, those of a JSON object, or a text for its sentences. Null: a broken object. */
function edited(draft: QueuedDraft, value: string | null): PickText | null {
  const { recommended_for, why_recommended } = draft;
  if (value === null) return { recommended_for, why_recommended };
  if (!value.trimStart().startsWith("{")) return { recommended_for, why_recommended: value };
  const read = EditedDraft.safeParse(objectIn(value));
  if (!read.success) return null;
  return {
    recommended_for: read.data.recommended_for ?? recommended_for,
    why_recommended: read.data.why_recommended ?? why_recommended,
  };
}

async function waitingDraft(
  store: Queryable,
  key: string,
): Promise<Result<QueuedDraft, ReviewFailure>> {
  const notFound = fail({ kind: "review_not_found", id: `draft-${key}` } as const);
  const draft = /^\d{1,15}$/.test(key) ? await draftById(store, Number(key)) : null;
  if (draft === null) return notFound;
  if (draft.status !== "pending") return fail({ kind: "review_decided", status: draft.status });
  const [record] = await recordsById(store, [draft.nonprofit_id], { summaries: true });
  if (record === undefined || record.status === "withdrawn") return notFound;
  return ok({ ...draft, slug: record.slug, name: record.name });
}

async function itemOf(store: Queryable, one: QueuedDraft): Promise<FoundReview> {
  const before = await pickOf(store, one.nonprofit_id);
  const confidence = await agentsBehindDraft(store, one);
  const { recommended_for, why_recommended, source_url, agent_id, agent_name } = one;
  return {
    id: `draft-${one.id}`,
    kind: "draft",
    slug: one.slug,
    name: one.name,
    summary:
      before === null
        ? "Approve to recommend this nonprofit, in these words or in your own, or reject with a reason."
        : "The nonprofit is recommended already. Approve to replace what is said of it, in these words or in your own, or reject with a reason.",
    detail: { recommended_for, why_recommended, source_url, agent_id, agent_name, confidence },
    comparison: [
      {
        field: "recommended_for",
        before: before?.recommended_for.join("\n") ?? null,
        after: recommended_for.join("\n"),
      },
      { field: "why_recommended", before: before?.why_recommended ?? null, after: why_recommended },
    ],
    checks: checksOf(one, before),
    sources: [source_url],
    flags: [
      ...agentFlags(agent_id),
      ...(one.test_data === 1 ? ["test_data"] : []),
      ...(one.sensitive_claims.length > 0 ? ["sensitive_claim"] : []),
    ],
    editing: {
      field: "recommendation",
      required: false,
      current: JSON.stringify({ recommended_for, why_recommended }, null, 2),
      choices: [],
    },
    cursor: String(one.id),
    created_at: isoTime(one.created_at),
  };
}

function checksOf(draft: QueuedDraft, before: StoredPick | null): FoundReview["checks"] {
  const text = checkPickText(draft, { byAgent: true });
  const claims = [...draft.recommended_for, draft.why_recommended].flatMap(sensitiveClaims);
  return [
    text.ok
      ? { name: "wording", outcome: "passed", message: "It makes no claim it cannot support." }
      : { name: "wording", outcome: "failed", message: text.failure[0]?.message ?? "" },
    claims.length === 0
      ? { name: "sensitive", outcome: "passed", message: "Nothing on impact or effectiveness." }
      : {
          name: "sensitive",
          outcome: "noted",
          message: `Only a person decides about ${claims.map(({ claim, phrase }) => `"${phrase}" (${claim})`).join(", ")}.`,
        },
    before === null
      ? { name: "recommended", outcome: "passed", message: "Not recommended so far." }
      : {
          name: "recommended",
          outcome: "noted",
          message: `Recommended already (${before.origin}).`,
        },
    { name: "source", outcome: "passed", message: "A source was given; it has not been opened." },
  ];
}
