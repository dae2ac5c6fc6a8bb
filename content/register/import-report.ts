/** What an import did; `--json` prints it. */
export type ImportReport = ReturnType<typeof emptyReport>;

export const emptyReport = (format: string, files: string[]) => ({
  format,
  files,
  /** Files and folders that were imported before, as they are, by this version: they were not read again. */
  known: 0,
  /** What was fetched of the register: addresses, and whether the version there was imported before. */
  fetched: [] as { url: string; bytes: number; unchanged: boolean }[],
  /** The parts of the register that the run covers; empty when it withdraws nothing. */
  covers: [] as { part: string; listed: number; to_withdraw: number }[],
  /** The date of what each part of a register says, YYYY-MM-DD. */
  as_of: {} as Record<string, string>,
  rows: 0,
  added: 0,
  /** With those that are restored. */
  changed: 0,
  unchanged: 0,
  withdrawn: 0,
  restored: 0,
  /** Organisations that get no profile: only what the register says is kept. */
  recorded: 0,
  /** Profiles withdrawn in favour of another of the same organisation, in another register. */
  linked: 0,
  /** Those that an operator has to decide. */
  links_waiting: 0,
  skipped: 0,
  skipped_because: { withheld: 0, duplicate: 0, not_joined: 0, other_form: 0, bad: 0 },
  /** By what organisations came by their causes; only formats that list organisations map any. */
  causes_by: { code: 0, activity: 0, name: 0, none: 0 },
  seconds: 0,
});

/** Why a row was left out. */
export type SkipReason = keyof ImportReport["skipped_because"];

/** Counts a row that was left out. */
export function countSkip(report: ImportReport, why: SkipReason): void {
  report.skipped += 1;
  report.skipped_because[why] += 1;
}
