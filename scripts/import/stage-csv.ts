import type { CauseMapping } from "#content/register/cause-mapping.ts";
import { BadInput } from "./bad-input.ts";
import type { CsvFormat } from "./format.ts";
import { type ReadOptions, readCsv, scopeOf } from "./read-file.ts";
import { countSkip, type ImportReport } from "./report.ts";
import type { Staging } from "./staging.ts";

/** No register has a longer cell; one that does has lost a quote somewhere. */
const cellLengthMax = 50_000;

/**
 * Reads and checks the files of a register into the staging file. Of several rows of one organisation the newest counts
 * (the later one, where rows bear no date). Throws BadInput for a file without any row: it would withdraw all it covers.
 */
export async function stageCsv(
  format: CsvFormat,
  files: readonly string[],
  {
    staging,
    report,
    mapping,
    options,
    signal,
  }: {
    staging: Staging;
    report: ImportReport;
    mapping: CauseMapping;
    options: ReadOptions;
    signal: AbortSignal;
  },
): Promise<void> {
  for (const file of files) {
    const scope = scopeOf(file);
    const rowsBefore = report.rows;
    for await (const { row, line } of readCsv(file, format.columns, options)) {
      if (signal.aborted) return;
      report.rows += 1;
      const long = Object.entries(row).find(([, cell]) => cell.length > cellLengthMax);
      const outcome: ReturnType<typeof format.read> =
        long === undefined
          ? format.read(row, mapping)
          : { kind: "bad", problem: `${long[0]} has more than ${cellLengthMax} characters` };
      if (outcome.kind === "bad") options.onBad(new BadInput(file, line, outcome.problem));
      if (outcome.kind === "skip") countSkip(report, outcome.why);
      if (outcome.kind !== "draft") continue;
      const { draft, rank, mapped } = outcome;
      const isNew = staging.put({ key: draft.org_id, rank, scope, payload: JSON.stringify(draft) });
      if (!isNew) countSkip(report, "duplicate");
      if (isNew && mapped !== undefined) report.causes_by[mapped] += 1;
    }
    if (report.rows === rowsBefore)
      throw new BadInput(file, null, "there is no row under the header");
  }
}
