import type { FinancialPeriod } from "#content/contract/nonprofit.ts";
import type { RegisterRecord } from "./record.ts";
import { factNamed, registerById } from "./register-facts.ts";

/** A profile has this many periods, the newest ones. */
const periodsMax = 20;

type Money = Pick<RegisterRecord, "register" | "facts" | "finances">;

/**
 * The money of a nonprofit by period, newest first, at most 20 periods. Of several sources of one period a return counts
 * before a column of the next year's, and that before what a register took over, which of a period may know its month alone.
 */
export function financesOf(records: readonly Money[]): FinancialPeriod[] {
  const filed = records
    .flatMap(({ register, finances }) =>
      finances.map(({ filed_at: _at, ...period }) => ({ ...period, source: register })),
    )
    .toSorted((a, b) => Number(a.prior_year ?? false) - Number(b.prior_year ?? false));
  const months = new Set(filed.map(monthOf));
  const stated = records.flatMap(statedIn).filter((one) => !months.has(monthOf(one)));
  const byPeriod = new Map<string, FinancialPeriod>();
  for (const one of [...filed, ...stated]) {
    byPeriod.getOrInsert(`${one.period_end} ${one.currency}`, one);
  }
  return [...byPeriod.values()]
    .toSorted((a, b) => b.period_end.localeCompare(a.period_end))
    .slice(0, periodsMax);
}

const monthOf = ({ period_end, currency }: FinancialPeriod): string =>
  `${period_end.slice(0, 7)} ${currency}`;

/** What a register itself says of the latest period, by the rules of its table. */
function statedIn(record: Money): FinancialPeriod[] {
  const { register, facts } = record;
  const statements = (registerById(register)?.fields ?? []).flatMap(
    ({ name, money, period = "" }) => {
      const fact = money === undefined ? null : factNamed(name, record);
      const end = facts[period];
      if (fact === null || money === undefined || end === undefined) return [];
      const form = fact.form?.replace("Form ", "") ?? money.form;
      const period_end = lastDayOf(String(end));
      return { [money.as]: fact.value, period_end, form, currency: fact.currency ?? "" };
    },
  );
  return statements.length === 0
    ? []
    : [Object.assign({ ...unsaid }, ...statements, { source: register })];
}

const unsaid = {
  ...{ period_start: null, revenue: null, expenses: null, assets: null, liabilities: null },
  ...{ net_assets: null, amended: false, filing_url: null },
};

/** "2024-12-31" of "2024-12"; a day stands for itself. */
function lastDayOf(end: string): string {
  const [year = 0, month = 0, day] = end.split("-").map(Number);
  return day === undefined ? new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10) : end;
}
