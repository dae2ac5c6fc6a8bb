import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { Store } from "#content/store/open.ts";
import {
  type ImportReport,
  type ListedProfile,
  listedInScope,
  storedRecord,
  recordsInScopes,
  scopesOf,
} from "./import-store.ts";
import { goneDraft, type RegisterDraft } from "./merge.ts";
import type { Register, Staging } from "./stage-rows.ts";

/** Above this share of a part of a register, and this many, absence looks like a file that is cut short or a selection. */
const withdrawalsShareMax = 0.1;
const withdrawalsCheckedFrom = 20;

/** A part of a register that a run covers: what it had there, and how much of that no row names. */
export type Coverage = {
  part: string;
  nonprofits: { had: number; gone: number };
  records: { had: number; gone: number };
};

export type UnknownParts = { kind: "unknown_parts"; unknown: string[]; known: string[] };

type Run = {
  store: Store;
  staging: Staging;
  report: ImportReport;
  /** Names of parts with commas between, "all" for whatever the register listed, "none"; null: those in which rows stand. */
  scope: string | null;
};

/**
 * Finds what a run covers, and stages for each organisation that the register had there and that no row names a row that
 * says so. One that moved to another part of the run has a row; one of a part that is not covered stays. Fails for a part
 * that neither rows nor store know.
 */
export async function stageGone(
  { store, staging, report, scope }: Run,
  { name, parts }: Register,
): Promise<Result<Coverage[], UnknownParts>> {
  if (parts === undefined || scope === "none") return ok([]);
  const storedScopes = await scopesOf(store, name);
  const isPart = (scopeName: string) => parts.fits.test(scopeName);
  const partsResult = partsMeant(scope, staging.scopes, storedScopes.filter(isPart));
  if (!partsResult.ok) return partsResult;
  const wantedParts = partsResult.value;
  const coverage = new Map<string, Coverage>();
  const coveredPart = (part: string) =>
    coverage.getOrInsertComputed(part, () => ({ part, nonprofits: none(), records: none() }));
  for (const part of wantedParts) coveredPart(part);
  const putGone = (draft: RegisterDraft, part: string) => {
    const as_of = dayOfPart(report, part);
    const payload = JSON.stringify(draft);
    staging.put({ key: draft.org_id, rank: "", scope: part, as_of, payload });
  };

  const absent: { org_id: string; part: string }[] = [];
  // Earlier versions noted the name of the file: what such a profile's place says counts instead.
  const scopes = storedScopes.filter(
    (scopeName) => wantedParts.has(scopeName) || !isPart(scopeName),
  );
  const partOf = (profile: ListedProfile) =>
    (isPart(profile.scope) ? profile.scope : parts.ofProfile(profile)) ?? "unknown";
  const listings = scopes.map((scopeName) =>
    paged(0, (id) => listedInScope(store, name, scopeName, id, pageSize), idOf),
  );
  for await (const profile of inTurn(listings)) {
    const part = partOf(profile);
    if (scope !== "all" && !wantedParts.has(part)) continue;
    if (isGone(coveredPart(part).nonprofits, staging, profile.org_ids))
      absent.push(...profile.org_ids.map((org_id) => ({ org_id, part })));
  }
  const had = [...coverage.keys()];
  const records = paged("", (id) => recordsInScopes(store, name, had, id, pageSize), orgIdOf);
  for await (const { org_id, scope: part } of records) {
    if (isGone(coveredPart(part).records, staging, [org_id]))
      putGone(goneDraft({ org_id, ...(await storedRecord(store, name, org_id)) }), part);
  }
  // Of those that an earlier version imported no record is kept.
  for (const { org_id, part } of absent.filter((row) => !staging.has([row.org_id])))
    putGone(goneDraft({ org_id }), part);
  return ok(
    [...coverage.values()].toSorted((first, second) => (first.part < second.part ? -1 : 1)),
  );
}

/**
 * The first part of which much too much would vanish: of the nonprofits of a register that lists them, else of the records
 * that stand beside profiles.
 */
export function partLosingTooMuch(
  coverage: readonly Coverage[],
  register: Pick<Register, "lists"> | null,
): { part: string; had: number; gone: number } | null {
  const losses = coverage.map(({ part, nonprofits, records }) => ({
    part,
    ...(register?.lists === true ? nonprofits : records),
  }));
  const isTooMuch = ({ had, gone }: { had: number; gone: number }) =>
    gone >= withdrawalsCheckedFrom && gone > had * withdrawalsShareMax;
  return losses.find(isTooMuch) ?? null;
}

const none = () => ({ had: 0, gone: 0 });
const idOf = ({ id }: { id: number }) => id;
const orgIdOf = ({ org_id }: { org_id: string }) => org_id;

/** Whether no row names it; it is counted. */
function isGone(count: { had: number; gone: number }, staging: Staging, orgIds: readonly string[]) {
  const isAbsent = !staging.has(orgIds);
  count.had += 1;
  count.gone += isAbsent ? 1 : 0;
  return isAbsent;
}

const pageSize = 1_000;
/** What the driver answered is let go of when it is collected: by itself that would be after hundreds of megabytes. */
const pagesUntilCollected = 50;

async function* inTurn<Row>(all: readonly AsyncGenerator<Row>[]): AsyncGenerator<Row> {
  for (const rows of all) yield* rows;
}

/** All rows, each page asked for by the key of the last row before it. */
async function* paged<Row, Key>(
  first: Key,
  pageAfter: (key: Key) => Promise<Row[]>,
  keyOf: (row: Row) => Key,
): AsyncGenerator<Row> {
  let page = await pageAfter(first);
  let pagesRead = 1;
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    yield* page;
    page = await pageAfter(keyOf(last));
    if (pagesRead++ % pagesUntilCollected === 0) Bun.gc(true);
  }
}

/** The parts that an operator means, or those of the rows. */
function partsMeant(
  scope: string | null,
  ofRows: ReadonlySet<string>,
  storedParts: readonly string[],
): Result<ReadonlySet<string>, UnknownParts> {
  const scopesOfRun = new Set([...ofRows, ...storedParts]);
  const wantedParts = scope === "all" ? scopesOfRun : new Set(scope?.split(",") ?? ofRows);
  const unknown = [...wantedParts].filter((part) => !scopesOfRun.has(part));
  if (unknown.length === 0) return ok(wantedParts);
  return fail({ kind: "unknown_parts", unknown, known: [...scopesOfRun].toSorted() });
}

/** The date of what the files say of a part; of one without a row that of the newest file. */
export const dayOfPart = ({ as_of }: ImportReport, part: string): string =>
  as_of[part] ?? Object.values(as_of).toSorted().at(-1) ?? "";
