import { isDeepStrictEqual } from "node:util";
import {
  emptyRecord,
  type NonprofitField,
  type NonprofitFields,
  type NonprofitRecord,
  type RegisterRecord,
  sourceFrom,
  type StoredProvenance,
  type Waiting,
  waitingKey,
} from "#content/nonprofit/record.ts";
import type { StoredPeriod } from "#content/contract/nonprofit.ts";
import {
  isFiling,
  isReplacedBy,
  listedAfter,
  withRegisterRecord,
} from "#content/nonprofit/register-facts.ts";
import { confirmedAt, type ScopesRead } from "./standing.ts";

/**
 * Raise this when rows would be merged differently from before: rows that were read already are then looked at again.
 */
export const mergeRules = 1;

/**
 * A nonprofit after a register's row. A register sets and clears only fields that it provides, and of these only empty ones
 * and those it set itself: what agents agreed on, an operator, the organisation or another register set stays. If a
 * nonprofit has several registrations, each row changes only what it set, and a linked one sets no place. Returns `before`
 * itself when nothing changes. A withdrawn nonprofit that the register lists again is restored, unless an operator withdrew
 * it.
 */
export function mergedWithRegister(
  before: NonprofitRecord,
  draft: RegisterDraft,
  terms: RegisterTerms,
  nowMs: number,
): NonprofitRecord {
  if (draft.fields === null) return unlisted(before, draft, terms);
  const values = renewed(before, draft.org_id, draft.fields);
  const sourceOf = sourcesOf(draft, terms.register, nowMs);
  const fields = (Object.keys(values) as NonprofitField[]).filter((field) =>
    isToBeSet(before, field, values[field], { org_id: draft.org_id, ...sourceOf(field) }),
  );
  const isOwnRecord = isMine(before, draft, terms);
  const hasMoved = isOwnRecord && isMoved(before, draft.org_id, terms);
  const isRestored = isOwnRecord && before.status === "withdrawn" && !statusIsHeld(before);
  const base = withRecord(before, draft, terms);
  if (fields.length === 0 && !hasMoved && !isRestored) return base;
  const after: NonprofitRecord = { ...base, provenance: { ...before.provenance } };
  for (const field of fields) {
    Object.assign(after, { [field]: values[field] });
    if (isEmptyValue(values[field])) delete after.provenance[field];
    else after.provenance[field] = sourceOf(field);
  }
  if (hasMoved) Object.assign(after, placeOf(terms));
  if (isRestored) after.status = listedStatus(before);
  return after;
}

/** The source of each field; one object for all that the row says itself. A filing's values date from its own year. */
function sourcesOf(
  { source_url, filed_for, rules = {} }: RegisterDraft,
  source: string,
  nowMs: number,
) {
  const at = filed_for === undefined ? nowMs : Math.min(nowMs, Date.parse(filed_for));
  const registerSource = sourceFrom("register", at, { source, source_url });
  return (field: NonprofitField): StoredProvenance => {
    const rule = rules[field];
    return rule === undefined ? registerSource : { ...registerSource, rule };
  };
}

/** The register that lists a nonprofit, and the part of it. */
const placeOf = ({ register, scope }: RegisterTerms) => ({ register, register_scope: scope });

/** Whether this register is the one that lists the nonprofit; a whole register takes over from a selection of it. */
const isMine = (before: NonprofitRecord, { org_id }: RegisterDraft, terms: RegisterTerms) =>
  terms.lists &&
  (before.register === terms.register ||
    (isReplacedBy(before.register ?? "", terms.register) && !isLinked(before, org_id)));

const listedStatus = ({ verified }: NonprofitRecord) => (verified === 1 ? "claimed" : "listed");

/** A new nonprofit from a register's row; id 0 and slug "" until it is stored. */
export function newFromRegister(
  draft: RegisterDraft,
  terms: RegisterTerms,
  nowMs: number,
): NonprofitRecord {
  const empty = { ...emptyRecord, register: terms.register, register_scope: terms.scope };
  return mergedWithRegister(empty, draft, terms, nowMs);
}

/** A draft for an organisation in no row of the newest files; without an earlier record it says only that. */
export function goneDraft({
  org_id,
  ...row
}: Pick<RegisterRecord, "org_id"> & Partial<RegisterRecord>): RegisterDraft {
  const { name, facts } = row;
  const isKnown = name !== undefined && facts !== undefined;
  const record = isKnown ? { org_id, name, facts, state: "gone" as const } : null;
  return { org_id, fields: null, source_url: null, record };
}

/**
 * Whether one of several registrations is still valid: by this register's word, else by all registers that mention it.
 */
function isInForce({ registrations, register_records }: NonprofitRecord, register: string) {
  const listing = register_records.filter(({ state }) => state !== "filed");
  const has = ({ state }: RegisterRecord) => state === "registered" || state === "reinstated";
  const isOver = (org_id: string) => {
    const recordsOfNumber = listing.filter((record) => record.org_id === org_id);
    const ownRecords = recordsOfNumber.filter((record) => record.register === register);
    return (
      recordsOfNumber.length > 0 &&
      !(ownRecords.length > 0 ? ownRecords : recordsOfNumber).some(has)
    );
  };
  const orgIds = registrations.flatMap(({ org_id }) => org_id ?? []);
  return orgIds.length > 1 && !orgIds.every(isOver);
}

/** The nonprofit withdrawn, unless an operator keeps it or another of its registrations is in force. */
const withdrawn = (before: NonprofitRecord, register: string): NonprofitRecord =>
  before.status === "withdrawn" || statusIsHeld(before) || isInForce(before, register)
    ? before
    : { ...before, status: "withdrawn" };

/** An organisation that the register gives no profile: a profile that it gave before is withdrawn. */
function unlisted(
  before: NonprofitRecord,
  draft: RegisterDraft,
  terms: RegisterTerms,
): NonprofitRecord {
  const after = withRecord(before, draft, terms);
  if (!isMine(before, draft, terms)) return after;
  const placedRecord = before.register === terms.register ? after : { ...after, ...placeOf(terms) };
  return withdrawn(placedRecord, terms.register);
}

/** The nonprofit with this row's record; `before` itself when that is unchanged. */
function withRecord(
  before: NonprofitRecord,
  { org_id, record }: RegisterDraft,
  terms: RegisterTerms,
): NonprofitRecord {
  if (record === null) return before;
  const { register_records } = before;
  const { register } = terms;
  const earlier = register_records.find(
    (register_record) => register_record.org_id === org_id && register_record.register === register,
  );
  const after = recordAfter(earlier, recordOf(record, terms));
  const records =
    after === earlier ? register_records : withRegisterRecord(register_records, after);
  const datedRecords = confirmedAgain(records, after, terms);
  return datedRecords === register_records ? before : { ...before, register_records: datedRecords };
}

/**
 * The records, where a file from after the revocation of the organisation of `newRecord` lists it again: that is news, and the
 * row has its date, although it says the same as before. The same records where there is none such.
 */
function confirmedAgain(
  records: RegisterRecord[],
  newRecord: RegisterRecord,
  { as_of, scopes = new Map() }: RegisterTerms,
): RegisterRecord[] {
  const revocation = records.find(
    (record) => record.org_id === newRecord.org_id && record.state === "revoked",
  );
  if (revocation === undefined || listedAfter(revocation, records) !== null) return records;
  const dateOf = (record: RegisterRecord) =>
    record === newRecord ? as_of : confirmedAt(record, scopes);
  const again = listedAfter(revocation, records, dateOf);
  return again === null ? records : withRegisterRecord(records, { ...again, as_of: dateOf(again) });
}

/** The record made from a row. */
export const recordOf = (
  record: RecordDraft,
  { register, scope, as_of }: RegisterTerms,
): RegisterRecord => ({ register, scope, as_of, finances: [], ...record });

/**
 * The newest row with the date at which the register first said it, so that a file that repeats it changes nothing. Periods
 * of earlier rows stay; a row for an older period adds only its finances. Returns `before` itself when nothing changes.
 */
export function recordAfter(
  before: RegisterRecord | undefined,
  row: RegisterRecord,
): RegisterRecord {
  if (before === undefined) return row;
  const finances = withPeriods(before.finances, row.finances);
  const [ownEnd, newestEnd] = [row.finances, finances].map(
    (periods) => periods[0]?.period_end ?? "",
  );
  const isOlder = row.state === "filed" && ownEnd !== "" && ownEnd !== newestEnd;
  const { [waitingKey]: waitingFacts } = row.facts;
  const facts =
    waitingFacts === undefined ? before.facts : { ...before.facts, [waitingKey]: waitingFacts };
  const now = isOlder ? { ...before, facts, finances } : { ...row, finances };
  const { as_of } = before;
  if (isDeepStrictEqual(before, { ...now, as_of })) return before;
  const isSame = isDeepStrictEqual({ ...before, scope: now.scope }, { ...now, as_of });
  return isSame ? { ...now, as_of } : now;
}

/**
 * Adds periods, newest first, each once. A return for the year itself wins over a column of the next year's return; of
 * equals the later one wins.
 */
export function withPeriods(
  storedPeriods: readonly StoredPeriod[],
  more: readonly StoredPeriod[],
): StoredPeriod[] {
  const byEnd = new Map(storedPeriods.map((period) => [period.period_end, period]));
  for (const period of more) {
    const earlier = byEnd.get(period.period_end);
    if (earlier === undefined || rankOf(period) >= rankOf(earlier)) {
      byEnd.set(period.period_end, period);
    }
  }
  return [...byEnd.values()].toSorted((a, b) => (a.period_end < b.period_end ? 1 : -1));
}

const rankOf = ({ prior_year, filed_at }: StoredPeriod): string =>
  `${prior_year === true ? 0 : 1} ${filed_at ?? ""}`;

/** Whether these records have a later return for the same period, so that this one is ignored. */
export const isBeatenBy = (
  records: readonly RegisterRecord[],
  { org_id, record, filed_for }: RegisterDraft,
): boolean =>
  records
    .flatMap((registerRecord) =>
      registerRecord.org_id === org_id && registerRecord.state === "filed"
        ? registerRecord.finances
        : [],
    )
    .some(
      (period) =>
        period.period_end === filed_for &&
        rankOf(period) > `1 ${record?.finances?.[0]?.filed_at ?? ""}`,
    );

/**
 * The facts of a row of an organisation without a profile, with the values for its fields as JSON; content/nonprofit/save.ts
 * uses them once there is a profile. Of several values for a field the one for the latest year counts.
 */
export function factsWithWaiting(
  storedRecord: RegisterRecord | undefined,
  draft: RegisterDraft,
  { register }: RegisterTerms,
  nowMs: number,
): RegisterRecord["facts"] {
  const sourceOf = sourcesOf(draft, register, nowMs);
  const waitingByField: Waiting = JSON.parse(String(storedRecord?.facts[waitingKey] ?? "{}"));
  for (const [field, value] of Object.entries(draft.fields ?? {})) {
    const from = sourceOf(field as NonprofitField);
    const waitingValue = waitingByField[field];
    if (waitingValue === undefined || isNotBefore(waitingValue.from, from))
      waitingByField[field] = { value, from };
  }
  const isAny = Object.keys(waitingByField).length > 0;
  return {
    ...draft.record?.facts,
    ...(isAny ? { [waitingKey]: JSON.stringify(waitingByField) } : {}),
  };
}

/** An operator who withdraws or keeps a nonprofit sets its status; registers then no longer change it. */
const statusIsHeld = ({ provenance }: NonprofitRecord): boolean =>
  provenance["status"] !== undefined && provenance["status"].set_by !== "register";

function isToBeSet(
  before: NonprofitRecord,
  field: NonprofitField,
  value: unknown,
  { org_id, ...from }: StoredProvenance & { org_id: string },
): boolean {
  const origin = before.provenance[field];
  const current = before[field];
  if (placeFields.has(field) && isLinked(before, org_id)) return false;
  if (origin === undefined) return isEmptyValue(current) && !isEmptyValue(value);
  // A later form with the same value makes the value newer.
  const isLater = isFiling(from.source) && from.applied_at > origin.applied_at;
  if (current === value && !isLater) return false;
  const isNews = isLater || origin.rule !== from.rule || !isDeepStrictEqual(current, value);
  return (
    origin.set_by === "register" && isNews && mayReplace(before, field, value, { org_id, ...from })
  );
}

/** Whether a register's value may replace a different value from a register. */
function mayReplace(
  before: NonprofitRecord,
  field: NonprofitField,
  value: unknown,
  { org_id, ...from }: StoredProvenance & { org_id: string },
): boolean {
  const origin = before.provenance[field] ?? from;
  if (isFiling(origin.source) && isFiling(from.source)) {
    return !isEmptyValue(value) && isNotBefore(origin, from);
  }
  if (field !== "registrations" && !isOfRow(before, origin, org_id)) return false;
  const takesOver = isReplacedBy(origin.source, from.source) && !isEmptyValue(value);
  return origin.source === from.source || takesOver;
}

/**
 * Of several forms the one for the later year counts, in whatever order they are read; of one form and year, the last read.
 */
const isNotBefore = (origin: StoredProvenance, { source, applied_at }: StoredProvenance) =>
  applied_at > origin.applied_at || (applied_at === origin.applied_at && source === origin.source);

const placeFields: ReadonlySet<string> = new Set(["country_code", "region", "city"]);

/** Whether the register now lists it in another part; with several registrations, the first one's part counts. */
const isMoved = (before: NonprofitRecord, orgId: string, terms: RegisterTerms): boolean =>
  (before.register_scope !== terms.scope || before.register !== terms.register) &&
  !isLinked(before, orgId);

/** Whether a registration was added by a link. */
const isLinked = ({ registrations }: NonprofitRecord, orgId: string): boolean =>
  registrations.some(({ org_id, linked_by }) => org_id === orgId && linked_by !== undefined);

/** Whether this row set a value: a linked registration set those whose source has its number, the first one all others. */
function isOfRow(before: NonprofitRecord, { source_url }: StoredProvenance, orgId: string) {
  const linkedIds = before.registrations.flatMap(({ org_id, linked_by }) =>
    linked_by === undefined ? [] : (org_id ?? []),
  );
  const numberOf = (id: string) => id.split("-").slice(2).join("-");
  const row = linkedIds.find((id) => source_url?.includes(numberOf(id)) ?? false);
  return row === undefined ? !linkedIds.includes(orgId) : row === orgId;
}

function renewed(
  { registrations }: NonprofitRecord,
  orgId: string,
  fields: Partial<NonprofitFields>,
): Partial<NonprofitFields> {
  const [registrationOfRow] = fields.registrations ?? [];
  if (registrationOfRow === undefined || registrations.length < 2) return fields;
  const withOwn = registrations.map((registration) =>
    registration.org_id === orgId ? { ...registration, ...registrationOfRow } : registration,
  );
  return { ...fields, registrations: withOwn };
}

const isEmptyValue = (value: unknown): boolean =>
  value === null || value === "" || value === 0 || (Array.isArray(value) && value.length === 0);

/** A register's record of an organisation, in its own codes, without blank ones. */
export type RecordDraft = Pick<RegisterRecord, "org_id" | "name" | "state" | "facts"> &
  Partial<Pick<RegisterRecord, "finances">>;

/**
 * What one row of a register says about one organisation. Present fields are provided by the register (null or empty: there
 * is no value); absent ones are not. Without `fields` the organisation gets no profile.
 */
export type RegisterDraft = {
  /** The org-id by which it is recognised, for example US-EIN-530196605. */
  org_id: string;
  fields: Partial<NonprofitFields> | null;
  /** The rules that derived values from the row: "NTEE K31 → Food Security (high)". */
  rules?: Partial<Record<NonprofitField, string>>;
  /** The record beside the fields; null for a form that only fills fields. */
  record: RecordDraft | null;
  /** YYYY-MM-DD: the end of the year of a form; absent: the register speaks of the present. */
  filed_for?: string;
  /** Where readers can look the row up. */
  source_url: string | null;
};

/** How drafts of a register are merged into the directory. */
export type RegisterTerms = {
  /** The import format, for example irs-bmf. */
  register: string;
  /** The part of the register, for example NV. */
  scope: string;
  /** YYYY-MM-DD: the date of the file. */
  as_of: string;
  /** True when the register lists organisations; false when it only adds to known ones. */
  lists: boolean;
  /** When registers were last read; absent: not known. */
  scopes?: ScopesRead;
};
