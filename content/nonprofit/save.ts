import { isDeepStrictEqual } from "node:util";
import { and, getTableColumns, isNull, ne } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { ChangeKind } from "#content/contract/feed.ts";
import { type Listing, listingsOf, searchRank } from "./listing.ts";
import { type NonprofitField, type NonprofitRecord, type Waiting, waitingKey } from "./record.ts";
import { samePublicFacts, withRegisterRecord } from "./register-facts.ts";
import { children, pendingWrites } from "./record-store.ts";
import {
  type Statement,
  builder,
  columnNames,
  doAll,
  inValues,
  insertsOf,
  nextId,
  statement,
} from "#content/store/query.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { directoryFacts } from "#content/store/tables/publishing.ts";
import { listings, nonprofits, registerRecords } from "#content/store/tables/nonprofits.ts";
import { indexWords } from "./filters.ts";
import { filedOn } from "./provenance.ts";
import {
  appendChanges,
  type Change,
  changeDirectory,
  type ChangeContext,
} from "./changes-store.ts";
import { tracedValues } from "./wire.ts";

/** A nonprofit before (null: new) and after the save. */
export type Save = { before: NonprofitRecord | null; after: NonprofitRecord };
export type SaveContext = ChangeContext & {
  /** Keep created_at and updated_at as given: for records from another directory. */
  keepTimes?: boolean;
};

/** Members of a record that no page shows. */
const unseen = new Set(["id", "register", "register_scope", "created_at", "updated_at"]);

const isUnseen = (part: string, before: NonprofitRecord | null, after: NonprofitRecord): boolean =>
  unseen.has(part) ||
  (part === "register_records" && before !== null && samePublicFacts(before, after));

/** The records as they will be stored, in order, and statements that are valid only while what was read is unchanged. */
type SavePlan = {
  records: NonprofitRecord[];
  statements: Statement[];
  /** How many rows are appended to `changes`: one for each nonprofit whose pages change. */
  appended: number;
};

/** Carries out `planSaves`. Returns the records as stored, in order. */
export async function saveNonprofits(
  tx: WriteTransaction,
  saves: readonly Save[],
  context: SaveContext,
): Promise<NonprofitRecord[]> {
  const { records, statements } = await planSaves(tx, saves, context);
  await doAll(tx, statements);
  return records;
}

/**
 * Plans to write changed nonprofits, each at most once, and one row of `changes` for each whose pages change. Reads only for
 * new nonprofits or other registrations. It assigns ids to new ones, so carry out one plan before the next.
 */
export async function planSaves(
  store: Queryable,
  saves: readonly Save[],
  { origin, now, keepTimes = false }: SaveContext,
): Promise<SavePlan> {
  const adopted = await adoptRegisterRecords(store, saves);
  const isNew = saves.some(({ before }) => before === null);
  // Never give a new nonprofit an id that came with another record.
  let freeId = saves.reduce(
    (least, { after }) => Math.max(least, after.id + 1),
    isNew ? await nextId(store, nonprofits) : 0,
  );
  const written = saves.map(({ before, after: wanted }, at): WrittenSave => {
    const after = adopted.records[at] ?? wanted;
    const moment = now.getTime();
    const id = before?.id ?? (after.id > 0 ? after.id : freeId++);
    const parts = changedParts(before, after);
    const visible = parts.filter((part) => !isUnseen(part, before, after));
    const updated_at = visible.length > 0 && !keepTimes ? moment : after.updated_at;
    const created_at = before === null && after.created_at === 0 ? moment : after.created_at;
    return { before, after: { ...after, id, updated_at, created_at }, parts, shown: visible };
  });
  const differing = written.filter(({ parts }) => parts.length > 0);
  // The search index takes rows faster in the order of their rank; see the view search_places.
  const listingsFor = listingsOnce();
  const rankOf = ({ after }: WrittenSave) => listingsFor(after).map(searchRank)[0] ?? 0;
  const byPlace = differing.toSorted((a, b) => rankOf(a) - rankOf(b));
  const publicChanges = differing.filter((change) => change.shown.length > 0);
  const news = publicChanges.map((change) => ({
    kind: kindOf(change),
    nonprofit_id: change.after.id,
    slug: change.after.slug,
    fields: change.shown,
    moved_lists: movedLists(change, listingsFor),
    was: change.before === null ? null : wasOf(change.before, change.shown),
  }));
  const statements = [
    ...adopted.statements,
    ...rowWrites(differing),
    ...children.flatMap(({ table, rows, orElse }) => childWrites(table, rows, byPlace, orElse)),
    ...childWrites(listings, listingsFor, byPlace),
    ...pendingWrites(differing, now.getTime()),
    ...appendChanges(news, { origin, now }),
  ];
  return { records: written.map(({ after }) => after), statements, appended: publicChanges.length };
}

/** The former values of changed fields; a value that the organisation filed carries its form and period. */
function wasOf(before: NonprofitRecord, fields: readonly string[]): Change["was"] {
  const was: NonNullable<Change["was"]> = { ...tracedValues(before, fields) };
  for (const [field, value] of Object.entries(was)) {
    const filed = filedOn(before, field);
    if (typeof value === "string" && filed !== null) was[field] = { value, ...filed };
  }
  return Object.keys(was).length === 0 ? null : was;
}

/** The columns of a RegisterRecord. */
export const {
  nonprofit_id: _,
  row_digest: _digest,
  ...recordColumns
} = getTableColumns(registerRecords);

/**
 * The nonprofits, in order, with the register records that were stored before they had a profile: those rows move to the
 * profile. Reads only for nonprofits that are new or whose registrations change. Index: the primary key.
 */
async function adoptRegisterRecords(
  store: Queryable,
  saves: readonly Save[],
): Promise<Pick<SavePlan, "records" | "statements">> {
  const orgIds = saves.flatMap(({ before, after }) =>
    before?.registrations === after.registrations ? [] : orgIdsOf(after),
  );
  const isWaiting = and(
    inValues(registerRecords.org_id, orgIds),
    isNull(registerRecords.nonprofit_id),
  );
  const waiting =
    orgIds.length === 0
      ? []
      : await store.db.select(recordColumns).from(registerRecords).where(isWaiting);
  if (waiting.length === 0) return { records: saves.map(({ after }) => after), statements: [] };
  const byOrgId = Map.groupBy(waiting, ({ org_id }) => org_id);
  const records = saves.map(({ after }) => {
    let register_records = orgIdsOf(after).flatMap((orgId) => byOrgId.get(orgId) ?? []);
    // The record being saved is newer.
    for (const record of after.register_records) {
      register_records = withRegisterRecord(register_records, record);
    }
    return filledIn({ ...after, register_records });
  });
  return { records, statements: [statement(builder.delete(registerRecords).where(isWaiting))] };
}

/** Fills empty fields from IRS forms that were imported before the profile existed. */
function filledIn(record: NonprofitRecord): NonprofitRecord {
  const after = { ...record, provenance: { ...record.provenance } };
  after.register_records = record.register_records.map((register_record) => {
    const { [waitingKey]: json = "{}", ...facts } = register_record.facts;
    const waiting: Waiting = JSON.parse(String(json));
    for (const [field, { value, from }] of Object.entries(waiting)) {
      const held = after[field as NonprofitField];
      if (!isEmpty(held) || after.provenance[field] !== undefined) continue;
      Object.assign(after, { [field]: value });
      after.provenance[field] = from;
    }
    return { ...register_record, facts };
  });
  return after;
}

export const orgIdsOf = ({ registrations }: Pick<NonprofitRecord, "registrations">): string[] =>
  registrations.flatMap(({ org_id }) => org_id ?? []);

/**
 * Stores a fact that pages show, such as the publication day or the counters (as JSON), and marks the directory's pages as
 * changed. Does nothing when the fact has this value already.
 */
export async function saveDirectoryFact(
  tx: WriteTransaction,
  { name, value, now }: { name: string; value: string; now: Date },
): Promise<void> {
  const updated_at = now.getTime();
  const saved = await tx.db
    .insert(directoryFacts)
    .values({ name, value, updated_at })
    .onConflictDoUpdate({
      target: directoryFacts.name,
      set: { value, updated_at },
      setWhere: ne(directoryFacts.value, value),
    })
    .returning({ name: directoryFacts.name });
  if (saved.length === 0) return;
  await doAll(tx, changeDirectory(name, now));
}

/** Whether any page changes by this save. */
export const isPublicChange = ({ before, after }: Save): boolean =>
  changedParts(before, after).some((part) => !isUnseen(part, before, after));

type WrittenSave = Save & { parts: string[]; shown: string[] };

const changedParts = (before: NonprofitRecord | null, after: NonprofitRecord): string[] =>
  (Object.keys(after) as (keyof NonprofitRecord)[]).filter((part) =>
    before === null
      ? !isEmpty(after[part])
      : part !== "updated_at" &&
        before[part] !== after[part] &&
        !isDeepStrictEqual(before[part], after[part]),
  );

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === "object" && Object.keys(value).length === 0);

function rowWrites(writes: readonly WrittenSave[]): Statement[] {
  const [, ...columns] = columnNames(nonprofits);
  const updates = columns.map((column) => `${column} = excluded.${column}`);
  const rows = writes.map(({ after }) => ({ ...after, search_facets: indexWords(after) }));
  const orElse = `ON CONFLICT (id) DO UPDATE SET ${updates.join(", ")}`;
  return insertsOf(nonprofits, rows, orElse);
}

function childWrites(
  table: SQLiteTable & { nonprofit_id: SQLiteColumn },
  rows: (record: NonprofitRecord) => object[],
  writes: readonly WrittenSave[],
  orElse = "",
): Statement[] {
  const changed = writes.filter(
    ({ before, after }) => before === null || !isDeepStrictEqual(rows(before), rows(after)),
  );
  const stored = changed.flatMap(({ before }) => before?.id ?? []);
  const removed = builder.delete(table).where(inValues(table.nonprofit_id, stored));
  const next = changed.flatMap(({ after }) =>
    rows(after).map((row) => ({ nonprofit_id: after.id, ...row })),
  );
  return [...(stored.length > 0 ? [statement(removed)] : []), ...insertsOf(table, next, orElse)];
}

function kindOf({ before, after }: WrittenSave): ChangeKind {
  if (before === null) return "added";
  if (after.status === "withdrawn" && before.status !== "withdrawn") return "withdrawn";
  if (after.status !== "withdrawn" && before.status === "withdrawn") return "restored";
  return "changed";
}

type ListingsFor = (record: NonprofitRecord) => Listing[];

/** `listingsOf`, computed once per record. */
function listingsOnce(): ListingsFor {
  const listingsOfRecord = new Map<NonprofitRecord, Listing[]>();
  return (record) => listingsOfRecord.getOrInsertComputed(record, listingsOf);
}

/** The lists in which the nonprofit appears, disappears or moves. */
function movedLists({ before, after }: WrittenSave, listingsFor: ListingsFor): string[] {
  if (before === null) return listingsFor(after).map(({ list }) => list);
  const places = (record: NonprofitRecord) =>
    new Map(listingsFor(record).map((l) => [l.list, JSON.stringify(l)]));
  const from = places(before);
  const to = places(after);
  return [...new Set([...from.keys(), ...to.keys()])].filter(
    (list) => from.get(list) !== to.get(list),
  );
}
