import { isDeepStrictEqual } from "node:util";
import { type NonprofitField, type NonprofitRecord, sourceFrom } from "./record.ts";
import { withRegisterRecord } from "./register-facts.ts";

// What operators make of a profile. Each answers the record as it shall be.

type Emptied<Value> = Value extends readonly unknown[] ? never[] : null;
const isEmpty = (value: unknown): value is Emptied<unknown> =>
  value === null || value === "" || (Array.isArray(value) && value.length === 0);

/** Withdrawn by an operator: the register has no say from now on. See content/register/merge.ts. */
export const withdrawnBy = (before: NonprofitRecord, at: Date): NonprofitRecord => ({
  ...before,
  status: "withdrawn",
  provenance: { ...before.provenance, status: sourceFrom("operator", at.getTime()) },
});

/**
 * Listed again. Who undoes an operator's withdrawal gives the register its say back; who restores what a register withdrew
 * takes it away, or its next import would withdraw it again.
 */
export function restored(before: NonprofitRecord, at: Date): NonprofitRecord {
  const { status, ...others } = before.provenance;
  const byOperator = status?.set_by === "operator";
  const kept = byOperator ? others : { ...others, status: sourceFrom("operator", at.getTime()) };
  return {
    ...before,
    status: before.verified === 1 ? "claimed" : "listed",
    merged_into: null,
    provenance: kept,
  };
}

/** A profile with these values, each by the word of an operator; an empty one leaves no provenance. */
export function edited(
  before: NonprofitRecord,
  values: Partial<NonprofitRecord>,
  at: Date,
): { after: NonprofitRecord; fields: string[] } {
  const after: NonprofitRecord = {
    ...before,
    ...values,
    provenance: { ...before.provenance },
  };
  const fields = Object.keys(values).filter(
    (field) => !isDeepStrictEqual(before[field as NonprofitField], after[field as NonprofitField]),
  );
  for (const field of fields) {
    if (isEmpty(after[field as NonprofitField])) delete after.provenance[field];
    else after.provenance[field] = sourceFrom("operator", at.getTime());
  }
  return { after, fields };
}

/**
 * Fields that a merge fills where they are empty. Not among them: wallet and contact address, which belong to whom the
 * organisation gave them, and what tells the two profiles apart.
 */
const filled = [
  "tagline",
  "mission",
  "description",
  "country_code",
  "region",
  "city",
  "website",
  "donation_url",
  "logo_url",
  "beneficiaries_per_year",
  "founded_year",
  "annual_budget_usd",
  "team_size",
] as const satisfies NonprofitField[];

const named = <Row>(rows: readonly Row[], more: readonly Row[], nameOf: (row: Row) => string) => {
  const known = new Set(rows.map((row) => nameOf(row).trim().toLowerCase()));
  return [...rows, ...more.filter((row) => !known.has(nameOf(row).trim().toLowerCase()))];
};

/**
 * `into` with what it lacks and `gone` has, and `gone` withdrawn in its favour. Registrations move, so that imports
 * recognise the organisation where it stays; provenance comes along with each value.
 */
export function merged(
  gone: NonprofitRecord,
  into: NonprofitRecord,
  at: Date,
): { gone: NonprofitRecord; into: NonprofitRecord; fields: string[] } {
  const after: NonprofitRecord = { ...into, provenance: { ...into.provenance } };
  for (const field of filled) {
    if (isEmpty(into[field]) && !isEmpty(gone[field]))
      Object.assign(after, { [field]: gone[field] });
  }
  after.causes = [...new Set([...into.causes, ...gone.causes])];
  after.programs = named(into.programs, gone.programs, ({ name }) => name);
  after.impact_metrics = named(into.impact_metrics, gone.impact_metrics, ({ name }) => name);
  after.registrations = named(
    into.registrations,
    gone.registrations,
    ({ country_code, type, registration_number }) =>
      `${country_code} ${type} ${registration_number}`,
  );
  for (const record of gone.register_records) {
    after.register_records = withRegisterRecord(after.register_records, record);
  }
  if (into.register === null) {
    after.register = gone.register;
    after.register_scope = gone.register_scope;
  }
  const changing = [...filled, "causes", "programs", "impact_metrics", "registrations"] as const;
  const fields = changing.filter((field) => !isDeepStrictEqual(after[field], into[field]));
  for (const field of fields) {
    const source = gone.provenance[field];
    if (into.provenance[field] === undefined && source !== undefined) {
      after.provenance[field] = source;
    }
  }
  const { registrations: _, ...provenance } = gone.provenance;
  const none = { registrations: [], register_records: [], register: null, register_scope: null };
  const left = { ...gone, provenance, ...none };
  return { gone: { ...withdrawnBy(left, at), merged_into: into.slug }, into: after, fields };
}
