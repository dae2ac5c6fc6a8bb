import type { Change } from "#content/nonprofit/changes-store.ts";
import { type NonprofitRecord, emptyRecord } from "#content/nonprofit/record.ts";

let made = 0;

/** A nonprofit as it could be stored; a test names only what matters to it. Slug and name are new each time. */
export function aNonprofit(parts: Partial<NonprofitRecord> = {}): NonprofitRecord {
  made += 1;
  const name = parts.name ?? `Sample Trust ${made}`;
  return {
    ...emptyRecord,
    slug: `sample-trust-${made}`,
    name,
    country_code: "KE",
    causes: ["education"],
    ...parts,
  };
}

/** A change of the profile "a", as the publisher reads it. */
export const aChange = (parts: Partial<Change> = {}): Change => ({
  sequence: 1,
  kind: "changed",
  nonprofit_id: 1,
  slug: "a",
  fields: ["name"],
  moved_lists: [],
  origin: "test",
  changed_at: 0,
  was: null,
  ...parts,
});
