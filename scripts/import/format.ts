import type { CauseMapping, MappedBy } from "#content/register/cause-mapping.ts";
import type { RegisterDraft } from "#content/register/merge.ts";

/** Why a row was left out. */
export type SkipReason = "not_eligible" | "withheld" | "duplicate" | "not_joined" | "bad";

/** What a row of a file says. `rank` decides between rows of one organisation: the greater one counts. */
export type RowOutcome =
  | { kind: "draft"; draft: RegisterDraft; rank: string; mapped?: MappedBy }
  | { kind: "skip"; why: SkipReason }
  | { kind: "bad"; problem: string };

/** One CSV format of a register. */
export type CsvFormat = {
  name: string;
  /** One line for `--help`. */
  about: string;
  /** True when the register lists organisations; false when it only adds to known ones. */
  lists: boolean;
  /** The columns that are read; a file without one of them is refused. Alternatives: the first whose columns are there. */
  columns: readonly (readonly string[])[];
  read(row: Row, mapping: CauseMapping): RowOutcome;
};

/** The text under each column of the format, "" when the row is short of it. */
export type Row = Readonly<Record<string, string>>;

/** The text under a column, without white space around it. */
export const cell = (row: Row, column: string): string => (row[column] ?? "").trim();

export const bad = (problem: string): RowOutcome => ({ kind: "bad", problem });
export const skip = (why: SkipReason): RowOutcome => ({ kind: "skip", why });
