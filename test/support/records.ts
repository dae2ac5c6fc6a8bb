import { micro } from "#content/contract/base/money.ts";
import type { NewDonation } from "#content/giving/store.ts";
import type { Change } from "#content/nonprofit/changes-store.ts";
import {
  type NonprofitRecord,
  type RegisterRecord,
  type StoredRegistration,
  emptyRecord,
} from "#content/nonprofit/record.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import type { Store } from "#content/store/open.ts";

let made = 0;

/** A nonprofit as it could be stored; a test names only what matters to it. Slug and name are new each time. */
export function aNonprofit(parts: Partial<NonprofitRecord> = {}): NonprofitRecord {
  made += 1;
  const name = parts.name ?? `Sample Trust ${made}`;
  return {
    ...emptyRecord,
    slug: `sample-trust-${made}`,
    name,
    country_code: "KE",
    causes: ["education"],
    ...parts,
  };
}

/** A row of a register as it could be stored: by default of the IRS Business Master File. */
export const aRegisterRecord = (parts: Partial<RegisterRecord> = {}): RegisterRecord => ({
  org_id: "US-EIN-000000101",
  register: "irs-bmf",
  name: "Sample Trust",
  as_of: "2026-04-14",
  scope: "NV",
  finances: [],
  state: "registered",
  facts: {},
  ...parts,
});

/** A number that the IRS gave, as it is written, with or without its hyphen. */
export const anEin = (registration_number: string): StoredRegistration => ({
  country_code: "US",
  type: "EIN",
  registration_number,
  org_id: `US-EIN-${registration_number.replace("-", "")}`,
});

/** A gift of 2.5 USDC to the first nonprofit, final on 1 June 2026; each is a transfer of its own. */
export const aDonation = (parts: Partial<NewDonation> = {}): NewDonation => ({
  nonprofit_id: 1,
  amount_micro_usdc: micro(2_500_000n),
  network: "solana:x",
  tx_signature: `sig-${++made}`,
  slot: 1,
  commitment: "finalized",
  source: null,
  recipient: "r",
  destination: "d",
  mint: "m",
  donor: null,
  memo: null,
  settled_at: Date.UTC(2026, 5, 1, 12),
  recorded_at: Date.UTC(2026, 5, 1, 12),
  ...parts,
});

/** What a register says of a nonprofit's income: a row for each, of a number that no other has. */
export const earning = (...incomes: number[]) =>
  withMoney(...incomes.map((income) => ({ income })));

/** A register's record for each of these facts. */
export const withMoney = (
  ...money: { income?: number; revenue?: number }[]
): Pick<NonprofitRecord, "register_records"> => ({
  register_records: money.map((facts) => aRegisterRecord({ org_id: `US-EIN-${++made}`, facts })),
});

/** Saves these nonprofits as new, together. */
export const saveNew = (store: Store, ...records: NonprofitRecord[]): Promise<NonprofitRecord[]> =>
  store.write((tx) =>
    saveNonprofits(
      tx,
      records.map((after) => ({ before: null, after })),
      { origin: "test", now: new Date("2026-06-01T12:00:00Z") },
    ),
  );

/** A change of the profile "a", as the publisher reads it. */
export const aChange = (parts: Partial<Change> = {}): Change => ({
  sequence: 1,
  kind: "changed",
  nonprofit_id: 1,
  slug: "a",
  fields: ["name"],
  moved_lists: [],
  origin: "test",
  changed_at: 0,
  was: null,
  ...parts,
});
