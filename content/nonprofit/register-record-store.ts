import { and, getTableColumns, isNull } from "drizzle-orm";
import type { WriteTransaction } from "#content/store/open.ts";
import { inValues } from "#content/store/query.ts";
import { registerRecords } from "#content/store/tables/nonprofits.ts";
import type { NonprofitRecord } from "./record.ts";
import { withRegisterRecord } from "./register-facts.ts";

/** The columns that make a RegisterRecord. */
export const { nonprofit_id: _, ...recordColumns } = getTableColumns(registerRecords);

/**
 * The nonprofits, in order, with what registers said of them before they had a profile: those rows move to the profile.
 * Looks only at nonprofits that are new or whose registrations change. Index: the primary key.
 */
export async function adoptRegisterRecords(
  tx: WriteTransaction,
  saves: readonly { before: NonprofitRecord | null; after: NonprofitRecord }[],
): Promise<NonprofitRecord[]> {
  const orgIds = saves.flatMap(({ before, after }) =>
    before?.registrations === after.registrations ? [] : orgIdsOf(after),
  );
  const waiting =
    orgIds.length === 0
      ? []
      : await tx.db
          .delete(registerRecords)
          .where(
            and(inValues(registerRecords.org_id, orgIds), isNull(registerRecords.nonprofit_id)),
          )
          .returning(recordColumns);
  const byOrgId = Map.groupBy(waiting, ({ org_id }) => org_id);
  return saves.map(({ after }) => {
    if (waiting.length === 0) return after;
    let register_records = orgIdsOf(after).flatMap((orgId) => byOrgId.get(orgId) ?? []);
    // What comes now is newer.
    for (const own of after.register_records) {
      register_records = withRegisterRecord(register_records, own);
    }
    return { ...after, register_records };
  });
}

const orgIdsOf = ({ registrations }: NonprofitRecord): string[] =>
  registrations.flatMap(({ org_id }) => org_id ?? []);
