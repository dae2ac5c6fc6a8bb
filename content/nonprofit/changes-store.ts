import { sha256Of } from "#content/runtime/digest.ts";
import { and, asc, desc, eq, gt, lte, max, min } from "drizzle-orm";
import { z } from "zod";
import { Filing, type History } from "#content/contract/enrichment-answers.ts";
import { changeKinds } from "#content/contract/feed.ts";
import { isoTime } from "#content/contract/base/time.ts";
import type { Queryable } from "#content/store/open.ts";
import {
  insertsOf,
  jsonOf,
  jsonText,
  query,
  valuesOf,
  type Statement,
} from "#content/store/query.ts";
import { changes } from "#content/store/tables/publishing.ts";
import { publicName, shownSource } from "./public-name.ts";
import { idsBySlug } from "./record-store.ts";
import { publicFields, publicValue, tracedFields, tracedValues } from "./wire.ts";

/** One appended change of public data. `changed_at` is in milliseconds since 1970. */
export type Change = typeof changes.$inferSelect;

/** Marks the pages that show a fact of the directory as changed. */
export const changeDirectory = (fact: string, now: Date): Statement[] =>
  appendChanges(
    [{ kind: "directory", nonprofit_id: null, slug: null, moved_lists: [], fields: [fact] }],
    { origin: "directory", now },
  );

/** Where changes come from, and when. */
export type ChangeContext = { origin: string; now: Date };

type NewChange = Pick<Change, "kind" | "nonprofit_id" | "slug" | "fields" | "moved_lists"> &
  Partial<Pick<Change, "was">>;

/** Appends changes for the publisher and the feed, including those that are no field of a profile. */
export const appendChanges = (
  written: readonly NewChange[],
  { origin, now }: ChangeContext,
): Statement[] =>
  insertsOf(
    changes,
    written.map((row) => ({ ...row, origin, changed_at: now.getTime() })),
  );

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

/** The sequence number of the newest change; 0 if there is none. */
export async function newestSequence(store: Queryable): Promise<number> {
  const [row] = await store.db.select({ newest: max(changes.sequence) }).from(changes);
  return row?.newest ?? 0;
}

/**
 * Identifies a change by its number and a digest of its row, because a store that was restored and has grown since may hold
 * another row under the same number. "" when no change has the number.
 */
export async function changeMark(store: Queryable, sequence: number): Promise<string> {
  const [change] = await changesAfter(store, sequence - 1, 1);
  return change?.sequence === sequence ? markOf(change) : "";
}

/** The mark of a change that was already read. */
export function markOf(change: Change): string {
  const { sequence, kind, nonprofit_id, slug, fields, moved_lists, origin, changed_at } = change;
  // List the columns by name: a column added later must not change the mark.
  const row = [sequence, kind, nonprofit_id, slug, fields, moved_lists, origin, changed_at];
  return `${sequence} ${sha256Of(JSON.stringify(row))}`;
}

/** The first and last sequence number of the next `limit` changes, up to `upTo`; null if there are none. */
export async function nextChanges(
  { db }: Queryable,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<{ first: number; last: number } | null> {
  const next = db
    .select({ sequence: changes.sequence })
    .from(changes)
    .where(and(gt(changes.sequence, after), lte(changes.sequence, upTo)))
    .orderBy(asc(changes.sequence))
    .limit(limit)
    .as("next");
  const [row] = await db.select({ first: min(next.sequence), last: max(next.sequence) }).from(next);
  const { first = null, last = null } = row ?? {};
  return first === null || last === null ? null : { first, last };
}

/** The nonprofit that a change is about; null for a change of the directory itself. */
export async function changedProfile(store: Queryable, sequence: number): Promise<number | null> {
  const [id = null] = await valuesOf(store, changes.nonprofit_id, eq(changes.sequence, sequence));
  return id;
}

/** The sequence of a nonprofit's newest change; null if it has none. Index: changes_by_nonprofit. */
export async function newestChangeOf(
  store: Queryable,
  nonprofitId: number,
): Promise<number | null> {
  const { sequence, nonprofit_id } = changes;
  const newestFirst = { by: desc(sequence), limit: 1 };
  const [newest = null] = await valuesOf(
    store,
    sequence,
    eq(nonprofit_id, nonprofitId),
    newestFirst,
  );
  return newest;
}

/** The field named by a change of a nonprofit's donations. It is no field of the profile. */
export const donationsField = "donations";

/** Whether a change is only about donations and leaves the profile as it was. */
export const isOfDonations = ({ fields }: Pick<Change, "fields">): boolean =>
  fields.length === 1 && fields[0] === donationsField;

const changesMax = 200;
const agreedMax = 400;

const FiledValue = Filing.extend({ value: z.string() });
const Change = z.object({
  sequence: z.number(),
  kind: z.enum(changeKinds),
  fields: z.array(z.string()),
  origin: z.string(),
  changed_at: z.number(),
  was: z.record(z.string(), z.union([z.string(), z.null(), FiledValue])).nullable(),
  reason: z.string().nullable(),
});

const Agreed = z.object({
  field: z.string(),
  value: z.string(),
  agent_id: z.string(),
  agent_name: z.string(),
  source_url: z.string().nullable(),
  applied_at: z.number(),
  edited: z.number(),
});

/** A nonprofit with its changes and the submissions that went live. */
const ChangeRow = z.object({
  id: z.number(),
  slug: z.string(),
  website: z.string().nullable(),
  /** The current values of the traced fields. */
  live: jsonText(z.record(z.string(), z.union([z.string(), z.number(), z.null()]))),
  /** How many changes there are in all; `changes` holds the newest. */
  count: z.number(),
  changes: jsonText(z.array(Change)),
  agreed: jsonText(z.array(Agreed)),
});
type ChangeRow = z.infer<typeof ChangeRow>;

const agreedColumns = Object.keys(Agreed.shape);

/** The live value of a submission, which may differ from what the agent sent: the agreed value, or a reviewer's version. */
const liveValue = "coalesce(winning_value, value)";

/** The public reason of an operator's change: in the audit log's entry of the same instant. Index: audit_log_by_subject. */
const saidBecause = `SELECT detail ->> 'reason' FROM audit_log
          WHERE subject = n.slug AND happened_at = changed_at AND detail ->> 'public' = 1`;

/** Leave out changes of donations: they do not change what the profile says. */
const isOfProfile = `fields <> '["${donationsField}"]'`;

const historiesSql = `SELECT n.id, n.slug, n.website, ${jsonOf(tracedFields)} AS live,
    (SELECT count(*) FROM changes WHERE nonprofit_id = n.id AND ${isOfProfile}) AS count,
    (
      SELECT json_group_array(json_object(
        'sequence', sequence, 'kind', kind, 'fields', json(fields), 'origin', origin, 'changed_at', changed_at,
        'was', json(was), 'reason', CASE origin WHEN 'operator' THEN (${saidBecause}) END
      )) FROM (
        SELECT sequence, kind, fields, origin, changed_at, was FROM changes
        WHERE nonprofit_id = n.id AND ${isOfProfile}
        ORDER BY sequence DESC
        LIMIT ${changesMax}
      )
    ) AS changes,
    (
      SELECT json_group_array(${jsonOf(agreedColumns)}) FROM (
        SELECT id, field, ${liveValue} AS value, agent_id, agent_name, source_url, applied_at,
          field_type = 'prose' AND winning_value IS NOT NULL AS edited
        FROM submissions
        WHERE nonprofit_id = n.id AND applied_at IS NOT NULL
        ORDER BY applied_at DESC, id
        LIMIT ${agreedMax}
      )
    ) AS agreed
  FROM json_each(?) AS w
  CROSS JOIN nonprofits AS n ON n.id = w.value`;

/**
 * The histories of these nonprofits by id (unknown ids are left out): the newest 200 public changes of each, newest first,
 * with the agents that agreed on what went live. The service and the bundle give the same, also for withdrawn nonprofits.
 * SQL, because a publication asks for about a thousand at a time. Indexes: changes_by_nonprofit, submissions_gone_live.
 */
export async function historiesOf(
  store: Queryable,
  ids: readonly number[],
): Promise<Map<number, History>> {
  const histories = await query(store, historiesSql, [JSON.stringify(ids)], ChangeRow);
  return new Map(histories.map((history) => [history.id, historyOf(history)]));
}

/** Whether a profile has changed since it was added. */
export const isChanged = (history: History): boolean =>
  history.changes.some(({ kind }) => kind !== "added");

/** Ids of nonprofits that changed since they were added, ascending, after the id `after`. Index: changes_by_nonprofit. */
export async function changedIdsAfter(
  store: Queryable,
  after: number,
  limit: number,
): Promise<number[]> {
  // SQL, because drizzle does not support INDEXED BY; without it SQLite reads all changes in order.
  const rows = await query(
    store,
    `SELECT DISTINCT nonprofit_id AS id FROM changes INDEXED BY changes_by_nonprofit
     WHERE nonprofit_id > ? AND kind <> 'added'
     ORDER BY nonprofit_id
     LIMIT ?`,
    [after, limit],
    z.object({ id: z.number() }),
  );
  return rows.map(({ id }) => id);
}

/** How many of the newest changes are searched before the list's own changes: enough for a list with recent news. */
const newestLookedThrough = 20_000;
const Newest = z.object({ id: z.number(), name: z.string(), sequence: z.number() });

/**
 * The newest changes, newest first, of the nonprofits now in a list; "all" includes withdrawn ones. SQL, because drizzle
 * does not support INDEXED BY. Indexes: the primary key, then listings_by_list_order with changes_by_nonprofit.
 */
export async function newestChangesIn(store: Queryable, list: string, limit: number) {
  const newest = (from: string, where: string, ...args: (string | number)[]) =>
    query(
      store,
      `SELECT n.id, n.name, c.sequence FROM ${from} CROSS JOIN nonprofits AS n ON n.id = c.nonprofit_id
       WHERE ${isOfProfile} AND ${where} ORDER BY c.sequence DESC LIMIT ${limit}`,
      args,
      Newest,
    );
  if (list === "all") return newest("changes AS c", "c.nonprofit_id IS NOT NULL");
  const isListed = "EXISTS (SELECT 1 FROM listings WHERE nonprofit_id = n.id AND list = ?)";
  const after = (await newestSequence(store)) - newestLookedThrough;
  const page = await newest("changes AS c", `c.sequence > ? AND ${isListed}`, after, list);
  if (page.length === limit || after <= 0) return page;
  const ofList = `listings AS l INDEXED BY listings_by_list_order
    CROSS JOIN changes AS c INDEXED BY changes_by_nonprofit ON c.nonprofit_id = l.nonprofit_id`;
  return newest(ofList, "l.list = ?", list);
}

/** GET /api/history/{slug}. Null for an unknown slug. */
export async function historyAnswer(store: Queryable, slug: string): Promise<History | null> {
  const [id] = (await idsBySlug(store, [slug])).values();
  return id === undefined ? null : ((await historiesOf(store, [id])).get(id) ?? null);
}

/** A submission goes live in the transaction of its change, so instant and field identify the change. */
function historyOf({
  slug,
  website,
  live: current,
  count,
  changes: appended,
  agreed,
}: ChangeRow): History {
  const later = tracedValues(current, tracedFields) ?? {};
  const agreedAt = Map.groupBy(
    agreed,
    ({ applied_at, field }) => `${applied_at} ${rowFields[field] ?? field}`,
  );
  // Changes come newest first, so a field's new value is the old value of the change after it.
  const entries = appended.map(({ sequence, kind, fields, origin, changed_at, was, reason }) => {
    const values = Object.entries(was ?? {}).map(([field, held]) => {
      const { value: old, ...filed } =
        held === null || typeof held === "string" ? { value: held } : held;
      const change = { field: publicFields([field])[0] ?? field, old, new: later[field] ?? null };
      later[field] = old;
      return "form" in filed ? { ...change, filed } : change;
    });
    const live = fields.flatMap((field) => agreedAt.get(`${changed_at} ${field}`) ?? []);
    return {
      sequence,
      kind,
      fields: publicFields(fields),
      origin,
      by: deciderOf(origin),
      changed_at: isoTime(changed_at),
      ...(reason === null ? {} : { reason }),
      ...(values.length === 0 ? {} : { values }),
      ...(live.length === 0
        ? {}
        : { agreed: live.map((submission) => agreedOf(submission, live, website)) }),
    };
  });
  return { slug, count, changes: entries };
}

type Decider = History["changes"][number]["by"];
const deciders: Readonly<Record<string, Decider>> = {
  consensus: "agents",
  corroboration: "agents",
  review: "operator",
  revert: "operator",
  revocation: "operator",
  operator: "operator",
  correction: "operator",
  onboarding: "organisation",
};
const deciderOf = (origin: string): Decider =>
  deciders[origin] ?? (origin.startsWith("import:") ? "register" : "directory");

const agreedOf = (
  submission: ChangeRow["agreed"][number],
  live: ChangeRow["agreed"],
  website: string | null,
) => ({
  field: submission.field,
  value: publicValue(submission.field, submission.value),
  agent_name: publicName(submission),
  source_url: shownSource(
    submission.source_url,
    live.map(({ source_url }) => source_url),
    website,
  ),
  ...(submission.edited === 1 ? { edited: true as const } : {}),
});

/** Agents send single rows of these fields, which hold many. */
const rowFields: Readonly<Record<string, string>> = {
  programme: "programs",
  impact_metric: "impact_metrics",
};
