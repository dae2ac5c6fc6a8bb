import { isNotNull, sql } from "drizzle-orm";
import { requestStore } from "#content/requests/request-store.ts";
import { corrections } from "#content/store/tables/enrichment.ts";

/** A report that something is wrong, and its outcome. Instants in milliseconds since 1970. Private. */
export type Correction = typeof corrections.$inferSelect;

/**
 * Indexes: corrections_by_status, corrections_by_status_token, one_pending_correction_per_request, corrections_with_contact,
 * corrections_waiting_for_nonprofit, corrections_waiting_of_network.
 */
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
