import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { Store } from "#content/store/open.ts";
import {
  type ImportReport,
  listedInScope,
  storedRecord,
  recordsInScopes,
  scopesOf,
} from "./import-store.ts";
import { goneDraft, type RegisterDraft } from "./merge.ts";
import type { Register, Staging } from "./stage-rows.ts";

/** If more than this share and this many of a part are absent, the file is probably cut short or a selection. */
const withdrawalsShareMax = 0.1;
const withdrawalsCheckedFrom = 20;

/** Part of a register that a run covers: what it had, and how much of that no row names. */
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
  /** Names of parts separated by commas, "all" (whatever the register listed), "none"; null: those of its rows. */
  scope: string | null;
};

/**
 * Finds which parts a run covers, and stages a "gone" row for each of their organisations that no row names. An organisation
 * that moved to another part has a row; one in a part that is not covered stays. Fails for a part that neither rows nor
 * store know.
 */
export async function stageGone(
  { store, staging, report, scope }: Run,
  { name, parts }: Register,
): Promise<Result<Coverage[], UnknownParts>> {
  if (parts === undefined || scope === "none") return ok([]);
  const partsResult = partsMeant(scope, staging.scopes, await scopesOf(store, name));
  if (!partsResult.ok) return partsResult;
  const wantedParts = [...partsResult.value].toSorted();
  const coverage = wantedParts.map((part) => ({ part, nonprofits: none(), records: none() }));
  const putGone = (draft: RegisterDraft, part: string) => {
    const as_of = dayOfPart(report, part);
    const payload = JSON.stringify(draft);
    staging.put({ key: draft.org_id, rank: "", scope: part, as_of, payload });
  };
  const absent: { org_id: string; part: string }[] = [];
  for (const { part, nonprofits } of coverage) {
    const page = (after: number) => listedInScope(store, name, part, after, pageSize);
    for await (const { org_ids } of paged(0, page, ({ id }) => id))
      if (isGone(nonprofits, staging, org_ids))
        absent.push(...org_ids.map((org_id) => ({ org_id, part })));
  }
  const records = (after: string) => recordsInScopes(store, name, wantedParts, after, pageSize);
  for await (const { org_id, scope: part } of paged("", records, (row) => row.org_id)) {
    const covered = coverage[wantedParts.indexOf(part)];
    if (covered === undefined || !isGone(covered.records, staging, [org_id])) continue;
    putGone(goneDraft({ org_id, ...(await storedRecord(store, name, org_id)) }), part);
  }
  // One may be listed though its record is gone already: an operator undid a withdrawal or a merge.
  for (const { org_id, part } of absent.filter((row) => !staging.has([row.org_id])))
    putGone(goneDraft({ org_id }), part);
  return ok(coverage);
}

/**
 * The first part that would lose far too much: of its nonprofits if the register lists them, else of the records beside
 * profiles.
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

/** Counts an organisation, and returns whether no row names it. */
function isGone(count: { had: number; gone: number }, staging: Staging, orgIds: readonly string[]) {
  const isAbsent = !staging.has(orgIds);
  count.had += 1;
  count.gone += isAbsent ? 1 : 0;
  return isAbsent;
}

const pageSize = 1_000;
/** The driver's results are freed by garbage collection, which would otherwise wait for hundreds of megabytes. */
const pagesUntilCollected = 50;

/** All rows; each page is read after the key of the last row before it. */
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

/** The parts that the operator named, or those of the rows. */
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

/** The date of a part's files; for a part without rows, that of the newest file. */
export const dayOfPart = ({ as_of }: ImportReport, part: string): string =>
  as_of[part] ?? Object.values(as_of).toSorted().at(-1) ?? "";
