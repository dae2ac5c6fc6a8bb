import { and, asc, eq, gt, lte, max } from "drizzle-orm";
import type { History } from "#content/contract/enrichment-answers.ts";
import { isoTime } from "#content/contract/time.ts";
import type { Queryable } from "#content/store/open.ts";
import { jsonOf, unpacked } from "#content/store/query.ts";
import { changes } from "#content/store/tables/publishing.ts";
import { publicFields, publicValue } from "./wire.ts";

/** One appended change of public data. `changed_at` is in milliseconds since 1970. */
export type Change = typeof changes.$inferSelect;

/** The changes after a sequence number, oldest first, at most `limit`. */
export const changesAfter = (
  store: Queryable,
  sequence: number,
  limit: number,
): Promise<Change[]> =>
  store.db
    .select()
    .from(changes)
    .where(gt(changes.sequence, sequence))
    .orderBy(asc(changes.sequence))
    .limit(limit);

/** The sequence number of the newest change, 0 for none. */
export async function newestSequence(store: Queryable): Promise<number> {
  const [found] = await store.db.select({ newest: max(changes.sequence) }).from(changes);
  return found?.newest ?? 0;
}

/** The newest of the next `limit` changes after a sequence number, not beyond `upTo`; null for none. */
export async function newestSequenceWithin(
  store: Queryable,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<number | null> {
  const next = store.db
    .select({ sequence: changes.sequence })
    .from(changes)
    .where(and(gt(changes.sequence, after), lte(changes.sequence, upTo)))
    .orderBy(asc(changes.sequence))
    .limit(limit)
    .as("next");
  const [found] = await store.db.select({ newest: max(next.sequence) }).from(next);
  return found?.newest ?? null;
}

/** Which nonprofit a change is about, null for the directory itself. */
export async function changedProfile(store: Queryable, sequence: number): Promise<number | null> {
  const [found] = await store.db
    .select({ id: changes.nonprofit_id })
    .from(changes)
    .where(eq(changes.sequence, sequence));
  return found?.id ?? null;
}

/** The sequence of a nonprofit's newest change; null for none. Index: changes_by_nonprofit. */
export async function newestChangeOf(
  store: Queryable,
  nonprofitId: number,
): Promise<number | null> {
  const { rows } = await store.raw.execute({
    sql: "SELECT sequence FROM changes WHERE nonprofit_id = ? ORDER BY sequence DESC LIMIT 1",
    args: [nonprofitId],
  });
  return rows[0] === undefined ? null : Number(rows[0]["sequence"]);
}

const changesMax = 200;
const agreedMax = 400;

type Found = {
  id: number;
  slug: string;
  changes: { sequence: number; kind: string; fields: string; origin: string; changed_at: number }[];
  agreed: {
    field: string;
    value: string;
    agent_name: string;
    source_url: string | null;
    applied_at: number;
  }[];
};

const changeColumns = ["sequence", "kind", "fields", "origin", "changed_at"];
const agreedColumns = ["field", "value", "agent_name", "source_url", "applied_at"];

/** Of prose that a reviewer edited, what the reviewer made of it went live; the rest was never public. */
const liveValue = "iif(field_type = 'prose', coalesce(winning_value, value), value)";

const historiesSql = `SELECT json_object(
    'id', n.id, 'slug', n.slug,
    'changes', (
      SELECT json_group_array(${jsonOf(changeColumns)}) FROM (
        SELECT ${changeColumns.join(", ")} FROM changes
        WHERE nonprofit_id = n.id
        ORDER BY sequence DESC
        LIMIT ${changesMax}
      )
    ),
    'agreed', (
      SELECT json_group_array(${jsonOf(agreedColumns)}) FROM (
        SELECT id, field, ${liveValue} AS value, agent_name, source_url, applied_at FROM submissions
        WHERE nonprofit_id = n.id AND applied_at IS NOT NULL
        ORDER BY applied_at DESC, id
        LIMIT ${agreedMax}
      )
    )
  ) AS packed
  FROM json_each(?) AS w
  CROSS JOIN nonprofits AS n ON n.id = w.value`;

/**
 * The histories of these nonprofits by id, unknown ids left out: of each the newest 200 public changes, newest first,
 * with who agreed on what went live then. The same from the service and in the bundle; a withdrawn nonprofit has one,
 * too. Indexes: changes_by_nonprofit, submissions_gone_live.
 */
export async function historiesOf(
  store: Queryable,
  ids: readonly number[],
): Promise<Map<number, History>> {
  const { rows } = await store.raw.execute({ sql: historiesSql, args: [JSON.stringify(ids)] });
  return new Map(unpacked<Found>(rows).map((found) => [found.id, historyOf(found)]));
}

/** Whether a profile is not as it was when it was added. */
export const isChanged = (history: History): boolean =>
  history.changes.some(({ kind }) => kind !== "added");

/** Ids of nonprofits that were changed since they were added, in their order, after an id. Index: changes_by_nonprofit. */
export async function changedIdsAfter(
  store: Queryable,
  after: number,
  limit: number,
): Promise<number[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT DISTINCT nonprofit_id AS id FROM changes INDEXED BY changes_by_nonprofit
          WHERE nonprofit_id > ? AND kind <> 'added'
          ORDER BY nonprofit_id
          LIMIT ?`,
    args: [after, limit],
  });
  return rows.map((row) => Number(row["id"]));
}

/** GET /api/nonprofits/{slug}/history. Null for an unknown slug. */
export async function historyAnswer(store: Queryable, slug: string): Promise<History | null> {
  const { rows } = await store.raw.execute({
    sql: "SELECT id FROM nonprofits WHERE slug = ?",
    args: [slug],
  });
  const id = rows[0]?.["id"];
  if (id === undefined) return null;
  return (await historiesOf(store, [Number(id)])).get(Number(id)) ?? null;
}

/** A submission goes live in the transaction of its change: the instant and the field tell which that is. */
function historyOf({ slug, changes: appended, agreed }: Found): History {
  const together = Map.groupBy(
    agreed,
    ({ applied_at, field }) => `${applied_at} ${rowFields[field] ?? field}`,
  );
  const shown = appended.map(({ sequence, kind, fields, origin, changed_at }) => {
    const changed = JSON.parse(fields) as string[];
    const live = changed.flatMap((field) => together.get(`${changed_at} ${field}`) ?? []);
    return {
      sequence,
      kind: kind as History["changes"][number]["kind"],
      fields: publicFields(changed),
      origin,
      changed_at: isoTime(changed_at),
      ...(live.length === 0 ? {} : { agreed: live.map(agreedOf) }),
    };
  });
  return { slug, count: shown.length, changes: shown };
}

const agreedOf = ({ field, value, agent_name, source_url }: Found["agreed"][number]) => ({
  field,
  value: publicValue(field, value),
  agent_name,
  source_url,
});

/** What agents send one by one is a row of a field that holds many. */
const rowFields: Readonly<Record<string, string>> = {
  programme: "programs",
  impact_metric: "impact_metrics",
};
