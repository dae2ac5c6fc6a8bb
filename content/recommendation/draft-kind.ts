import { z } from "zod";
import { objectIn } from "#content/contract/base/json.ts";
import { ok } from "#content/contract/base/result.ts";
import { failed, noted, passed, type ReviewCheck } from "#content/contract/review.ts";
import {
  agentsBehindDraft,
  applyAgreeing,
  closeDraft,
  draftById,
  draftQueue,
  expireDrafts,
  type StoredDraft,
  waitingDraftCount,
} from "./draft-store.ts";
import { isInFile, pickOf, setPick, type StoredPick } from "./pick-store.ts";
import { checkPickText, type PickText } from "./pick-text.ts";
import { planned } from "#content/operation/plan.ts";
import { isListed, numbered, requestKind, unusable } from "#content/requests/kind.ts";
import { flagsOf, sourceGiven, wordingPassed } from "#content/enrichment/request-checks.ts";

/** Recommendations that agents drafted. A person approves, edits or rejects them. */
export const draftRequests = requestKind<StoredDraft>({
  kind: "draft",
  ...numbered({ count: waitingDraftCount, page: draftQueue, byId: draftById }),
  isWaiting: isListed,
  expire: expireDrafts,

  item: async (store, { row: draft }) => {
    const before = await pickOf(store, draft.nonprofit_id);
    const confidence = await agentsBehindDraft(store, draft);
    const { recommended_for, why_recommended, source_url, agent_id, agent_name } = draft;
    return {
      key: String(draft.id),
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
        {
          field: "why_recommended",
          before: before?.why_recommended ?? null,
          after: why_recommended,
        },
      ],
      checks: checksOf(draft, before),
      sources: [source_url],
      flags: [...flagsOf(draft), ...(draft.sensitive_claims.length > 0 ? ["sensitive_claim"] : [])],
      editing: {
        field: "recommendation",
        required: false,
        current: JSON.stringify({ recommended_for, why_recommended }, null, 2),
        choices: [],
      },
      created_at: draft.created_at,
    };
  },

  approve: (_, { row: draft, record: { slug } }, { value, operator, now }) => {
    if (isInFile(slug)) return unusable(inFile);
    const words = edited(draft, value);
    if (words === null) return unusable(howToEdit);
    const text = checkPickText(words, { byAgent: false });
    if (!text.ok) {
      const [first] = text.failure;
      return unusable(`${first?.path ?? "value"}: ${first?.message ?? "it cannot be used."}`);
    }
    const at = now.getTime();
    const { nonprofit_id, id: draft_id } = draft;
    const pickOrigin = { origin: "draft" as const, draft_id, added_by: operator, updated_at: at };
    return planned(
      ok({ message: `${slug} is recommended within seconds.` }),
      ...setPick({ ...text.value, ...pickOrigin, nonprofit_id }),
      // Other agents' drafts with the same intents are closed with it.
      applyAgreeing(draft, { decided_by: `operator:${operator}`, at }),
    );
  },

  reject: (_, { row: { id } }, { reason, operator, now }) => {
    const decided_by = `operator:${operator}`;
    const closure = { status: "rejected", reason, decided_by, at: now.getTime() } as const;
    return planned(ok({ message: "The draft is rejected." }), closeDraft(id, closure));
  },
});

const inFile =
  "content/editorial/starter-set.json holds this nonprofit, and what it says wins: edit it there, and reject this draft.";

/** The `value` of an approval that changes both texts. Null is an emptied text. */
const EditedDraft = z.strictObject({
  recommended_for: z.array(z.string()).optional(),
  why_recommended: z
    .string()
    .nullish()
    .transform((text) => (text === null ? "" : text)),
});

const howToEdit =
  'To change both, send value as a JSON object, for example {"recommended_for": ["donors interested in wells"], "why_recommended": "Repairs wells."}. Any other text replaces why_recommended.';

/** The approved words: the draft's own, those of a JSON object, or a text for its sentences. Null: a broken object. */
function edited(draft: StoredDraft, value: string | null): PickText | null {
  const { recommended_for, why_recommended } = draft;
  if (value === null) return { recommended_for, why_recommended };
  if (!value.trimStart().startsWith("{")) return { recommended_for, why_recommended: value };
  const editResult = EditedDraft.safeParse(objectIn(value));
  if (!editResult.success) return null;
  return {
    recommended_for: editResult.data.recommended_for ?? recommended_for,
    why_recommended: editResult.data.why_recommended ?? why_recommended,
  };
}

function checksOf(draft: StoredDraft, before: StoredPick | null): ReviewCheck[] {
  const text = checkPickText(draft, { byAgent: true });
  const claimList = draft.sensitive_claims.map((phrase) => `"${phrase}"`).join(", ");
  return [
    text.ok ? wordingPassed : failed("wording", text.failure[0]?.message ?? ""),
    claimList === ""
      ? passed("sensitive", "Nothing on impact or effectiveness.")
      : noted("sensitive", `Only a person decides about ${claimList}.`),
    before === null
      ? passed("recommended", "Not recommended so far.")
      : noted("recommended", `Recommended already (${before.origin}).`),
    sourceGiven,
  ];
}
