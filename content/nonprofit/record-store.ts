import { eq, getTableName } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { NonprofitSummary } from "#content/contract/nonprofit.ts";
import type { Queryable } from "#content/store/open.ts";
import { rowsAsJson, rowsFromJson } from "#content/store/query.ts";
import {
  impactMetrics,
  nonprofitCauses,
  nonprofits,
  programs,
  provenance,
  registrations,
} from "#content/store/tables/nonprofits.ts";
import { columns, type NonprofitRecord } from "./record.ts";
import { type Summarised, toSummary } from "./wire.ts";

/**
 * Whole nonprofits by their ids, in the order of the ids; unknown ids are left out. Ask for about 1,000 at a time.
 * `summaries` leaves out all that hangs on them but the causes. SQL, because fetching cell by cell takes three times as
 * long as one JSON text for each table, and each statement of its own 0.1 ms more.
 */
export async function recordsById(
  store: Queryable,
  ids: readonly number[],
  { summaries = false }: { summaries?: boolean } = {},
): Promise<NonprofitRecord[]> {
  if (ids.length === 0) return [];
  const wanted = summaries ? [causes] : allChildren;
  const selected = [rowsOf(nonprofits, columns, "id"), ...wanted.map(({ sql }) => sql)];
  const { rows } = await store.raw.execute({
    sql: `SELECT ${selected.join(", ")}`,
    args: [JSON.stringify(ids)],
  });
  const records = new Map<number, NonprofitRecord>();
  for (const row of rowsFromJson(nonprofits, columns, rows[0]?.["nonprofits"])) {
    const none = { causes: [], programs: [], impact_metrics: [], registrations: [] };
    records.set(row.id, { ...row, ...none, provenance: {} });
  }
  for (const { name, read } of wanted) read(rows[0]?.[name], records);
  return ids.flatMap((id) => records.get(id) ?? []);
}

/** One whole nonprofit by its slug, withdrawn ones too. */
export async function recordBySlug(
  store: Queryable,
  slug: string,
): Promise<NonprofitRecord | null> {
  const [found] = await store.db
    .select({ id: nonprofits.id })
    .from(nonprofits)
    .where(eq(nonprofits.slug, slug));
  if (found === undefined) return null;
  const [record] = await recordsById(store, [found.id]);
  return record ?? null;
}

/** What a summary is made of, beside the causes. */
export const summaryColumns = [
  "id",
  "slug",
  "name",
  "tagline",
  "mission",
  "country_code",
  "city",
  "region",
  "website",
  "donation_url",
  "logo_url",
  "beneficiaries_per_year",
  "founded_year",
  "ghd_aligned",
  "verified",
] as const satisfies readonly (keyof Summarised)[];

/**
 * Summaries of nonprofits by their ids, in the order of the ids; unknown ids are left out. SQL for the reason that
 * recordsById has: this stands in every search.
 */
export async function summariesById(
  store: Queryable,
  ids: readonly number[],
): Promise<NonprofitSummary[]> {
  if (ids.length === 0) return [];
  const { rows } = await store.raw.execute({
    sql: `SELECT ${rowsOf(nonprofits, summaryColumns, "id")}, ${causes.sql}`,
    args: [JSON.stringify(ids)],
  });
  const found = new Map<number, Summarised>();
  for (const row of rowsFromJson(nonprofits, summaryColumns, rows[0]?.["nonprofits"])) {
    found.set(row.id, { ...row, causes: [] });
  }
  causes.read(rows[0]?.[causes.name], found);
  return ids.flatMap((id) => {
    const one = found.get(id);
    return one === undefined ? [] : [toSummary(one)];
  });
}

/** The rows of these nonprofits (?1, a JSON array of ids) in one table, as one JSON text named as the table. */
function rowsOf(table: SQLiteTable, own: readonly string[], id: string, key = ""): string {
  const name = getTableName(table);
  return `(SELECT ${rowsAsJson(own)}
    FROM (
      SELECT ${own.join(", ")}
      FROM ${name}
      WHERE ${id} IN (SELECT value FROM json_each(?1))
      ORDER BY ${id}${key}
    )) AS ${name}`;
}

type ChildTable = SQLiteTable & { nonprofit_id: SQLiteColumn };

/** What hangs on a nonprofit: rows of a table, which are put into the record in the order of a key. */
function child<
  Table extends ChildTable,
  Name extends keyof Table["$inferSelect"] & string,
  Parent = NonprofitRecord,
>(
  table: Table,
  { key, own }: { key: string; own: readonly Name[] },
  put: (record: Parent, row: Pick<Table["$inferSelect"], Name>) => void,
) {
  const read = ["nonprofit_id" as Name, ...own] as const;
  const name = getTableName(table);
  return {
    name,
    sql: rowsOf(table, read, "nonprofit_id", `, ${key}`),
    read: (text: unknown, records: ReadonlyMap<number, Parent>) => {
      for (const row of rowsFromJson(table, read, text)) {
        const record = records.get(Number(row["nonprofit_id" as Name]));
        if (record !== undefined) put(record, row);
      }
    },
  };
}

const causes = child(
  nonprofitCauses,
  { key: "position", own: ["cause_id"] },
  (record: { causes: string[] }, { cause_id }) => record.causes.push(cause_id),
);

const allChildren = [
  causes,
  child(
    programs,
    { key: "position", own: ["name", "description", "beneficiaries_per_year", "location"] },
    (record: NonprofitRecord, { name, description, beneficiaries_per_year, location }) =>
      record.programs.push({ name, description, beneficiaries_per_year, location }),
  ),
  child(
    impactMetrics,
    { key: "position", own: ["name", "value", "unit", "period"] },
    (record: NonprofitRecord, { name, value, unit, period }) =>
      record.impact_metrics.push({ name, value, unit, period }),
  ),
  child(
    registrations,
    { key: "position", own: ["country_code", "type", "registration_number", "org_id"] },
    (record: NonprofitRecord, { country_code, type, registration_number, org_id }) =>
      record.registrations.push({ country_code, type, registration_number, org_id }),
  ),
  child(
    provenance,
    { key: "field", own: ["field", "set_by", "source", "source_url", "agents", "applied_at"] },
    (record: NonprofitRecord, { field, set_by, source, source_url, agents, applied_at }) => {
      record.provenance[field] = { set_by, source, source_url, agents, applied_at };
    },
  ),
];
