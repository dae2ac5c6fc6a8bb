import { checkPickText, type PickFault } from "#content/recommendation/pick-text.ts";
import { isoTime } from "#content/contract/base/time.ts";
import {
  type PickBody,
  type PickChange,
  type PickEdit,
  PickItem,
  type PickList,
} from "#content/contract/recommendation.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import {
  type StoredPick,
  addPick,
  deletePick,
  fileSlugs,
  isInFile,
  pickList,
  pickOf,
  setPick,
} from "#content/recommendation/pick-store.ts";
import { rejectApplied } from "#content/recommendation/draft-store.ts";
import type { Queryable } from "#content/store/open.ts";
import { planned } from "#content/operation/plan.ts";
import type { Statement } from "#content/store/query.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { onProfile } from "./change-profile.ts";
import type { OperatorWorld } from "#content/requests/kind.ts";

export type PickFailure =
  | { kind: "nonprofit_not_found"; slug: string }
  | { kind: "nonprofit_withdrawn"; slug: string }
  | { kind: "pick_exists"; slug: string }
  | { kind: "pick_not_found"; slug: string }
  | { kind: "pick_in_file"; slug: string }
  | { kind: "invalid_pick"; errors: PickFault[] };

/** A page of the stored recommendations by slug, and the slugs of the operator's file. */
export async function listPicks(
  { store }: Pick<OperatorWorld, "store">,
  { after = null, limit }: { after?: string | null | undefined; limit: number },
): Promise<PickList> {
  const rows = await pickList(store, { after, limit: limit + 1 });
  const picks = rows.slice(0, limit).map(itemOf);
  const next = rows.length > limit ? (picks.at(-1)?.slug ?? null) : null;
  return { count: picks.length, picks, next, in_file: [...fileSlugs()] };
}

/** A stored recommendation; null if the nonprofit has none. */
export async function findPick(
  { store }: Pick<OperatorWorld, "store">,
  slug: string,
): Promise<PickItem | null> {
  const record = await recordBySlug(store, slug);
  const pick = record === null ? null : await pickOf(store, record.id);
  return pick === null ? null : itemOf(pick);
}

const itemOf = ({ updated_at: at, ...pick }: StoredPick): PickItem =>
  PickItem.parse({ ...pick, updated_at: at === 0 ? null : isoTime(at) });

type PickWorld = Pick<OperatorWorld, "store" | "clock" | "curated">;
type OperatorRequest<Body> = Body & { slug: string; operator: string };

/** Recommends a nonprofit in the operator's words. Of two operators at once, the first wins. */
export const addToPicks = (world: PickWorld, { operator, ...body }: OperatorRequest<PickBody>) =>
  changePick(world, { slug: body.slug, operator, change: "added", detail: body }, async (of) => {
    const text = checkPickText(body, { byAgent: false });
    if (!text.ok) return fail({ kind: "invalid_pick", errors: text.failure });
    const pick = { ...text.value, ...of.base, causes: body.causes ?? null };
    const exists = (await pickOf(of.store, pick.nonprofit_id)) !== null;
    if (exists) return fail({ kind: "pick_exists", slug: body.slug });
    return ok(addPick(pick));
  });

/** Changes a recommendation; one that agents agreed on becomes the operator's own. */
export const editPick = (
  world: PickWorld,
  { operator, slug, ...edit }: OperatorRequest<PickEdit>,
) =>
  changePick(world, { slug, operator, change: "edited", detail: edit }, async (of) => {
    const before = await pickOf(of.store, of.base.nonprofit_id);
    if (before === null) return fail({ kind: "pick_not_found", slug });
    const {
      recommended_for = before.recommended_for,
      why_recommended = before.why_recommended,
      causes = before.causes,
    } = edit;
    const text = checkPickText({ recommended_for, why_recommended }, { byAgent: false });
    if (!text.ok) return fail({ kind: "invalid_pick", errors: text.failure });
    const pick = { ...text.value, ...of.base, causes };
    return ok(setPick(pick));
  });

/** Removes a recommendation. From then on agents' agreement alone cannot promote the nonprofit. */
export const removePick = (
  world: PickWorld,
  { operator, slug, reason }: OperatorRequest<{ reason: string }>,
) =>
  changePick(world, { slug, operator, change: "removed", detail: { reason } }, async (of) => {
    const { nonprofit_id, updated_at: at } = of.base;
    const exists = (await pickOf(of.store, nonprofit_id)) !== null;
    if (!exists) return fail({ kind: "pick_not_found", slug });
    const rejection = { reason, decided_by: `operator:${operator}`, at };
    return ok([...deletePick(nonprofit_id, at), rejectApplied(nonprofit_id, rejection)]);
  });

type Change = {
  slug: string;
  operator: string;
  change: PickChange["change"];
  detail: Record<string, unknown>;
};
type PickContext = {
  store: Queryable;
  /** Values that a pick by the operator always has. */
  base: Pick<StoredPick, "nonprofit_id" | "origin" | "draft_id" | "added_by" | "updated_at">;
};

/** One change in one transaction, with an audit log entry; then this process reads the recommendations again. */
async function changePick(
  world: PickWorld,
  { slug, operator, change, detail }: Change,
  writesOf: (context: PickContext) => Promise<Result<Statement[], PickFailure>>,
): Promise<Result<PickChange, PickFailure>> {
  if (isInFile(slug)) return fail({ kind: "pick_in_file", slug });
  const outcome = await onProfile<{ slug: string }, PickFailure>(
    world,
    slug,
    async (store, { id: nonprofit_id, status }, now) => {
      if (status === "withdrawn" && change !== "removed") {
        return fail({ kind: "nonprofit_withdrawn", slug });
      }
      const at = now.getTime();
      const base = { nonprofit_id, draft_id: null, added_by: operator, updated_at: at };
      const writes = await writesOf({ store, base: { ...base, origin: "operator" } });
      if (!writes.ok) return writes;
      const entry = { operator, action: `pick.${change}`, subject: slug, detail, at };
      return planned(ok({ slug }), ...writes.value, entry);
    },
  );
  if (!outcome.ok) return outcome;
  world.curated.lookAgain();
  return ok({ slug, change, message: messages[change] });
}

const messages: Readonly<Record<PickChange["change"], string>> = {
  added: "Recommended within seconds.",
  edited: "Recommended in these words within seconds.",
  removed: "No longer recommended within seconds; agents cannot restore it by agreement.",
};
