import type { StoredPeriod } from "#content/contract/nonprofit.ts";
import type { NonprofitRecord, RegisterRecord } from "#content/nonprofit/record.ts";
import { aNonprofit, anEin } from "./records.ts";

const org_id = "US-EIN-530196605";

/** A period of a Form 990 without figures, but for those that are given. */
export const filed = (period_end: string, more: Partial<StoredPeriod> = {}): StoredPeriod => ({
  period_start: null,
  period_end,
  form: "990",
  currency: "USD",
  revenue: null,
  expenses: null,
  assets: null,
  liabilities: null,
  net_assets: null,
  amended: false,
  filed_at: `${period_end.slice(0, 4)}-12-31T00:00:00.000Z`,
  filing_url: null,
  ...more,
});

const filing = (
  period_end: string,
  [revenue, expenses, assets, liabilities, net_assets]: readonly (number | null)[],
  filing_url: string | null,
  more: Partial<StoredPeriod> = {},
): StoredPeriod => {
  const period_start = `${Number(period_end.slice(0, 4)) - 1}-07-01`;
  const figures = { revenue, expenses, assets, liabilities, net_assets } as Partial<StoredPeriod>;
  return filed(period_end, { period_start, filing_url, ...figures, ...more });
};

const page = (id: string) => `https://apps.irs.gov/pub/epostcard/990/xml/${id}_public.xml`;
const [of2022, of2023] = [page("202300629349300520"), page("202420679349300232")];
const prior_year = { prior_year: true } as const;

/** What the American Red Cross filed for three years, read from its returns, and their columns for the years before. */
const periods: readonly StoredPeriod[] = [
  filing(
    "2023-06-30",
    [3_217_077_611, 2_971_106_889, 4_028_321_133, 1_008_326_202, 3_019_994_931],
    of2023,
  ),
  filing(
    "2022-06-30",
    [3_182_229_338, 3_048_182_336, 3_872_181_875, 1_171_891_777, 2_700_290_098],
    of2022,
  ),
  filing(
    "2021-06-30",
    [3_090_183_560, 2_796_025_309, 3_668_499_985, 1_300_112_674, 2_368_387_311],
    of2022,
    prior_year,
  ),
  filing(
    "2015-06-30",
    [2_726_672_619, 2_886_003_368, 3_486_142_571, 1_892_332_242, 1_593_810_329],
    null,
  ),
];

const record = { org_id, name: "American National Red Cross", as_of: "2026-04-14", scope: "" };
const redCrossRecords: RegisterRecord[] = [
  {
    ...record,
    register: "irs-990-xml",
    state: "filed",
    facts: { form: "990", employees: 17_420, volunteers: 265_000, period_end: "2023-06-30" },
    finances: [...periods],
  },
  {
    ...record,
    register: "irs-bmf",
    scope: "DC",
    state: "registered",
    facts: { filing: "01", tax_period: "2025-06", revenue: 3_916_983_933, assets: 5_052_941_623 },
    finances: [],
  },
];

/** The American Red Cross with its returns and a row of the Business Master File. */
export const redCross = (parts: Partial<NonprofitRecord> = {}): NonprofitRecord =>
  aNonprofit({
    slug: "red-cross",
    name: "American National Red Cross",
    country_code: "US",
    registrations: [anEin("53-0196605")],
    register_records: redCrossRecords,
    ...parts,
  });
