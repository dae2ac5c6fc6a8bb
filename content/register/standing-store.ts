import { and, eq, gte, lt, ne } from "drizzle-orm";
import type { NonprofitStatus } from "#content/contract/nonprofit.ts";
import type { Queryable } from "#content/store/open.ts";
import { columnNames, inValues, rowsAsJson, rowsFromJson, valuesOf } from "#content/store/query.ts";
import {
  nonprofits,
  registerRecords,
  registerScopes,
  registrations,
} from "#content/store/tables/nonprofits.ts";
import type { RegisteredNumber, ScopesRead } from "./standing.ts";

const recordColumns = columnNames(registerRecords).filter((name) => name !== "row_digest");

/** What the store knows about these numbers, in order. */
export async function knownByOrgId(
  store: Queryable,
  orgIds: readonly string[],
): Promise<RegisteredNumber[]> {
  const among = "IN (SELECT value FROM json_each(?1))";
  const organisations = await knownWhere(store, among, [JSON.stringify(orgIds)]);
  return orgIds.map((orgId) => organisations.get(orgId) ?? { records: [], profile: null });
}

/** What the store knows about all numbers with this org-id prefix, in order. Ask for about 1,000 at a time. */
export async function knownUnder(
  store: Queryable,
  prefix: string,
): Promise<[string, RegisteredNumber][]> {
  const organisations = await knownWhere(store, between, rangeOf(prefix));
  return [...organisations].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const between = ">= ?1 AND org_id < ?2";
/** Org-ids and slugs are ASCII. */
const rangeOf = (prefix: string): string[] => [prefix, `${prefix}~`];

/** A scheme for slugs in place of numbers; no register has it. */
export const nameScheme = "NAME";
/** With a prefix of org-ids there are no slugs to match. */
const slugRangeOf = (prefix: string): string[] =>
  prefix.startsWith(`${nameScheme}-`) ? rangeOf(prefix.slice(nameScheme.length + 1)) : ["", ""];

/** Listed nonprofits whose slug has this prefix, or equals it. Index: nonprofits_slug. */
export function namesUnder(store: Queryable, prefix: string, { exact }: { exact: boolean }) {
  const { slug, name, city, region, country_code, status } = nonprofits;
  const [from = "", below = ""] = slugRangeOf(prefix);
  const isAsked = exact ? eq(slug, from) : and(gte(slug, from), lt(slug, below));
  return store.db
    .select({ slug, name, city, region, country_code })
    .from(nonprofits)
    .where(and(isAsked, ne(status, "withdrawn")))
    .orderBy(slug);
}

/** SQL, as in `recordsById`. Indexes: the primary key of register_records, registrations_org_id. */
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
  const byNumber = new Map<
    string,
    { records: RegisteredNumber["records"][number][]; profile: RegisteredNumber["profile"] }
  >();
  const of = (orgId: string) =>
    byNumber.getOrInsertComputed(orgId, () => ({ records: [], profile: null }));
  const records = rowsFromJson(registerRecords, recordColumns, rows[0]?.["records"]);
  for (const { nonprofit_id: _, ...record } of records) of(record.org_id).records.push(record);
  for (const [orgId, slug, name, status] of JSON.parse(
    String(rows[0]?.["profiles"]),
  ) as Profile[]) {
    of(orgId).profile = { slug, name, status };
  }
  return byNumber;
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
 * How many rows of registers and profiles have this prefix of org-ids, or profiles this prefix of slugs, up to `max` + 1: an
 * upper bound on the organisations. Indexes: the primary key of register_records, registrations_org_id, nonprofits_slug.
 */
export async function rowsUnder(store: Queryable, prefix: string, max: number): Promise<number> {
  const { rows } = await store.raw.execute({
    sql: `SELECT count(*) AS found FROM (
            SELECT 1 FROM register_records WHERE org_id ${between}
            UNION ALL
            SELECT 1 FROM registrations WHERE org_id ${between}
            UNION ALL
            SELECT 1 FROM nonprofits WHERE slug >= ?3 AND slug < ?4
            LIMIT ?5
          )`,
    args: [...rangeOf(prefix), ...slugRangeOf(prefix), max + 1],
  });
  return Number(rows[0]?.["found"]);
}

/** The characters that follow a prefix, each with its number of rows; "" for a slug that ends there. */
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
            UNION ALL
            SELECT substr(slug, ${next - nameScheme.length - 1}, 1) FROM nonprofits WHERE slug >= ?3 AND slug < ?4
          )
          GROUP BY next ORDER BY next`,
    args: [...rangeOf(prefix), ...slugRangeOf(prefix)],
  });
  return new Map(rows.map((row) => [String(row["next"]), Number(row["found"])]));
}

export async function orgIdsOf(store: Queryable, ids: readonly number[]): Promise<string[]> {
  const { org_id, nonprofit_id } = registrations;
  const orgIds = await valuesOf(store, org_id, inValues(nonprofit_id, ids));
  return orgIds.filter((orgId) => orgId !== null);
}
