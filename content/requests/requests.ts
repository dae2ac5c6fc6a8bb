import type { z } from "zod";
import { dayMs } from "#content/contract/base/time.ts";
import type { QueryOf } from "#content/contract/operations/operation.ts";
import type { operatorOperations } from "#content/contract/operations/operator.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import {
  aboutReview,
  type ApproveBody,
  type ReviewDecision,
  type ReviewItem,
  type ReviewKind,
  type ReviewList,
  type ReviewQueues,
} from "#content/contract/review.ts";
import { slugsWithContact } from "#content/nonprofit/record-store.ts";
import type { ErasureAnswer, ErasureBody } from "#content/contract/onboarding.ts";
import { clockName } from "#content/operation/audit-store.ts";
import { writeAll } from "#content/operation/plan.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import {
  type Erasure,
  type PlanErasure,
  type RequestKind,
  type ReviewFailure,
  type OperatorWorld,
  isLive,
} from "./kind.ts";

type ReadWorld = Pick<OperatorWorld, "store" | "clock">;
/** Counting stops here: with so much to do, an operator needs no exact number. */
export const waitingMax = 100_000;

export const waitingDaysMax = 180;
/** Keeps transactions short, so that requests are answered meanwhile. */
const expiredPerTransaction = 200;

type RulingInput = z.output<typeof ApproveBody> & {
  id: string;
  decision: ReviewDecision["decision"];
  operator: string;
};

/** Opens requests of these kinds, in this order: what waits for an operator, and how it is decided or expires. */
export function openRequests<World = unknown>(
  kinds: readonly RequestKind<World>[],
  /** Erasures of contacts that did not come with a request. */
  ...otherPlans: readonly PlanErasure[]
) {
  const planErasures = [...kinds.flatMap(({ planErasure }) => planErasure ?? []), ...otherPlans];
  const kindOf = (id: string) => {
    const [, name = "", key = ""] = /^([a-z]{1,20})-(\S{1,200})$/.exec(id) ?? [];
    return { requests: kinds.find(({ kind }) => kind === name), key };
  };
  const kindsFor = (only: ReviewKind | null | undefined) =>
    only == null ? kinds : kinds.filter(({ kind }) => kind === only);
  return {
    /**
     * The waiting requests of one kind or of all, oldest of each kind first, after the cursor `after`. A cursor stays valid
     * when its request is decided.
     */
    listReviews: async (
      { store, clock }: ReadWorld,
      { kind, limit, after = "" }: QueryOf<typeof operatorOperations.listReviews>,
    ): Promise<z.output<typeof ReviewList>> => {
      const items: ReviewItem[] = [];
      for (const start of startsFrom(after, kindsFor(kind))) {
        const page = { after: start.after, limit: limit + 1 - items.length, now: clock() };
        items.push(...(await start.requests.list(store, page)));
        if (items.length > limit) break;
      }
      const reviews = items.slice(0, limit);
      const next = items.length > limit ? (reviews.at(-1)?.cursor ?? null) : null;
      return { count: reviews.length, reviews, next };
    },

    findReview: async ({ store, clock }: ReadWorld, id: string): Promise<ReviewItem | null> => {
      const { requests, key } = kindOf(id);
      return (await requests?.find(store, key, clock())) ?? null;
    },

    /** How many requests of each kind, or of one, wait, and how many made room for others; at most `waitingMax`. */
    reviewQueues: async (
      { store, clock }: ReadWorld,
      only: ReviewKind | null = null,
    ): Promise<z.output<typeof ReviewQueues>["queues"]> => {
      const counts: z.output<typeof ReviewQueues>["queues"] = [];
      for (const { kind, count, leftOut } of kindsFor(only)) {
        const waiting = await count(store, waitingMax);
        counts.push({ kind, waiting, left_out: await leftOut(store, clock()) });
      }
      return counts;
    },

    /**
     * Decides one request in one transaction, with an entry in the audit log. The first operator to decide wins. The reason
     * of a rejection is public: prior_rejections contains it.
     */
    decideReview: async (
      world: ReadWorld & Pick<OperatorWorld, "waitForPublication"> & World,
      { id, decision, operator, value = null, reason = null }: RulingInput,
    ): Promise<Result<ReviewDecision, ReviewFailure>> => {
      const { requests, key } = kindOf(id);
      if (requests === undefined) return fail({ kind: "review_not_found", id });
      const outcome = await world.store.write(async (tx) => {
        const now = world.clock();
        const item = await requests.find(tx, key, now);
        const ruling = { key, value, reason: reason ?? "", operator, now, world };
        const about = item === null ? null : aboutReview(item);
        return requests.decide(tx, decision, ruling, { about, value, reason });
      });
      if (!outcome.ok) return outcome;
      const { slug, sequence, complete, message } = outcome.value;
      return ok({ id, decision, slug, complete, live: await isLive(world, sequence), message });
    },

    /**
     * Rejects what has waited for 180 days, with the reason "expired". Returns how many. Safe to repeat; called every hour.
     */
    expireWaiting: async ({ store, clock }: ReadWorld): Promise<number> => {
      let expiredCount = 0;
      for (const { expire } of kinds) {
        let count = expire === undefined ? 0 : expiredPerTransaction;
        while (expire !== undefined && count === expiredPerTransaction) {
          const at = clock().getTime();
          const old = { before: at - waitingDaysMax * dayMs, at, limit: expiredPerTransaction };
          count = await store.write((tx) => expire(tx, old));
          expiredCount += count;
        }
      }
      return expiredCount;
    },

    /** Erases contacts that are older than their kind allows. Returns how many, at most 500 of a kind. */
    eraseOldContacts: async ({ store, clock }: ReadWorld): Promise<number> => {
      const at = clock().getTime();
      let erasedCount = 0;
      for (const plan of planErasures) {
        const planOld = (tx: Queryable) => plan(tx, { old: true }, { by: clockName, at });
        // Nearly always there are none, so avoid waiting for the write lock.
        if (((await planOld(store))?.names ?? []).length === 0) continue;
        erasedCount += (await erase(store, planOld))?.names.length ?? 0;
      }
      return erasedCount;
    },

    /** Erases the contact of one request, or all with an e-mail address, at once; waiting requests keep theirs. */
    eraseContacts: async (
      { store, clock }: ReadWorld,
      { review, email, operator }: z.output<typeof ErasureBody> & { operator: string },
    ): Promise<Result<ErasureAnswer, ReviewFailure>> => {
      const id = review ?? "";
      const isOfAll = typeof email === "string";
      const { requests, key } = kindOf(id);
      const whose = isOfAll ? { email } : { id: key };
      const plans = isOfAll ? planErasures : [requests?.planErasure ?? (async () => null)];
      const erasure = { by: operator, at: clock().getTime() };
      const result = await erase(
        store,
        ...plans.map((plan) => (tx: Queryable) => plan(tx, whose, erasure)),
      );
      if (result === null) return fail({ kind: "review_not_found", id });
      const profiles = isOfAll ? await slugsWithContact(store, email) : [];
      return ok({ erased: result.names, waiting: result.waiting, profiles });
    },
  };
}

/** Carries out these erasures in one transaction; null if none of them applies. */
export const erase = (
  store: Store,
  ...plans: readonly ((store: Queryable) => Promise<Erasure | null>)[]
): Promise<Omit<Erasure, "writes"> | null> =>
  store.write(async (tx) => {
    const erasures: Erasure[] = [];
    for (const plan of plans) erasures.push(...[(await plan(tx)) ?? []].flat());
    for (const { writes } of erasures) await writeAll(tx, writes);
    return erasures.length === 0
      ? null
      : {
          names: erasures.flatMap(({ names }) => names),
          waiting: erasures.flatMap(({ waiting }) => waiting),
        };
  });

/** The kinds from a cursor's place on, with the place at which each begins; all kinds for an empty cursor. */
function startsFrom<World>(
  cursor: string,
  kinds: readonly RequestKind<World>[],
): { requests: RequestKind<World>; after: string | null }[] {
  const [, name, after = null] = /^([a-z]{1,20}):(.{1,300})$/.exec(cursor) ?? [];
  const at = kinds.findIndex(({ kind }) => kind === name);
  return kinds
    .slice(Math.max(0, at))
    .map((requests, place) => ({ requests, after: at >= 0 && place === 0 ? after : null }));
}
