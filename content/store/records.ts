import type { InArgs, Row } from "@libsql/client";
import type { ImpactMetric, Program } from "#content/shapes/nonprofit.ts";
import type {
  NonprofitRecord,
  StoredProvenance,
  StoredRegistration,
} from "#content/shapes/record.ts";
import { columns } from "./columns.ts";

/** A store or a transaction: what can be asked in SQL. */
export type Asked = { execute(statement: { sql: string; args: InArgs }): Promise<{ rows: Row[] }> };

/**
 * Whole nonprofits by their ids, in the order of the ids; unknown ids are left out. One query per table, so ask for
 * about 1,000 at a time. `summaries` leaves out all that hangs on them but the causes. Each answer is one JSON text:
 * fetching it cell by cell takes three times as long.
 */
export async function recordsById(
  asked: Asked,
  ids: readonly number[],
  { summaries = false }: { summaries?: boolean } = {},
): Promise<NonprofitRecord[]> {
  if (ids.length === 0) return [];
  const records = new Map<number, NonprofitRecord>();
  for (const values of await rowsOf(asked, { table: "nonprofits", columns, key: "id", ids })) {
    const record = recordFrom(values);
    records.set(record.id, record);
  }
  for (const child of children) {
    if (summaries && child.table !== "nonprofit_causes") continue;
    const own = ["nonprofit_id", ...child.columns];
    for (const [id, ...values] of await rowsOf(asked, { ...child, columns: own, ids })) {
      const record = records.get(Number(id));
      if (record !== undefined) child.take(record, values);
    }
  }
  return ids.flatMap((id) => records.get(id) ?? []);
}

type Part = { table: string; columns: readonly string[]; key: string; ids: readonly number[] };

/** The rows of these nonprofits in one table, ordered by its key. */
async function rowsOf(asked: Asked, { table, columns: own, key, ids }: Part): Promise<unknown[][]> {
  const id = table === "nonprofits" ? "id" : "nonprofit_id";
  const order = table === "nonprofits" ? "id" : `nonprofit_id, ${key}`;
  const { rows } = await asked.execute({
    sql: `SELECT json_group_array(json_array(${own.join(", ")})) AS found
          FROM (
            SELECT ${own.join(", ")}
            FROM ${table}
            WHERE ${id} IN (SELECT value FROM json_each(?))
            ORDER BY ${order}
          )`,
    args: [JSON.stringify(ids)],
  });
  return JSON.parse(String(rows[0]?.["found"] ?? "[]")) as unknown[][];
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

function recordFrom(values: readonly unknown[]): NonprofitRecord {
  const record: Record<string, unknown> = {};
  for (let at = 0; at < columns.length; at++) record[columns[at] ?? ""] = values[at];
  record["causes"] = [];
  record["programs"] = [];
  record["impact_metrics"] = [];
  record["registrations"] = [];
  record["provenance"] = {};
  return record as NonprofitRecord;
}

/** What hangs on a nonprofit: the table, its columns after nonprofit_id, and where their values go. */
const children: readonly {
  table: string;
  columns: readonly string[];
  key: string;
  take: (record: NonprofitRecord, values: unknown[]) => void;
}[] = [
  {
    table: "nonprofit_causes",
    columns: ["cause_id"],
    key: "position",
    take: (record, [cause]) => record.causes.push(String(cause)),
  },
  {
    table: "programs",
    columns: ["name", "description", "beneficiaries_per_year", "location"],
    key: "position",
    take: (record, [name, description, beneficiaries_per_year, location]) =>
      record.programs.push({ name, description, beneficiaries_per_year, location } as Program),
  },
  {
    table: "impact_metrics",
    columns: ["name", "value", "unit", "period"],
    key: "position",
    take: (record, [name, value, unit, period]) =>
      record.impact_metrics.push({ name, value, unit, period } as ImpactMetric),
  },
  {
    table: "registrations",
    columns: ["country_code", "type", "registration_number", "org_id"],
    key: "position",
    take: (record, [country_code, type, registration_number, org_id]) =>
      record.registrations.push({
        country_code,
        type,
        registration_number,
        org_id,
      } as StoredRegistration),
  },
  {
    table: "provenance",
    columns: ["field", "set_by", "source", "source_url", "agents", "applied_at"],
    key: "field",
    take: (record, [field, set_by, source, source_url, agents, applied_at]) => {
      record.provenance[String(field)] = {
        set_by,
        source,
        source_url,
        agents: agents === "[]" ? [] : JSON.parse(String(agents)),
        applied_at,
      } as StoredProvenance;
    },
  },
];
