import type { z } from "zod";
import type { ErasureAnswer, ErasureBody } from "#content/contract/onboarding.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { Clock } from "#content/contract/base/time.ts";
import { clockName } from "#content/onboarding/wallet-hold-store.ts";
import { writeAll } from "#content/operation/plan.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import {
  planRejectedErasure,
  planSentErasure,
  waitingContacts,
} from "#content/enrichment/contact-store.ts";
import { onboardingStore, profilesWithContact } from "#content/onboarding/store.ts";
import type { Erasure, RequestStore } from "#content/requests/request-store.ts";
import { correctionStore } from "./store.ts";

const requestStores: readonly RequestStore[] = [onboardingStore, correctionStore];

/** Erases the contacts of requests that were rejected, and of corrections that were decided, 90 days ago. Answers how many, at most 1,000. */
export async function eraseOldContacts(store: Store, now: Date): Promise<number> {
  const erasing = { by: clockName, at: now.getTime() };
  let erased = 0;
  for (const { isOldContact, statusOf, planErasure } of requestStores) {
    const isOld = isOldContact(now);
    // Nearly always there is none: then no one waits for the write lock.
    if ((await statusOf(store, isOld)) === null) continue;
    const names = await erase(store, (tx) => planErasure(tx, isOld, erasing));
    erased += names.length;
  }
  return erased;
}

/** Erases the contacts that agents sent and that were rejected before an instant (milliseconds since 1970). Answers their names. */
export const eraseRejectedContacts = (store: Store, beforeMs: number): Promise<string[]> =>
  erase(store, (tx) => planRejectedErasure(tx, beforeMs));

const erase = (store: Store, plan: (store: Queryable) => Promise<Erasure>): Promise<string[]> =>
  store.write(async (tx) => {
    const { names, writes } = await plan(tx);
    await writeAll(tx, writes);
    return names;
  });

/** Erases the contact of one request or correction, or of all from an address, at once; those that wait keep theirs. */
export async function eraseContactsOf(
  { store, clock }: { store: Store; clock: Clock },
  { review, email, operator }: z.output<typeof ErasureBody> & { operator: string },
): Promise<Result<ErasureAnswer, { kind: "review_not_found"; id: string }>> {
  const erasing = { by: operator, at: clock().getTime() };
  if (typeof email === "string") {
    const erased = await erase(store, async (tx) => {
      const plans: Erasure[] = [];
      for (const { planErasure, isFrom } of requestStores) {
        plans.push(await planErasure(tx, isFrom(email), erasing));
      }
      plans.push(await planSentErasure(tx, email));
      return {
        names: plans.flatMap(({ names }) => names),
        writes: plans.flatMap(({ writes }) => writes),
      };
    });
    const waiting: string[] = [];
    for (const { waitingNames, isFrom } of requestStores) {
      waiting.push(...(await waitingNames(store, isFrom(email))));
    }
    waiting.push(...(await waitingContacts(store, email)));
    return ok({ erased, waiting, profiles: await profilesWithContact(store, email) });
  }
  const [, name, id = ""] = /^([a-z]+)-(.+)$/.exec(review ?? "") ?? [];
  const requests = requestStores.find(({ kind }) => kind === name);
  const notFound = fail({ kind: "review_not_found", id: review ?? "" } as const);
  if (requests === undefined) return notFound;
  const status = await requests.statusOf(store, requests.ofId(id));
  if (status === null) return notFound;
  const { planErasure, ofId } = requests;
  const erased = await erase(store, (tx) => planErasure(tx, ofId(id), erasing));
  const isWaiting = status === "pending_review";
  return ok({ erased, waiting: isWaiting ? [review ?? ""] : [], profiles: [] });
}
