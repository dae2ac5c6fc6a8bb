import { type Clock, dayMs } from "#content/contract/base/time.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { MappedBy } from "./cause-mapping.ts";
import { countSkip, type ImportReport, type SkipReason } from "./import-store.ts";
import type { RecordDraft, RegisterDraft } from "./merge.ts";

/** A register, as far as imports are concerned. */
export type Register = {
  name: string;
  /** True when the register lists organisations; false when it only adds to known ones. */
  lists: boolean;
  /** The parts in which a listing register is published. A run withdraws only from parts that have rows. */
  parts?: {
    /** True when the register has one row per organisation: a second one means a damaged or repeated file. */
    onceEach: boolean;
  };
  /** Skip and count malformed rows; end the import only if a file has too many, or no file has a good one. */
  quarantines?: boolean;
};

/**
 * What a row says, about an organisation that gets a profile or one that gets none. Of several rows of one organisation the
 * one with the greatest `rank` counts. Rows with a `period` all count, in order of its end.
 */
export type RowOutcome =
  | { kind: "draft"; draft: RegisterDraft; rank: string; period?: string; mapped?: MappedBy }
  | { kind: "record"; record: RecordDraft; rank?: string; period?: string }
  | { kind: "skip"; why: SkipReason }
  | { kind: "bad"; problem: string };

/** A position in a file: a line, or the name of a document; null: the whole file. */
export type Place = number | string | null;

export type RegisterRow = { line: Place; part: string; outcome: RowOutcome };

/** A row whose cells cannot be separated. `file`: of another table than the rows around it. */
export type UnreadableRow = { line: number; problem: string; file?: string };

/** A file of a register: its date, YYYY-MM-DD, and its rows, each with its part. */
export type RegisterFile = {
  name: string;
  day: string;
  rows: AsyncIterable<RegisterRow | UnreadableRow>;
};

/** A row that cannot be imported. */
export type BadRow = { file: string; line: Place; problem: string };

/**
 * An organisation that was read and checked and waits to be applied. `scope` is the part of its register, `as_of` the date
 * of its file, `payload` is JSON.
 */
export type StagedRow = { key: string; scope: string; as_of: string; payload: string };

/** Holds rows until all are read and checked: memory stays small, and the store unchanged. */
export type Staging = {
  /** Parts of the register that have rows, staged or not. */
  scopes: Set<string>;
  /**
   * Stages a row, unless one of greater rank (or, with `once`, any) is staged. Returns where an earlier one was read, or
   * null.
   */
  put: (
    row: StagedRow & { rank: string },
    options?: { readAt?: string; once?: boolean },
  ) => string | null;
  /** The next rows in order of key, without those that have no payload. */
  after: (key: string, limit: number) => StagedRow[];
  /** Whether one of these keys is staged. */
  has: (keys: readonly string[]) => boolean;
  /** How many rows have a payload, and how many bytes all rows take. */
  size: () => { count: number; bytes: number };
};

/** Where rows go when they are read. */
export type StageContext = {
  staging: Staging;
  report: ImportReport;
  clock: Clock;
  signal: AbortSignal;
  /** Count and leave out malformed rows; else the first one ends the import. */
  skipBad: boolean;
  /** Whether a row is known to change nothing, and how many were. */
  known: { has: (row: StagedRow) => boolean; unchanged: number; recorded: number };
  /** Called with each malformed row that is left out. */
  onSkipped: (row: BadRow) => void;
};

export type StageFailure =
  | ({ kind: "bad_row" } & BadRow)
  | { kind: "not_yet"; file: string; as_of: string }
  | { kind: "no_rows"; file: string }
  | { kind: "too_many_bad"; file: string; bad: number; rows: number };

/** An occasional pipe in a name spoils a row. More than ten such rows, and more than 1 %, mean another layout. */
const quarantineFrom = 10;
const quarantineShareMax = 0.01;

/**
 * Stages the rows of a register's files. Of several rows of an organisation the newest counts (or the later one, if rows
 * have no date); where only one is allowed, a second one is malformed.
 */
export async function stageRows(
  register: Register,
  files: Iterable<RegisterFile>,
  context: StageContext,
): Promise<Result<null, StageFailure>> {
  const { clock, signal } = context;
  // The file may come from a time zone in which it is already the next day.
  const tomorrow = new Date(clock().getTime() + dayMs).toISOString().slice(0, 10);
  let [firstBad, isAnyGood]: [BadRow | null, boolean] = [null, context.skipBad];
  for (const file of files) {
    const { name, day } = file;
    if (day > tomorrow) return fail({ kind: "not_yet", file: name, as_of: day });
    const staged = await stageFile(register, file, context);
    if (!staged.ok) return staged;
    if (signal.aborted) return ok(null);
    const { rows, bad, first } = staged.value;
    if (rows === 0) return fail({ kind: "no_rows", file: name });
    if (!context.skipBad && isTooBad(staged.value))
      return fail({ kind: "too_many_bad", file: name, bad, rows });
    firstBad ??= first;
    isAnyGood ||= rows > bad;
  }
  return firstBad === null || isAnyGood ? ok(null) : fail({ kind: "bad_row", ...firstBad });
}

/** The number of rows in a file, of skipped ones, and the first of these. */
type Read = { rows: number; bad: number; first: BadRow | null };

const isTooBad = ({ rows, bad }: Read): boolean =>
  bad > quarantineFrom && bad > rows * quarantineShareMax;

async function stageFile(
  { parts, quarantines }: Register,
  { name: file, day, rows }: RegisterFile,
  context: StageContext,
): Promise<Result<Read, StageFailure>> {
  const once = parts?.onceEach ?? false;
  const skipBad = context.skipBad || quarantines === true;
  const read: Read = { rows: 0, bad: 0, first: null };
  for await (const row of rows) {
    if ("outcome" in row && context.signal.aborted) return ok(read);
    read.rows += 1;
    const problem = stageRow(row, { file, day, once }, context);
    if (problem === null) continue;
    read.bad += 1;
    const place = { file, ...row };
    const bad = { file: place.file, line: row.line, problem };
    const skipped = skipOrRefuse(bad, { ...context, skipBad });
    if (!skipped.ok) return skipped;
    read.first ??= bad;
  }
  return ok(read);
}

/** Counts and skips a malformed row, unless it ends the import. */
export function skipOrRefuse(
  row: BadRow,
  { report, skipBad, onSkipped }: Pick<StageContext, "report" | "skipBad" | "onSkipped">,
): Result<null, StageFailure> {
  if (!skipBad) return fail({ kind: "bad_row", ...row });
  onSkipped(row);
  countSkip(report, "bad");
  return ok(null);
}

/** Stages one row or counts why not; returns what is wrong with it, or null. */
function stageRow(
  row: RegisterRow | UnreadableRow,
  { file, day, once }: { file: string; day: string; once: boolean },
  context: StageContext,
): string | null {
  const { staging, report } = context;
  if ("problem" in row) return row.problem;
  const { line, part: scope, outcome } = row;
  report.rows += 1;
  if (outcome.kind === "bad") return outcome.problem;
  staging.scopes.add(scope);
  if (outcome.kind === "skip") {
    countSkip(report, outcome.why);
    return null;
  }
  const as_of = report.as_of[scope] ?? "";
  if (day > as_of) report.as_of[scope] = day;
  const first = draftOf(outcome);
  const { draft, rank, period } = first;
  const key = period === undefined ? draft.org_id : `${draft.org_id} ${period}`;
  const staged = { key, rank, scope, as_of: day, payload: JSON.stringify(draft) };
  const isKnown = context.known.has(staged);
  if (isKnown) staged.payload = "";
  const earlier = staging.put(staged, { readAt: `line ${line} of ${file}`, once });
  if (earlier !== null && once) return `${draft.org_id} stands on ${earlier} already`;
  if (earlier === null) countFirst(first, isKnown, context);
  else countSkip(report, "duplicate");
  return null;
}

/** Counts the first row of an organisation. */
function countFirst(
  { draft, mapped }: DraftOutcome,
  isKnown: boolean,
  { report, known }: StageContext,
) {
  if (mapped !== undefined) report.causes_by[mapped] += 1;
  if (isKnown) known[draft.fields === null ? "recorded" : "unchanged"] += 1;
}

type DraftOutcome = Extract<RowOutcome, { kind: "draft" }>;

/** A record without a profile is staged as a draft without fields. */
function draftOf(outcome: DraftOutcome | Extract<RowOutcome, { kind: "record" }>): DraftOutcome {
  if (outcome.kind === "draft") return outcome;
  const { record, rank = "", period } = outcome;
  const draft = { org_id: record.org_id, fields: null, source_url: null, record };
  return { kind: "draft", draft, rank, ...(period === undefined ? {} : { period }) };
}
