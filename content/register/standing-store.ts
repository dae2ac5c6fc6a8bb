import type { NonprofitStatus } from "#content/contract/nonprofit.ts";
import type { Queryable } from "#content/store/open.ts";
import { columnNames, inValues, rowsAsJson, rowsFromJson } from "#content/store/query.ts";
import {
  registerRecords,
  registerScopes,
  registrations,
} from "#content/store/tables/nonprofits.ts";
import type { RegisteredNumber, ScopesRead } from "./standing.ts";

const recordColumns = columnNames(registerRecords);

/** What the store knows of these numbers, in their order. */
export async function knownByOrgId(
  store: Queryable,
  orgIds: readonly string[],
): Promise<RegisteredNumber[]> {
  const among = "IN (SELECT value FROM json_each(?1))";
  const found = await knownWhere(store, among, [JSON.stringify(orgIds)]);
  return orgIds.map((orgId) => found.get(orgId) ?? { records: [], profile: null });
}

/** What the store knows of all numbers whose org-id begins so, in their order. Ask for about 1,000 at a time. */
export async function knownUnder(
  store: Queryable,
  prefix: string,
): Promise<[string, RegisteredNumber][]> {
  const found = await knownWhere(store, between, rangeOf(prefix));
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const between = ">= ?1 AND org_id < ?2";
/** Org-ids have characters of ASCII. */
const rangeOf = (prefix: string): string[] => [prefix, `${prefix}~`];

/** SQL for the reason that recordsById has. Indexes: the primary key of register_records, registrations_org_id. */
async function knownWhere(
  store: Queryable,
  condition: string,
  args: string[],
): Promise<Map<string, RegisteredNumber>> {
  const { rows } = await store.raw.execute({
    sql: `SELECT
        (
          SELECT ${rowsAsJson(recordColumns)} FROM register_records
          WHERE org_id ${condition}
        ) AS records,
        (
          SELECT json_group_array(json_array(org_id, slug, name, status))
          FROM registrations JOIN nonprofits ON nonprofits.id = registrations.nonprofit_id
          WHERE org_id ${condition}
        ) AS profiles`,
    args,
  });
  const found = new Map<
    string,
    { records: RegisteredNumber["records"][number][]; profile: RegisteredNumber["profile"] }
  >();
  const of = (orgId: string) =>
    found.getOrInsertComputed(orgId, () => ({ records: [], profile: null }));
  const records = rowsFromJson(registerRecords, recordColumns, rows[0]?.["records"]);
  for (const { nonprofit_id: _, ...record } of records) of(record.org_id).records.push(record);
  for (const [orgId, slug, name, status] of JSON.parse(
    String(rows[0]?.["profiles"]),
  ) as Profile[]) {
    of(orgId).profile = { slug, name, status };
  }
  return found;
}

type Profile = [org_id: string, slug: string, name: string, status: NonprofitStatus];

/** When each part of each register was last read. */
export async function scopesRead(store: Queryable): Promise<ScopesRead> {
  const read = await store.db.select().from(registerScopes);
  return new Map(
    [...Map.groupBy(read, ({ register }) => register)].map(([register, scopes]) => [
      register,
      new Map(scopes.map(({ scope, as_of }) => [scope, as_of])),
    ]),
  );
}

/**
 * How many rows registers and profiles have under a prefix of org-ids, counted up to `max` + 1. It bounds the number of
 * organisations. Indexes: the primary key of register_records, registrations_org_id.
 */
export async function rowsUnder(store: Queryable, prefix: string, max: number): Promise<number> {
  const { rows } = await store.raw.execute({
    sql: `SELECT count(*) AS found FROM (
            SELECT 1 FROM register_records WHERE org_id ${between}
            UNION ALL
            SELECT 1 FROM registrations WHERE org_id ${between}
            LIMIT ?3
          )`,
    args: [...rangeOf(prefix), max + 1],
  });
  return Number(rows[0]?.["found"]);
}

/** The characters that follow a prefix in org-ids, each with the number of rows that have it there. */
export async function branchesUnder(
  store: Queryable,
  prefix: string,
): Promise<Map<string, number>> {
  const next = prefix.length + 1;
  const { rows } = await store.raw.execute({
    sql: `SELECT next, count(*) AS found FROM (
            SELECT substr(org_id, ${next}, 1) AS next FROM register_records WHERE org_id ${between}
            UNION ALL
            SELECT substr(org_id, ${next}, 1) FROM registrations WHERE org_id ${between}
          )
          GROUP BY next ORDER BY next`,
    args: rangeOf(prefix),
  });
  return new Map(rows.map((row) => [String(row["next"]), Number(row["found"])]));
}

/** The org-ids of these nonprofits. */
export async function orgIdsOf(store: Queryable, ids: readonly number[]): Promise<string[]> {
  const found = await store.db
    .select({ org_id: registrations.org_id })
    .from(registrations)
    .where(inValues(registrations.nonprofit_id, ids));
  return found.flatMap(({ org_id }) => org_id ?? []);
}
