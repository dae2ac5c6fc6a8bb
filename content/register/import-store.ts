import type { InValue } from "@libsql/client";
import { and, asc, desc, eq, inArray, isNotNull, isNull, max, ne, type SQL } from "drizzle-orm";
import { registerRecordUpsert, idsBySlug } from "#content/nonprofit/record-store.ts";
import type { RegisterRecord } from "#content/nonprofit/record.ts";
import { recordColumns, saveDirectoryFact } from "#content/nonprofit/save.ts";
import { numberedSlug, slugCandidates } from "#content/nonprofit/slug.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { type Statement, inValues, insertMany, insertsOf, valuesOf } from "#content/store/query.ts";
import {
  nonprofits,
  registerRecords,
  registerScopes,
  registrations,
} from "#content/store/tables/nonprofits.ts";
import { type FetchedVersion, imports } from "#content/store/tables/publishing.ts";

/** The nonprofits with these org-ids. Index: registrations_org_id. */
export async function idsByOrgId(
  store: Queryable,
  orgIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await store.db
    .select({ org_id: registrations.org_id, id: registrations.nonprofit_id })
    .from(registrations)
    .where(inValues(registrations.org_id, orgIds));
  return new Map(rows.map(({ org_id, id }) => [org_id ?? "", id]));
}

/** Which of these ids are in use. */
export const knownIds = async (store: Queryable, ids: readonly number[]): Promise<Set<number>> =>
  new Set(await valuesOf(store, nonprofits.id, inValues(nonprofits.id, ids)));

export const hasProfiles = async (store: Queryable): Promise<boolean> =>
  (await valuesOf(store, nonprofits.id, undefined, { limit: 1 })).length > 0;

/** The parts stored for a register's nonprofits. Index: nonprofits_by_register. */
export async function scopesOf(store: Queryable, register: string): Promise<string[]> {
  const rows = await store.db
    .selectDistinct({ scope: nonprofits.register_scope })
    .from(nonprofits)
    .where(eq(nonprofits.register, register));
  return rows.flatMap(({ scope }) => scope ?? []);
}

/**
 * Nonprofits in a part of a register that are not withdrawn, by ascending id, without linked registrations. Index:
 * nonprofits_by_register, which is in order of id within one part only.
 */
export const listedInScope = (
  store: Queryable,
  register: string,
  scope: string,
  after: number,
  limit: number,
): Promise<{ id: number; org_ids: string[] }[]> =>
  rowsAsOneText(
    store,
    `SELECT json_object(
        'id', id,
        'org_ids', json((
          SELECT json_group_array(org_id) FROM registrations
          WHERE nonprofit_id = id AND linked_by IS NULL AND org_id IS NOT NULL
        ))) AS row
      FROM nonprofits
      WHERE id > ? AND register = ? AND register_scope = ? AND status <> 'withdrawn'
      ORDER BY id LIMIT ?`,
    [after, register, scope, limit],
  );

/** Rows of a JSON query, read as one text: taking each row from the driver takes longer than everything else. */
async function rowsAsOneText<Row>(store: Queryable, sql: string, args: InValue[]): Promise<Row[]> {
  const all = `SELECT json_group_array(json(row)) AS rows FROM (${sql})`;
  const { rows } = await store.raw.execute({ sql: all, args });
  return JSON.parse(String(rows[0]?.["rows"]));
}

/** A register's records of these organisations, by org-id, only for those without a profile. Index: the primary key. */
export async function recordsWithoutProfile(
  store: Queryable,
  register: string,
  orgIds: readonly string[],
): Promise<Map<string, RegisterRecord>> {
  if (orgIds.length === 0) return new Map();
  const rows = await store.db
    .select(recordColumns)
    .from(registerRecords)
    .where(
      and(
        inValues(registerRecords.org_id, orgIds),
        eq(registerRecords.register, register),
        isNull(registerRecords.nonprofit_id),
      ),
    );
  return new Map(rows.map((record) => [record.org_id, record]));
}

/** The organisations in these parts of a register, by ascending org-id. Index: the primary key. */
export const recordsInScopes = (
  store: Queryable,
  register: string,
  scopes: readonly string[],
  after: string,
  limit: number,
): Promise<Pick<RegisterRecord, "org_id" | "scope">[]> =>
  rowsAsOneText(
    store,
    `SELECT json_object('org_id', org_id, 'scope', scope) AS row
      FROM register_records
      WHERE org_id > ? AND register = ? AND state <> 'gone'
        AND scope IN (SELECT value FROM json_each(?))
      ORDER BY org_id LIMIT ?`,
    [after, register, JSON.stringify(scopes), limit],
  );

/** A register's record of one organisation. Index: the primary key. */
export const storedRecord = (
  store: Queryable,
  register: string,
  orgId: string,
): Promise<RegisterRecord | undefined> =>
  store.db
    .select(recordColumns)
    .from(registerRecords)
    .where(and(eq(registerRecords.org_id, orgId), eq(registerRecords.register, register)))
    .get();

/** Stores a register's records of organisations without a profile, replacing earlier ones. */
export const saveRecordsWithoutProfile = (records: readonly RegisterRecord[]): Statement[] =>
  insertsOf(
    registerRecords,
    records.map((record) => ({ ...record, nonprofit_id: null })),
    registerRecordUpsert,
  );

/**
 * Stores the date of each part of a register that was read in full, which confirms its records, however old. It also changes
 * a fact, so that the standing of organisations is shown again, even if no part was read in full.
 */
export async function saveScopes(
  tx: WriteTransaction,
  { register, asOf, now }: { register: string; asOf: Readonly<Record<string, string>>; now: Date },
): Promise<void> {
  const scopes = Object.entries(asOf).map(([scope, as_of]) => ({ register, scope, as_of }));
  const newest =
    "ON CONFLICT (register, scope) DO UPDATE SET as_of = max(register_scopes.as_of, excluded.as_of)";
  await insertMany(tx, registerScopes, scopes, newest);
  await saveDirectoryFact(tx, { name: registersReadFact, value: now.toISOString(), now });
}

/** A fact of the directory that changes whenever registers are read. */
export const registersReadFact = "registers_read";

type Starting = {
  format: string;
  files: readonly string[];
  /** All files of the register at its publisher; null for files that an operator provided. */
  fetched: FetchedVersion[] | null;
  now: Date;
};

/** Records that an import began to write; returns its id. */
export async function startImport(
  tx: WriteTransaction,
  { format, files, fetched, now }: Starting,
): Promise<number> {
  const started_at = now.getTime();
  const [started] = await tx.db
    .insert(imports)
    .values({ format, files: [...files], fetched, status: "running", started_at })
    .returning({ id: imports.id });
  if (started === undefined) throw new Error("the import was not written down");
  return started.id;
}

/** Forgets an import that wrote nothing. */
export async function forgetImport(tx: WriteTransaction, id: number): Promise<void> {
  await tx.db.delete(imports).where(eq(imports.id, id));
}

/** Whether no import has begun to write, and nothing else has filled the store. */
export async function isNeverFilled(store: Queryable): Promise<boolean> {
  const begun = await store.db.$count(imports, ne(imports.status, "failed"));
  return begun === 0 && !(await hasProfiles(store));
}

/** The file names and marks that finished imports of this format recorded. */
export async function filesRead(store: Queryable, format: string): Promise<Set<string>> {
  const isFinished = and(eq(imports.format, format), eq(imports.status, "finished"));
  return new Set((await valuesOf(store, imports.files, isFinished)).flat());
}

const newestImport = (store: Queryable, format: string, ...which: (SQL | undefined)[]) =>
  store.db
    .select({ status: imports.status, fetched: imports.fetched })
    .from(imports)
    .where(and(eq(imports.format, format), ...which))
    .orderBy(desc(imports.id))
    .limit(1)
    .get();

export async function lastWasInterrupted(store: Queryable, format: string): Promise<boolean> {
  return (await newestImport(store, format))?.status === "running";
}

/** Records how an import ended. One that stays `running` was interrupted; running it again finishes the work. */
export async function finishImport(
  tx: WriteTransaction,
  id: number,
  { added, changed, unchanged, withdrawn, skipped }: ImportReport,
  now: Date,
): Promise<void> {
  const counts = { added, changed, unchanged, withdrawn, skipped };
  await tx.db
    .update(imports)
    .set({ ...counts, status: "finished", finished_at: now.getTime() })
    .where(eq(imports.id, id));
}

/** Records a fetch that wrote nothing: nothing was new, or it failed. */
export async function noteFetch(
  tx: WriteTransaction,
  { format, fetched, problem, now }: Omit<Starting, "files"> & { problem: string | null },
): Promise<void> {
  const at = now.getTime();
  const status = problem === null ? "finished" : "failed";
  await tx.db
    .insert(imports)
    .values({ format, files: [], fetched, problem, status, started_at: at, finished_at: at });
}

/** The files fetched by a register's newest finished import; none for an operator's files, which `ownCount`. */
export async function lastFetched(
  store: Queryable,
  format: string,
  ownCount: boolean,
): Promise<FetchedVersion[]> {
  const counts = ownCount ? undefined : isNotNull(imports.fetched);
  const newest = await newestImport(store, format, eq(imports.status, "finished"), counts);
  return newest?.fetched ?? [];
}

/** The newest fetch of each register that was ever fetched. `problem`: why it failed. */
export async function newestFetches(store: Queryable) {
  const newest = store.db
    .select({ id: max(imports.id) })
    .from(imports)
    .where(isNotNull(imports.fetched))
    .groupBy(imports.format);
  const { format, status, started_at, problem } = imports;
  return store.db
    .select({ format, status, started_at, problem })
    .from(imports)
    .where(inArray(imports.id, newest))
    .orderBy(asc(format));
}

/** The report of an import, printed by `--json`. */
export type ImportReport = ReturnType<typeof emptyReport>;

export const emptyReport = (format: string, files: string[]) => ({
  format,
  files,
  /** Files and folders that this version imported before and that are unchanged: they were not read again. */
  known: 0,
  /** What was fetched: addresses, and whether that version was imported before. */
  fetched: [] as { url: string; bytes: number; unchanged: boolean }[],
  /** The parts of the register that the run covers; empty when it withdraws nothing. */
  covers: [] as { part: string; listed: number; to_withdraw: number }[],
  /** The date of the files of each part, YYYY-MM-DD. */
  as_of: {} as Record<string, string>,
  rows: 0,
  added: 0,
  /** Including restored ones. */
  changed: 0,
  unchanged: 0,
  withdrawn: 0,
  restored: 0,
  /** Organisations without a profile: only the register's record is stored. */
  recorded: 0,
  /** Profiles withdrawn in favour of one of the same organisation in another register. */
  linked: 0,
  /** Links that an operator has to decide. */
  links_waiting: 0,
  skipped: 0,
  skipped_because: { withheld: 0, duplicate: 0, not_joined: 0, other_form: 0, bad: 0 },
  /** What determined the causes; only for formats that list organisations. */
  causes_by: { code: 0, activity: 0, name: 0, none: 0 },
  seconds: 0,
});

export type SkipReason = keyof ImportReport["skipped_because"];

/** Counts a skipped row. */
export function countSkip(report: ImportReport, why: SkipReason): void {
  report.skipped += 1;
  report.skipped_because[why] += 1;
}

/** A nonprofit that needs a slug. `org_id` replaces a name without letters or digits. */
export type SlugRequest = {
  slug_name: string;
  org_id: string;
  city: string | null;
  region: string | null;
};

export type SlugGiver = (store: Queryable, unnamed: readonly SlugRequest[]) => Promise<string[]>;

const numbersTried = 64;
const roundsMax = 10_000;

/**
 * Gives a free slug to each new nonprofit, in order: from the name, with the town, with the region, or with a number from 2
 * up. Slugs of withdrawn nonprofits are never free. Call it inside the transaction that uses them.
 */
export function giveSlugs(): SlugGiver {
  // Groups have hundreds of members with one name, so a number that was taken is not tried again.
  const nextNumbers = new Map<string, number>();
  return async (store, unnamed) => {
    const candidates = unnamed.map((request) =>
      slugCandidates(request.slug_name, request, request.org_id),
    );
    const taken = new Set((await idsBySlug(store, candidates.flat())).keys());
    const slugs: string[] = [];
    for (const slugsOfName of candidates) {
      const base = slugsOfName.at(-1) ?? slugsOfName[0];
      const slug =
        slugsOfName.find((candidate) => !taken.has(candidate)) ??
        (await numbered(store, base, taken, nextNumbers));
      taken.add(slug);
      slugs.push(slug);
    }
    return slugs;
  };
}

async function numbered(
  store: Queryable,
  base: string,
  taken: ReadonlySet<string>,
  nextNumbers: Map<string, number>,
): Promise<string> {
  for (let round = 0; round < roundsMax; round++) {
    const from = nextNumbers.get(base) ?? 2;
    const numbers = Array.from({ length: numbersTried }, (_, at) => from + at);
    const idBySlug = await idsBySlug(
      store,
      numbers.map((number) => numberedSlug(base, number)),
    );
    const free = numbers.find((number) => {
      const slug = numberedSlug(base, number);
      return !idBySlug.has(slug) && !taken.has(slug);
    });
    nextNumbers.set(base, (free ?? from + numbersTried - 1) + 1);
    if (free !== undefined) return numberedSlug(base, free);
  }
  throw new Error(`no number is free for the slug ${base}`);
}
