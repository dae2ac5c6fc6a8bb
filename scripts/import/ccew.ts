import { basename } from "node:path";
import uk from "#content/editorial/uk-registers.json";
import { withPeriods } from "#content/register/merge.ts";
import { readableName } from "#content/register/names.ts";
import {
  cell,
  type CsvFormat,
  dateFault,
  type OpenContext,
  type OpenedFile,
  type Row,
} from "./format.ts";
import { BadInput, readCsv, readTabs } from "./read-file.ts";
import { openSideTables } from "./staging.ts";
import {
  type Beside,
  itemsOf,
  otherNamesOfCharity,
  periodsOf,
  ukNumber,
  ukRegister,
  valuesOf,
} from "./uk.ts";

/** The tables that belong to that of the charities. The register of mergers is published separately, as CSV. */
const { sides } = uk;
type Side = keyof typeof sides;
const sideNames = Object.keys(sides) as Side[];
const tableIn = /(?:^|[^a-z])(charity(?:_[a-z]+)*|register-of-mergers)\./;
/** Rows of the extract begin with the day on which it was made. */
const begins = /^\d{4}-\d\d-\d\d[^\t]*\t/;

const charities = ukRegister("ccew", besideOf);

/** The public extract of the Charity Commission for England and Wales: several tables, given together. */
export const ccew: CsvFormat = {
  ...charities,
  open: (files, context) => {
    const fileByTable = new Map(
      files.map((file) => [tableIn.exec(basename(file))?.[1] ?? file, file]),
    );
    const main = fileByTable.get("charity");
    if (main === undefined) {
      const problem = "the table of charities is missing (publicextract.charity.zip)";
      throw new BadInput(files.join(", "), null, problem);
    }
    const absent = sideNames.filter((side) => !fileByTable.has(side));
    if (absent.length > 0) context.onLeftOut(`no file has the tables ${absent.join(", ")}`);
    return [{ name: main, rows: joined(main, fileByTable, context) }];
  },
};

/** The charities, each with its rows of the other tables as JSON, which are kept in a temporary file. */
async function* joined(
  main: string,
  files: ReadonlyMap<string, string>,
  { dataDir, latest, onBytes }: OpenContext,
): OpenedFile["rows"] {
  const sideTables = openSideTables(dataDir);
  const keyOf = (row: Row, columns: readonly string[]) =>
    columns.map((column) => Number(cell(row, column))).join("/");
  try {
    for (const side of sideNames.filter((sideName) => files.has(sideName))) {
      const { key, columns } = sides[side];
      const file = files.get(side) ?? "";
      const all = [...key, ...columns];
      const dates = all.filter((column) => column.includes("date"));
      const read = side === "register-of-mergers" ? readCsv : readTabs;
      for await (const entry of read(file, { columns: [all], begins }, onBytes)) {
        const problem = "row" in entry ? dateFault(entry.row, dates, latest) : entry.problem;
        if (problem !== null) yield { file, line: entry.line, problem };
        else if ("row" in entry && isUsed(entry.row)) {
          const cells = columns.map((column) => cell(entry.row, column));
          sideTables.put(side, keyOf(entry.row, key), JSON.stringify(cells));
        }
      }
    }
    for await (const entry of readTabs(main, { columns: charities.columns, begins }, onBytes)) {
      if ("row" in entry)
        for (const side of sideNames)
          entry.row[side] = sideTables.rowsOf(side, keyOf(entry.row, sides[side].of));
      yield entry;
    }
  } finally {
    sideTables.close();
  }
}

/** Of events, only those that say where a charity went: one that took over thousands of others has as many events. */
const isUsed = ({ event_type: event = "Removed" }: Row): boolean =>
  event === "Removed" || event === "Asset transfer out";

/** The rows of another table about a charity. */
function rowsIn(row: Row, side: Side): Row[] {
  const rows = JSON.parse(cell(row, side) || "[]") as string[][];
  const { columns } = sides[side];
  return rows.map((cells) =>
    Object.fromEntries(columns.map((name, at) => [name, cells[at] ?? ""])),
  );
}

const columnIn = (row: Row, side: Side, column: string): string[] =>
  rowsIn(row, side).map((sideRow) => cell(sideRow, column));

/** The facts of the other tables, under keys that content/editorial/registers.json describes. */
function besideOf(row: Row): Beside {
  const purposes = columnIn(row, "charity_classification", "classification_code").toSorted();
  const of = (first: string) => purposes.filter((code) => code.startsWith(first)).join(";");
  const [objects = ""] = columnIn(row, "charity_governing_document", "charitable_objects");
  const names = rowsIn(row, "charity_other_names")
    // Present names come before former ones.
    .toSorted((a, b) => cell(b, "charity_name_type").localeCompare(cell(a, "charity_name_type")))
    .map((sideRow) => cell(sideRow, "charity_name"));
  return {
    texts: { objects, purposes: purposes.join(";") },
    facts: {
      purposes: of("1"),
      beneficiaries: of("2"),
      activities: of("3"),
      other_name: otherNamesOfCharity(names, cell(row, "charity_name")),
      areas: itemsOf(columnIn(row, "charity_area_of_operation", "geographic_area_description")),
      ...peopleIn(row, "charity_annual_return_partb", "employees"),
      ...peopleIn(row, "charity_annual_return_parta", "volunteers"),
      ...wentTo(row),
    },
    finances: yearsOf(row),
  };
}

/** The number of people in the latest return that has it. */
function peopleIn(row: Row, side: Side, who: "employees" | "volunteers") {
  const rules = { [who]: `amount count_${who}`, [`${who}_to`]: "day fin_period_end_date" };
  return rowsIn(row, side)
    .map((sideRow) => valuesOf(sideRow, rules))
    .filter((values) => values[who] !== null)
    .reduce((a, b) => (String(b[`${who}_to`]) > String(a[`${who}_to`] ?? "") ? b : a), {});
}

/** The money of each unsuppressed year, with the balance sheet of charities large enough to file one. */
function yearsOf(row: Row) {
  const sheets = rowsIn(row, "charity_annual_return_partb").map((sideRow) =>
    valuesOf(sideRow, uk.sheets),
  );
  const years = rowsIn(row, "charity_annual_return_history").map((sideRow) =>
    valuesOf(sideRow, uk.years),
  );
  const periods = years.flatMap((year) => {
    const sheet = sheets.find(({ period_end: ends }) => ends === year["period_end"]);
    if (sheet === undefined) return periodsOf(year);
    const of = (name: string) => Number(sheet[name] ?? 0);
    // The deficit of a pension scheme is listed apart from the other liabilities.
    const assets = of("fixed") + of("other");
    const liabilities = of("owed") - of("pension");
    return periodsOf({ ...year, assets, liabilities, net_assets: of("net_assets") });
  });
  return withPeriods([], periods);
}

const mergerReason = /^(?:Amalgamated|Funds transferred|Transfer of funds)/;

/** Where a charity went, by the register of mergers, or by the transfers of its assets when it was removed. */
function wentTo(row: Row) {
  const [merger] = rowsIn(row, "register-of-mergers");
  if (merger !== undefined) {
    const into = ukNumber("GB-CHC", merger, ["transferee_regno", "transferee_subno"]);
    const merged_into = "org_id" in into ? into.org_id : null;
    return { merged_into, merged_into_name: readableName(cell(merger, "transferee_name")) };
  }
  const events = rowsIn(row, "charity_event_history");
  const out = events.filter((event) => cell(event, "event_type") === "Asset transfer out");
  const [to = "", ...otherNumbers] = new Set(
    out.map((sideRow) => cell(sideRow, "assoc_registered_charity_number")),
  );
  const isOver = cell(row, "charity_registration_status") === "Removed";
  const isOwn = ["", cell(row, "registered_charity_number")].includes(to);
  if (!isOver || isOwn || otherNumbers.length > 0) return {};
  const name = readableName(cell(out[0] ?? {}, "assoc_charity_name"));
  const isMerger = events.some((event) => mergerReason.test(cell(event, "reason")));
  return isMerger ? { merged_into: `GB-CHC-${to}`, merged_into_name: name } : { assets_to: name };
}
