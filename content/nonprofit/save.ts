import { isDeepStrictEqual } from "node:util";
import { and, getTableColumns, isNull, ne } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { type Listing, listingsOf, searchRank } from "./listing.ts";
import type { NonprofitRecord } from "./record.ts";
import { samePublicFacts, withRegisterRecord } from "./register-facts.ts";
import { children } from "./record-store.ts";
import { columnNames, insertMany, inValues } from "#content/store/query.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import { changes, directoryFacts } from "#content/store/tables/publishing.ts";
import { listings, nonprofits, registerRecords } from "#content/store/tables/nonprofits.ts";
import { indexWords } from "./filters.ts";
import { refreshPending } from "./pending-submissions-store.ts";
import type { Change } from "./changes-store.ts";
import { tracedValues } from "./wire.ts";

/** A nonprofit as it was (null: new) and as it shall be. */
export type Save = { before: NonprofitRecord | null; after: NonprofitRecord };
export type SaveContext = {
  origin: string;
  now: Date;
  /** Keep created_at and updated_at as handed in: for records that come from another directory. */
  keepTimes?: boolean;
};

/** Parts of a record that no page shows. */
const unseen = new Set(["id", "register", "register_scope", "created_at", "updated_at"]);

const isUnseen = (part: string, before: NonprofitRecord | null, after: NonprofitRecord): boolean =>
  unseen.has(part) ||
  (part === "register_records" && before !== null && samePublicFacts(before, after));

/**
 * Writes nonprofits with all that hangs on them, and appends to `changes` what a page shows of it: the one way in
 * which public data changes. A save without any difference writes nothing. Answers the records as stored, in order.
 */
export async function saveNonprofits(
  tx: WriteTransaction,
  saves: readonly Save[],
  { origin, now, keepTimes = false }: SaveContext,
): Promise<NonprofitRecord[]> {
  const adopted = await adoptRegisterRecords(tx, saves);
  // Ids that are handed in are not given to others.
  let nextId = saves.reduce(
    (least, { after }) => Math.max(least, after.id + 1),
    await firstFreeId(tx),
  );
  const written = saves.map(({ before, after: wanted }, at): Written => {
    const after = adopted[at] ?? wanted;
    const moment = now.getTime();
    const id = before?.id ?? (after.id > 0 ? after.id : nextId++);
    const parts = changedParts(before, after);
    const shown = parts.filter((part) => !isUnseen(part, before, after));
    const updated_at = shown.length > 0 && !keepTimes ? moment : after.updated_at;
    const created_at = before === null && after.created_at === 0 ? moment : after.created_at;
    return { before, after: { ...after, id, updated_at, created_at }, parts, shown };
  });
  const differing = written.filter(({ parts }) => parts.length > 0);
  await writeRows(tx, differing);
  // The search index takes rows faster in the order of their places; see the view search_places.
  const listingsFor = listingsOnce();
  const rankOf = ({ after }: Written) => listingsFor(after).map(searchRank)[0] ?? 0;
  const byPlace = differing.toSorted((a, b) => rankOf(a) - rankOf(b));
  for (const { table, rows, orElse } of children) {
    await writeChildren(tx, table, rows, byPlace, orElse);
  }
  await writeChildren(tx, listings, listingsFor, byPlace);
  await refreshPending(tx, differing);
  const shown = differing.filter((one) => one.shown.length > 0);
  await appendChanges(
    tx,
    shown.map((one) => ({
      kind: kindOf(one),
      nonprofit_id: one.after.id,
      slug: one.after.slug,
      fields: one.shown,
      moved_lists: movedLists(one, listingsFor),
      was: one.before === null ? null : tracedValues(one.before, one.shown),
    })),
    { origin, now },
  );
  return written.map(({ after }) => after);
}

/** The columns that make a RegisterRecord. */
export const { nonprofit_id: _, ...recordColumns } = getTableColumns(registerRecords);

/**
 * The nonprofits, in order, with what registers said of them before they had a profile: those rows move to the profile.
 * Looks only at nonprofits that are new or whose registrations change. Index: the primary key.
 */
async function adoptRegisterRecords(
  tx: WriteTransaction,
  saves: readonly Save[],
): Promise<NonprofitRecord[]> {
  const orgIds = saves.flatMap(({ before, after }) =>
    before?.registrations === after.registrations ? [] : orgIdsOf(after),
  );
  const waiting =
    orgIds.length === 0
      ? []
      : await tx.db
          .delete(registerRecords)
          .where(
            and(inValues(registerRecords.org_id, orgIds), isNull(registerRecords.nonprofit_id)),
          )
          .returning(recordColumns);
  const byOrgId = Map.groupBy(waiting, ({ org_id }) => org_id);
  return saves.map(({ after }) => {
    if (waiting.length === 0) return after;
    let register_records = orgIdsOf(after).flatMap((orgId) => byOrgId.get(orgId) ?? []);
    // What comes now is newer.
    for (const own of after.register_records) {
      register_records = withRegisterRecord(register_records, own);
    }
    return { ...after, register_records };
  });
}

const orgIdsOf = ({ registrations }: NonprofitRecord): string[] =>
  registrations.flatMap(({ org_id }) => org_id ?? []);

/**
 * Writes a fact that pages show, for example the publication day or the counters (as JSON), and marks the pages of
 * the directory as changed. Does nothing when the fact is so already.
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
  const none = { nonprofit_id: null, slug: null, moved_lists: [] };
  await appendChanges(tx, [{ kind: "directory", ...none, fields: [name] }], {
    origin: "directory",
    now,
  });
}

type NewChange = Pick<Change, "kind" | "nonprofit_id" | "slug" | "fields" | "moved_lists"> &
  Partial<Pick<Change, "was">>;

/** Tells readers of the feed and the publisher what changed; also what is no field of a profile. */
export async function appendChanges(
  tx: WriteTransaction,
  written: readonly NewChange[],
  { origin, now }: SaveContext,
): Promise<void> {
  const rows = written.map((one) => ({ ...one, origin, changed_at: now.getTime() }));
  await insertMany(tx, changes, rows);
}

/** Whether a page shows anything of what differs. */
export const isPublicChange = ({ before, after }: Save): boolean =>
  changedParts(before, after).some((part) => !isUnseen(part, before, after));

type Written = Save & { parts: string[]; shown: string[] };

async function firstFreeId(tx: WriteTransaction): Promise<number> {
  const found = await tx.raw.execute("SELECT seq FROM sqlite_sequence WHERE name = 'nonprofits'");
  return Number(found.rows[0]?.["seq"] ?? 0) + 1;
}

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

async function writeRows(tx: WriteTransaction, writes: readonly Written[]): Promise<void> {
  const [, ...columns] = columnNames(nonprofits);
  const updates = columns.map((column) => `${column} = excluded.${column}`);
  const rows = writes.map(({ after }) => ({ ...after, search_facets: indexWords(after) }));
  const orElse = `ON CONFLICT (id) DO UPDATE SET ${updates.join(", ")}`;
  await insertMany(tx, nonprofits, rows, orElse);
}

async function writeChildren(
  tx: WriteTransaction,
  table: SQLiteTable & { nonprofit_id: SQLiteColumn },
  rows: (record: NonprofitRecord) => object[],
  writes: readonly Written[],
  orElse = "",
): Promise<void> {
  const changed = writes.filter(
    ({ before, after }) => before === null || !isDeepStrictEqual(rows(before), rows(after)),
  );
  const stored = changed.flatMap(({ before }) => before?.id ?? []);
  if (stored.length > 0) await tx.db.delete(table).where(inValues(table.nonprofit_id, stored));
  const next = changed.flatMap(({ after }) =>
    rows(after).map((row) => ({ nonprofit_id: after.id, ...row })),
  );
  await insertMany(tx, table, next, orElse);
}

function kindOf({ before, after }: Written): "added" | "changed" | "withdrawn" | "restored" {
  if (before === null) return "added";
  if (after.status === "withdrawn" && before.status !== "withdrawn") return "withdrawn";
  if (after.status !== "withdrawn" && before.status === "withdrawn") return "restored";
  return "changed";
}

type ListingsFor = (record: NonprofitRecord) => Listing[];

/** `listingsOf`, worked out once for each record. */
function listingsOnce(): ListingsFor {
  const known = new Map<NonprofitRecord, Listing[]>();
  return (record) => known.getOrInsertComputed(record, listingsOf);
}

/** The lists in which the nonprofit appeared, vanished or changed its place. */
function movedLists({ before, after }: Written, listingsFor: ListingsFor): string[] {
  if (before === null) return listingsFor(after).map(({ list }) => list);
  const places = (record: NonprofitRecord) =>
    new Map(listingsFor(record).map((l) => [l.list, JSON.stringify(l)]));
  const [from, to] = [places(before), places(after)];
  return [...new Set([...from.keys(), ...to.keys()])].filter(
    (list) => from.get(list) !== to.get(list),
  );
}
