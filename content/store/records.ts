import type { InArgs, Row } from "@libsql/client";
import type { ImpactMetric, Program } from "#content/shapes/nonprofit.ts";
import type {
  NonprofitRecord,
  StoredProvenance,
  StoredRegistration,
} from "#content/shapes/record.ts";

/** A store or a transaction: what can be asked in SQL. */
export type Asked = { execute(statement: { sql: string; args: InArgs }): Promise<{ rows: Row[] }> };

/**
 * Whole nonprofits by their ids, in the order of the ids; unknown ids are left out. One query per table, so ask for
 * about 1,000 at a time. `without` skips tables that the caller does not show.
 */
export async function recordsById(
  asked: Asked,
  ids: readonly number[],
  { summaries = false }: { summaries?: boolean } = {},
): Promise<NonprofitRecord[]> {
  if (ids.length === 0) return [];
  const args = [JSON.stringify(ids)];
  const among = "IN (SELECT value FROM json_each(?))";
  const { rows } = await asked.execute({
    sql: `SELECT * FROM nonprofits WHERE id ${among}`,
    args,
  });
  const records = new Map(rows.map((row) => [Number(row["id"]), emptyRecord(row)]));
  for (const [table, take] of Object.entries(children)) {
    if (summaries && table !== "nonprofit_causes") continue;
    const order = table === "provenance" ? "field" : "position";
    const found = await asked.execute({
      sql: `SELECT * FROM ${table} WHERE nonprofit_id ${among} ORDER BY nonprofit_id, ${order}`,
      args,
    });
    for (const row of found.rows) {
      const record = records.get(Number(row["nonprofit_id"]));
      if (record !== undefined) take(record, row);
    }
  }
  return ids.flatMap((id) => records.get(id) ?? []);
}

/** One whole nonprofit by its slug, withdrawn ones too. */
export async function recordBySlug(asked: Asked, slug: string): Promise<NonprofitRecord | null> {
  const { rows } = await asked.execute({
    sql: "SELECT id FROM nonprofits WHERE slug = ?",
    args: [slug],
  });
  const [row] = rows;
  if (row === undefined) return null;
  const [record] = await recordsById(asked, [Number(row["id"])]);
  return record ?? null;
}

const emptyRecord = (row: Row): NonprofitRecord =>
  ({
    ...row,
    causes: [],
    programs: [],
    impact_metrics: [],
    registrations: [],
    provenance: {},
  }) as unknown as NonprofitRecord;

const children: Record<string, (record: NonprofitRecord, row: Row) => void> = {
  nonprofit_causes: (record, row) => record.causes.push(String(row["cause_id"])),
  programs: (record, { name, description, beneficiaries_per_year, location }) =>
    record.programs.push({ name, description, beneficiaries_per_year, location } as Program),
  impact_metrics: (record, { name, value, unit, period }) =>
    record.impact_metrics.push({ name, value, unit, period } as ImpactMetric),
  registrations: (record, { country_code, type, registration_number, org_id }) =>
    record.registrations.push({
      country_code,
      type,
      registration_number,
      org_id,
    } as StoredRegistration),
  provenance: (record, { field, set_by, source, source_url, agents, applied_at }) => {
    record.provenance[String(field)] = {
      set_by,
      source,
      source_url,
      agents: JSON.parse(String(agents)),
      applied_at,
    } as StoredProvenance;
  },
};
