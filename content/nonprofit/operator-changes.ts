import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { fieldsWhere } from "#content/contract/fields.ts";
import type { LinkSource } from "#content/contract/nonprofit.ts";
import {
  type NonprofitField,
  NonprofitRecord,
  type RegisterRecord,
  sourceFrom,
  type StoredRegistration,
} from "./record.ts";
import { withRegisterRecord } from "./register-facts.ts";
import { operatorProvenance, type SourcedValue } from "./provenance.ts";

// Changes that operators, and links between registrations, make to a profile. Each function returns the changed record.

const isEmpty = (value: unknown): value is null =>
  value === null || value === "" || (Array.isArray(value) && value.length === 0);

/** A profile withdrawn by an operator; registers no longer change its status (content/register/merge.ts). */
export const withdrawnBy = (before: NonprofitRecord, at: Date): NonprofitRecord => ({
  ...before,
  status: "withdrawn",
  provenance: { ...before.provenance, status: sourceFrom("operator", at.getTime()) },
});

/**
 * A profile listed again. Undoing an operator's withdrawal lets registers set the status again; restoring what a register
 * withdrew makes the status the operator's, or the next import would withdraw it again.
 */
export function restored(before: NonprofitRecord, at: Date): NonprofitRecord {
  const { status, ...others } = before.provenance;
  const byOperator = status?.set_by === "operator";
  const provenance = byOperator
    ? others
    : { ...others, status: sourceFrom("operator", at.getTime()) };
  return {
    ...before,
    status: before.verified === 1 ? "claimed" : "listed",
    merged_into: null,
    provenance,
  };
}

/**
 * A profile with these values, each with the operator's provenance (see `operatorProvenance`); an empty value has no provenance.
 * `suggested` are values that someone else proposed, with the provenance to use if the operator takes them.
 */
export function edited(
  before: NonprofitRecord,
  values: Partial<NonprofitRecord>,
  at: Date,
  suggested: readonly SourcedValue[] = [],
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
    const was = before[field as NonprofitField];
    const value = after[field as NonprofitField];
    const live = { value: was, source: before.provenance[field] };
    if (isEmpty(value)) delete after.provenance[field];
    else
      after.provenance[field] = operatorProvenance(
        field,
        value,
        [live, ...suggested],
        at.getTime(),
      );
  }
  return { after, fields };
}

/**
 * Fields that a merge fills if they are empty. Wallet and contact address are not among them, because the organisation gave
 * them to one profile, nor is what distinguishes the two profiles.
 */
const filled = fieldsWhere("merged").map((name) => (name === "country" ? "country_code" : name));

const named = <Row>(rows: readonly Row[], more: readonly Row[], nameOf: (row: Row) => string) => {
  const names = new Set(rows.map((row) => nameOf(row).trim().toLowerCase()));
  return [...rows, ...more.filter((row) => !names.has(nameOf(row).trim().toLowerCase()))];
};

/** The fields of a place. */
const places: ReadonlySet<string> = new Set(["country_code", "region", "city"]);

/** What a merge moved: undoing it returns this to the withdrawn profile and takes it from the other. */
export const GivenByMerge = NonprofitRecord.pick({
  register: true,
  register_scope: true,
  registrations: true,
}).extend({
  provenance: NonprofitRecord.shape.provenance.valueType.nullable(),
  /** Fields of the remaining profile: their values before and after the merge. */
  values: z.record(z.string(), z.object({ before: z.unknown(), after: z.unknown() })),
});
export type GivenByMerge = z.infer<typeof GivenByMerge>;

type Merging = {
  at: Date;
  /** The source that links the registrations to one organisation; default: an operator. */
  source?: LinkSource;
};

/**
 * Merges `gone` into `into`: `into` gets what it lacks, and `gone` is withdrawn in its favour. Registrations move, so that
 * imports recognise the organisation in `into`; provenance moves with each value. A place from one register never moves to a
 * profile of another.
 */
export function merged(
  gone: NonprofitRecord,
  into: NonprofitRecord,
  { at, source = "operator" }: Merging,
): { gone: NonprofitRecord; into: NonprofitRecord; fields: string[]; given: GivenByMerge } {
  const after = filledFrom(gone, into, source);
  const changing = [...filled, "causes", "programs", "impact_metrics", "registrations"] as const;
  const fields = changing.filter((field) => !isDeepStrictEqual(after[field], into[field]));
  for (const field of fields) {
    const origin = gone.provenance[field];
    const isOwn = field === "registrations" && into.registrations.length > 0;
    if (into.provenance[field] === undefined && origin !== undefined && !isOwn) {
      after.provenance[field] = origin;
    }
  }
  const { registrations: origin = null, ...provenance } = gone.provenance;
  const none = { registrations: [], register_records: [], register: null, register_scope: null };
  const left = { ...gone, provenance, ...none };
  const { registrations, register, register_scope } = gone;
  const fromRegister = { registrations, register, register_scope, provenance: origin };
  const held = ["register", "register_scope", ...fields] as const;
  const values = Object.fromEntries(
    held
      .filter((field) => field !== "registrations" && after[field] !== into[field])
      .map((field) => [field, { before: into[field], after: after[field] }]),
  );
  const withdrawn =
    source === "operator" ? withdrawnBy(left, at) : { ...left, status: "withdrawn" as const };
  return {
    gone: { ...withdrawn, merged_into: into.slug },
    into: after,
    fields,
    given: { ...fromRegister, values },
  };
}

/** Whether the place, or its absence, comes from a register: Scotland's register says Scotland for a London charity. */
const hasPlaceOfRegister = ({ registrations }: NonprofitRecord): boolean =>
  registrations.some(({ org_id }) => org_id !== null);

/** `into` with everything that a merge adds except provenance. */
function filledFrom(
  gone: NonprofitRecord,
  into: NonprofitRecord,
  source: LinkSource,
): NonprofitRecord {
  const after: NonprofitRecord = { ...into, provenance: { ...into.provenance } };
  for (const field of filled) {
    const isMeant = !places.has(field) || !hasPlaceOfRegister(into) || !hasPlaceOfRegister(gone);
    if (isMeant && isEmpty(into[field]) && !isEmpty(gone[field]))
      Object.assign(after, { [field]: gone[field] });
  }
  // If the next import would undo an addition, only fill empty lists.
  const isAdded = (list: readonly unknown[]) => source === "operator" || list.length === 0;
  if (isAdded(into.causes)) after.causes = [...new Set([...into.causes, ...gone.causes])];
  if (isAdded(into.programs)) {
    after.programs = named(into.programs, gone.programs, ({ name }) => name);
  }
  if (isAdded(into.impact_metrics)) {
    after.impact_metrics = named(into.impact_metrics, gone.impact_metrics, ({ name }) => name);
  }
  after.registrations = named(
    into.registrations,
    gone.registrations.map((registration) => ({ linked_by: source, ...registration })),
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
  return after;
}

/**
 * Undoes a merge. `gone` is listed again, unless its register has removed it since, with those of its registrations that
 * `into` still has. `into` loses them and the values it got from `gone` that have not changed since.
 */
export function unmerged(
  gone: NonprofitRecord,
  into: NonprofitRecord,
  { register, register_scope, provenance: origin, values, ...rest }: GivenByMerge,
): { gone: NonprofitRecord; into: NonprofitRecord; fields: string[] } {
  const registrations = rest.registrations.filter((registration) =>
    into.registrations.some(isSame(registration)),
  );
  const { status: _, ...others } = gone.provenance;
  const isGivenRecord = ({ org_id }: RegisterRecord) =>
    registrations.some((registration) => registration.org_id === org_id);
  const back: NonprofitRecord = {
    ...gone,
    registrations,
    register_records: into.register_records.filter(isGivenRecord),
    register,
    register_scope,
    merged_into: null,
    provenance: origin === null ? others : { ...others, registrations: origin },
  };
  if (!isOver(back)) back.status = gone.verified === 1 ? "claimed" : "listed";
  const after: NonprofitRecord = {
    ...into,
    registrations: into.registrations.filter(
      (registration) => !registrations.some(isSame(registration)),
    ),
    register_records: into.register_records.filter((record) => !isGivenRecord(record)),
    provenance: { ...into.provenance },
  };
  for (const [field, { before, after: got }] of Object.entries(values)) {
    if (!isDeepStrictEqual(into[field as NonprofitField], got)) continue;
    Object.assign(after, { [field]: before });
    if (isEmpty(before)) delete after.provenance[field];
  }
  if (after.registrations.length === 0) delete after.provenance["registrations"];
  const fields = ["registrations", ...Object.keys(values)].filter(
    (field) => after[field as NonprofitField] !== into[field as NonprofitField],
  );
  return { gone: back, into: after, fields };
}

/** Whether its own register no longer has it; if that register has no record, other registers decide. */
function isOver({ register, register_records }: NonprofitRecord): boolean {
  const ofRegister = register_records.filter((record) => record.register === register);
  const candidates =
    ofRegister.length > 0 ? ofRegister : register_records.filter(({ state }) => state !== "filed");
  const inForce = candidates.some(({ state }) => state === "registered" || state === "reinstated");
  return register !== null && candidates.length > 0 && !inForce;
}

const isSame = (registration: StoredRegistration) => (other: StoredRegistration) =>
  registration.org_id === other.org_id &&
  registration.registration_number === other.registration_number;

/** Why a profile cannot be merged into another; null when it can. */
export function whyNotMerged(before: NonprofitRecord, into: NonprofitRecord): string | null {
  if (into.id === before.id) return "A profile cannot be merged into itself.";
  if (into.status === "withdrawn") {
    return `${into.slug} is withdrawn. Restore it, or merge into another profile.`;
  }
  if (before.merged_into !== null) {
    return `This profile was merged into ${before.merged_into} before.`;
  }
  return before.verified === 1 || before.usdc_wallet !== null
    ? "This profile belongs to its organisation, with a wallet or a verification that cannot move. Merge the other one into it, or revoke its verification first."
    : null;
}
