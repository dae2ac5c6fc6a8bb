import { and, eq, isNotNull, sql } from "drizzle-orm";
import { requestStore } from "#content/requests/request-store.ts";
import type { Queryable } from "#content/store/open.ts";
import { corrections } from "#content/store/tables/enrichment.ts";

/** What someone said is wrong, and the outcome of it. Instants in milliseconds since 1970. Private. */
export type Correction = typeof corrections.$inferSelect;

/** Indexes: corrections_by_status, corrections_by_status_token, one_pending_correction_per_request, corrections_with_contact. */
export const correctionStore = requestStore({
  kind: "correction",
  table: corrections,
  read: (row): Correction => row,
  contact: {
    email: corrections.contact_email,
    isKept: isNotNull(corrections.contact_email),
    mayGo: sql`${corrections.contact_email} IS NOT NULL AND ${corrections.status} <> 'pending_review'`,
    erased: () => ({ contact_email: null }),
  },
});
const { isWaiting } = correctionStore;

/** From which networks those came that wait for a profile. Index: corrections_waiting_for_nonprofit. */
export const waitingForProfile = async (store: Queryable, nonprofitId: number) =>
  store.db
    .select({ network: corrections.network })
    .from(corrections)
    .where(and(eq(corrections.nonprofit_id, nonprofitId), isWaiting));

/** How many of a network wait, for all profiles. Index: corrections_waiting_of_network. */
export const waitingOfNetwork = (store: Queryable, network: string): Promise<number> =>
  store.db.$count(corrections, and(eq(corrections.network, network), isWaiting));
