import { and, getTableName, gt, max, ne, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { structuredFields } from "#content/contract/enrichment.ts";
import type { NonprofitSummary } from "#content/contract/nonprofit.ts";
import { identifiers } from "#content/contract/operations/list-file.ts";
import type { Queryable } from "#content/store/open.ts";
import {
  columnNames,
  inValues,
  rowsAsJson,
  rowsFromJson,
  type Statement,
  valuesOf,
  builder,
  statement,
} from "#content/store/query.ts";
import { pendingFields } from "#content/store/tables/enrichment.ts";
import {
  impactMetrics,
  nonprofitCauses,
  nonprofits,
  programs,
  provenance,
  registerRecords,
  registrations,
} from "#content/store/tables/nonprofits.ts";
import { yieldsToAgents } from "./provenance.ts";
import { type NonprofitRecord, EarlierValue } from "./record.ts";
import { type SummarySource, summaryColumns, toSummary } from "./wire.ts";

const columns = columnNames(nonprofits).filter((name) => name !== "search_facets");

/**
 * Whole nonprofits in the order of these ids; unknown ids are left out. Ask for about 1,000 at a time. `summaries` reads
 * only the child rows that a summary needs. SQL, because fetching cell by cell takes three times as long as one JSON text
 * per table, and each separate statement takes 0.1 ms more.
 */
export async function recordsById(
  store: Queryable,
  ids: readonly number[],
  { summaries = false }: { summaries?: boolean } = {},
): Promise<NonprofitRecord[]> {
  if (ids.length === 0) return [];
  const parts = summaries ? ofSummaries : children;
  const columnSqls = [rowsOf(nonprofits, columns, "id"), ...parts.map((part) => part.sql)];
  const { rows } = await store.raw.execute({
    sql: `SELECT ${columnSqls.join(", ")}`,
    args: [JSON.stringify(ids)],
  });
  const records = new Map<number, NonprofitRecord>();
  for (const row of rowsFromJson(nonprofits, columns, rows[0]?.["nonprofits"])) {
    const none = { causes: [], programs: [], impact_metrics: [] };
    const emptyRegisters = { registrations: [], register_records: [] };
    records.set(row.id, { ...row, ...none, ...emptyRegisters, provenance: {} });
  }
  for (const { name, read } of parts) read(rows[0]?.[name], records);
  return ids.flatMap((id) => records.get(id) ?? []);
}

/** One whole nonprofit by its slug, even a withdrawn one. */
export const recordBySlug = async (
  store: Queryable,
  slug: string,
): Promise<NonprofitRecord | null> =>
  (await recordsById(store, [...(await idsBySlug(store, [slug])).values()]))[0] ?? null;

/** Ids of nonprofits by slug, including withdrawn ones by default; unknown slugs are left out. */
export async function idsBySlug(
  store: Queryable,
  slugs: readonly string[],
  { withdrawn = true }: { withdrawn?: boolean } = {},
): Promise<Map<string, number>> {
  const isMeant = withdrawn ? undefined : ne(nonprofits.status, "withdrawn");
  const rows = await store.db
    .select({ slug: nonprofits.slug, id: nonprofits.id })
    .from(nonprofits)
    .where(and(inValues(nonprofits.slug, slugs), isMeant));
  return new Map(rows.map(({ slug, id }) => [slug, id]));
}

/** Summaries of nonprofits in the order of these ids; unknown ids are left out. */
export async function summariesById(
  store: Queryable,
  ids: readonly number[],
  baseUrl: string,
  fields: readonly string[] = [],
): Promise<NonprofitSummary[]> {
  const summaries = await summarisedById(store, ids);
  const items = ids
    .flatMap((id) => summaries.get(id) ?? [])
    .map((summary) => toSummary(summary, baseUrl));
  if (!fields.includes(identifiers)) return items;
  const numbers = await identifiersById(store, ids);
  return items.map((item) => ({
    ...item,
    [identifiers]: numbers.get(item.id)?.flatMap(({ org_id }) => org_id ?? []) ?? [],
  }));
}

/** Rows with the register numbers of nonprofits in org-id form, by the id as in a summary. */
const identifiersById = async (store: Queryable, ids: readonly number[]) =>
  Map.groupBy(
    await store.db
      .select({ id: registrations.nonprofit_id, org_id: registrations.org_id })
      .from(registrations)
      .where(inValues(registrations.nonprofit_id, ids))
      .orderBy(registrations.nonprofit_id, registrations.position),
    ({ id }) => String(id),
  );

/** The sources of summaries. SQL, as in `recordsById`: every search runs this. */
export async function summarisedById(
  store: Queryable,
  ids: readonly number[],
): Promise<Map<number, SummarySource>> {
  if (ids.length === 0) return new Map();
  const { rows } = await store.raw.execute({
    sql: `SELECT ${[rowsOf(nonprofits, summaryColumns, "id"), ...ofSummaries.map((part) => part.sql)].join(", ")}`,
    args: [JSON.stringify(ids)],
  });
  const byId = new Map<number, SummarySource>();
  for (const row of rowsFromJson(nonprofits, summaryColumns, rows[0]?.["nonprofits"])) {
    byId.set(row.id, { ...row, causes: [], register_records: [] });
  }
  for (const { name, read } of ofSummaries) read(rows[0]?.[name], byId);
  return byId;
}

/** SQL for the rows of these nonprofits (?1, a JSON array of ids) in one table, as one JSON text named like the table. */
function rowsOf(table: SQLiteTable, ownColumns: readonly string[], id: string, key = ""): string {
  const name = getTableName(table);
  return `(SELECT ${rowsAsJson(ownColumns)}
    FROM (
      SELECT ${ownColumns.join(", ")}
      FROM ${name}
      WHERE ${id} IN (SELECT value FROM json_each(?1))
      ORDER BY ${id}${key}
    )) AS ${name}`;
}

type ChildTable = SQLiteTable & { nonprofit_id: SQLiteColumn };

/** Describes a child table of a nonprofit: `rows` takes its rows from a record, `put` adds a row to one. */
function child<Table extends ChildTable, Parent = NonprofitRecord>(
  table: Table,
  key: string,
  rows: (record: NonprofitRecord) => Omit<Table["$inferInsert"], "nonprofit_id">[],
  put: (record: Parent, row: Table["$inferSelect"]) => void,
  orElse = "",
  unread: readonly string[] = [],
) {
  const readColumns = columnNames(table).filter((column) => !unread.includes(column));
  const name = getTableName(table);
  return {
    table: table as ChildTable,
    rows,
    /** A conflict clause for rows that belong to another nonprofit. */
    orElse,
    name,
    sql: rowsOf(table, readColumns, "nonprofit_id", `, ${key}`),
    read: (text: unknown, records: ReadonlyMap<number, Parent>) => {
      for (const row of rowsFromJson(table, readColumns, text)) {
        const record = records.get(Number(row["nonprofit_id"]));
        if (record !== undefined) put(record, row);
      }
    },
  };
}

const inOrder = <Row>(rows: readonly Row[]) => rows.map((row, position) => ({ ...row, position }));

const causes = child(
  nonprofitCauses,
  "position",
  (record) => record.causes.map((cause_id, position) => ({ position, cause_id })),
  (record: { causes: string[] }, { cause_id }) => record.causes.push(cause_id),
);

/** An organisation's row moves to the nonprofit that now has its number, and loses its digest. */
export const registerRecordUpsert = `ON CONFLICT (org_id, register) DO UPDATE SET ${columnNames(
  registerRecords,
)
  .map((column) => `${column} = excluded.${column}`)
  .join(", ")}`;

const registers = (...unread: string[]) =>
  child(
    registerRecords,
    "org_id, register",
    (record) => record.register_records,
    (record: Pick<NonprofitRecord, "register_records">, row) => {
      const { nonprofit_id: _, ...registerRecord } = row;
      record.register_records.push(Object.assign({ finances: [] }, registerRecord));
    },
    registerRecordUpsert,
    ["row_digest", ...unread],
  );

/** Summaries leave out the finances of past years, which would be most of what a search reads. */
const ofSummaries = [causes, registers("finances")];

/** The child tables of a nonprofit. */
export const children = [
  causes,
  child(
    programs,
    "position",
    (record) => inOrder(record.programs),
    (record, { name, description, beneficiaries_per_year, location }) =>
      record.programs.push({ name, description, beneficiaries_per_year, location }),
  ),
  child(
    impactMetrics,
    "position",
    (record) => inOrder(record.impact_metrics),
    (record, { name, value, unit, period }) =>
      record.impact_metrics.push({ name, value, unit, period }),
  ),
  child(
    registrations,
    "position",
    (record) =>
      inOrder(
        record.registrations.map((registration) => ({
          ...registration,
          linked_by: registration.linked_by ?? null,
        })),
      ),
    (record, { country_code, type, registration_number, org_id, linked_by }) => {
      const linkField = linked_by === null ? {} : { linked_by };
      record.registrations.push({ country_code, type, registration_number, org_id, ...linkField });
    },
  ),
  registers(),
  child(
    provenance,
    "field",
    (record) =>
      Object.entries(record.provenance).map(
        ([field, { corroborations = null, rule = null, replaced = null, ...from }]) => ({
          field,
          ...from,
          rule,
          corroborations,
          replaced,
        }),
      ),
    (record, { field, set_by, source, source_url, agents, applied_at, ...more }) => {
      const { rule, corroborations, replaced } = more;
      record.provenance[field] = {
        set_by,
        source,
        source_url,
        ...(rule !== null && { rule }),
        agents,
        ...(corroborations !== null && { corroborations }),
        applied_at,
        ...(replaced !== null && { replaced: EarlierValue.parse(replaced) }),
      };
    },
  ),
];

/**
 * Literally the condition of the partial index one_pending_per_agent_and_field, so that SQLite uses it: the submissions that
 * count for consensus.
 */
export const inConsensus = "status = 'pending' AND audit_only = 0 AND field_type = 'structured'";

type SavedRecord = { before: NonprofitRecord | null; after: NonprofitRecord };

type StructuredField = (typeof structuredFields)[number];
const isOpen = (record: NonprofitRecord, field: StructuredField, at: number): boolean =>
  (record[field] ?? "") === "" || yieldsToAgents(record.provenance[field], at);

/**
 * Keeps pending submissions in step with saved nonprofits: if a field was filled from elsewhere, its pending submissions
 * become audit-only; a withdrawn nonprofit waits for nothing; a new place in the list is copied.
 */
export function pendingWrites(saves: readonly SavedRecord[], now: number): Statement[] {
  const movedSaves = saves.filter(
    ({ before, after }) =>
      before !== null &&
      (before.status !== after.status ||
        before.verified !== after.verified ||
        before.beneficiaries_per_year !== after.beneficiaries_per_year ||
        structuredFields.some((field) => isOpen(before, field, now) !== isOpen(after, field, now))),
  );
  if (movedSaves.length === 0) return [];
  const ids = [...new Set(movedSaves.map(({ after }) => after.id))];
  const filledFields = movedSaves.flatMap(({ after }) =>
    structuredFields.flatMap((field) => (isOpen(after, field, now) ? [] : [[after.id, field]])),
  );
  return [
    {
      // CROSS JOIN makes SQLite start from the few profiles, whatever its statistics say.
      sql: `UPDATE submissions SET audit_only = 1, network = NULL
            WHERE id IN (
              SELECT s.id FROM json_each(?) AS filled
              CROSS JOIN submissions AS s ON s.nonprofit_id = filled.value ->> 0 AND s.field = filled.value ->> 1
              WHERE ${inConsensus}
            )`,
      args: [JSON.stringify(filledFields)],
    },
    statement(builder.delete(pendingFields).where(inValues(pendingFields.nonprofit_id, ids))),
    {
      // A withdrawn nonprofit is in no list, so nothing is inserted for it.
      sql: `INSERT INTO pending_fields (nonprofit_id, field, pending, list_order)
            SELECT s.nonprofit_id, s.field, count(*), l.list_order
            FROM json_each(?) AS moved
            CROSS JOIN listings AS l ON l.nonprofit_id = moved.value AND l.list = 'all'
            CROSS JOIN submissions AS s ON s.nonprofit_id = moved.value AND ${inConsensus} AND s.test_data = 0
            GROUP BY s.nonprofit_id, s.field`,
      args: [JSON.stringify(ids)],
    },
  ];
}

/** The next ids of nonprofits after `after`, ascending, including withdrawn ones. */
export const nonprofitIdsAfter = (
  store: Queryable,
  after: number,
  limit: number,
): Promise<number[]> => {
  const { id } = nonprofits;
  return valuesOf(store, id, gt(id, after), { by: id, limit });
};

/** The highest id of a nonprofit, including withdrawn ones; 0 if there is none. */
export async function newestNonprofitId(store: Queryable): Promise<number> {
  const [row] = await store.db.select({ newest: max(nonprofits.id) }).from(nonprofits);
  return row?.newest ?? 0;
}

/** Slugs of profiles with this contact address, or to which it may return, at most 100. Scans all profiles. */
export const slugsWithContact = async (store: Queryable, email: string): Promise<string[]> => {
  const { id, slug, contact_email } = nonprofits;
  const isIt = sql`${email.toLowerCase()} IN (lower(${contact_email}), (
    SELECT lower(p.replaced ->> 'value') FROM provenance AS p
    WHERE p.nonprofit_id = ${id} AND p.field = 'contact_email'))`;
  return valuesOf(store, slug, isIt, { limit: 100 });
};
