import type { Queryable } from "#content/store/open.ts";
import type { ImpactMetric, Program } from "#content/contract/nonprofit.ts";
import type { NonprofitRecord, StoredProvenance, StoredRegistration } from "./record.ts";
import { columns } from "./columns.ts";

/**
 * Whole nonprofits by their ids, in the order of the ids; unknown ids are left out. Ask for about 1,000 at a time.
 * `summaries` leaves out all that hangs on them but the causes. One statement with one JSON text per table: fetching
 * cell by cell takes three times as long, and each statement of its own 0.1 ms more.
 */
export async function recordsById(
  store: Queryable,
  ids: readonly number[],
  { summaries = false }: { summaries?: boolean } = {},
): Promise<NonprofitRecord[]> {
  if (ids.length === 0) return [];
  const wanted = summaries ? summaryParts : allParts;
  const { rows } = await store.raw.execute({ sql: wanted.sql, args: [JSON.stringify(ids)] });
  const found = (table: string) => JSON.parse(String(rows[0]?.[table] ?? "[]")) as unknown[][];
  const records = new Map<number, NonprofitRecord>();
  for (const values of found("nonprofits")) {
    const record = recordFrom(values);
    records.set(record.id, record);
  }
  for (const child of wanted.children) {
    for (const [id, ...values] of found(child.table)) {
      const record = records.get(Number(id));
      if (record !== undefined) child.take(record, values);
    }
  }
  return ids.flatMap((id) => records.get(id) ?? []);
}

/** One whole nonprofit by its slug, withdrawn ones too. */
export async function recordBySlug(
  store: Queryable,
  slug: string,
): Promise<NonprofitRecord | null> {
  const { rows } = await store.raw.execute({
    sql: "SELECT id FROM nonprofits WHERE slug = ?",
    args: [slug],
  });
  const [row] = rows;
  if (row === undefined) return null;
  const [record] = await recordsById(store, [Number(row["id"])]);
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

/** The rows of the nonprofits with these ids (?1, a JSON array) in one table, ordered by its key, as one JSON text. */
const rowsOf = (table: string, own: readonly string[], id: string, order: string): string =>
  `(SELECT json_group_array(json_array(${own.join(", ")}))
    FROM (
      SELECT ${own.join(", ")}
      FROM ${table}
      WHERE ${id} IN (SELECT value FROM json_each(?1))
      ORDER BY ${order}
    )) AS ${table}`;

const partsWith = (wanted: typeof children) => ({
  children: wanted,
  sql: `SELECT ${[
    rowsOf("nonprofits", columns, "id", "id"),
    ...wanted.map(({ table, columns: own, key }) =>
      rowsOf(table, ["nonprofit_id", ...own], "nonprofit_id", `nonprofit_id, ${key}`),
    ),
  ].join(", ")}`,
});

const allParts = partsWith(children);
const summaryParts = partsWith(children.filter(({ table }) => table === "nonprofit_causes"));
