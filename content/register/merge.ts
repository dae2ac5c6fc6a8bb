import { isDeepStrictEqual } from "node:util";
import {
  emptyRecord,
  type NonprofitField,
  type NonprofitFields,
  type NonprofitRecord,
  sourceFrom,
} from "#content/nonprofit/record.ts";

/**
 * A nonprofit after a register has spoken. A register sets and clears only fields that it provides, and of these only
 * the empty ones and those that it set itself: what agents agreed on, an operator, the organisation or another register
 * set stays. Answers `before` itself when nothing changes. A withdrawn nonprofit that the register lists again is restored, unless an operator withdrew it.
 */
export function mergedWithRegister(
  before: NonprofitRecord,
  draft: RegisterDraft,
  terms: RegisterTerms,
  nowMs: number,
): NonprofitRecord {
  const fields = (Object.keys(draft.fields) as NonprofitField[]).filter((field) =>
    isToBeSet(before, field, draft.fields[field], terms.register),
  );
  const mine = terms.lists && before.register === terms.register;
  const moved = mine && before.register_scope !== terms.scope;
  const restored = mine && before.status === "withdrawn" && !statusIsHeld(before);
  if (fields.length === 0 && !moved && !restored) return before;
  const after: NonprofitRecord = { ...before, provenance: { ...before.provenance } };
  for (const field of fields) setField(after, field, draft, terms.register, nowMs);
  if (moved) after.register_scope = terms.scope;
  if (restored) after.status = before.verified === 1 ? "claimed" : "listed";
  return after;
}

/** A new nonprofit from a row of a register; id 0 and slug "" until it is stored. */
export function newFromRegister(
  draft: RegisterDraft,
  terms: RegisterTerms,
  nowMs: number,
): NonprofitRecord {
  const empty = { ...emptyRecord, register: terms.register, register_scope: terms.scope };
  return mergedWithRegister(empty, draft, terms, nowMs);
}

/** The nonprofit as its register no longer lists it, or null when that says nothing about it. */
export const withdrawnByRegister = (before: NonprofitRecord): NonprofitRecord | null =>
  before.status === "withdrawn" || statusIsHeld(before) ? null : { ...before, status: "withdrawn" };

/** An operator who withdraws or keeps a nonprofit leaves provenance of its status: the register has no say then. */
const statusIsHeld = ({ provenance }: NonprofitRecord): boolean =>
  provenance["status"] !== undefined && provenance["status"].set_by !== "register";

function isToBeSet(
  before: NonprofitRecord,
  field: NonprofitField,
  value: unknown,
  register: string,
): boolean {
  const origin = before.provenance[field];
  const held = before[field];
  if (held === value) return false;
  const mine = origin?.set_by === "register" && origin.source === register;
  if (mine) return !isDeepStrictEqual(held, value);
  return origin === undefined && isEmptyValue(held) && !isEmptyValue(value);
}

function setField(
  after: NonprofitRecord,
  field: NonprofitField,
  draft: RegisterDraft,
  register: string,
  nowMs: number,
): void {
  const value = draft.fields[field];
  Object.assign(after, { [field]: value });
  if (isEmptyValue(value)) {
    delete after.provenance[field];
    return;
  }
  const { source_url } = draft;
  after.provenance[field] = sourceFrom("register", nowMs, { source: register, source_url });
}

const isEmptyValue = (value: unknown): boolean =>
  value === null || value === "" || value === 0 || (Array.isArray(value) && value.length === 0);

/**
 * What one row of a register says of one organisation. A field that is present is provided by the register (null or
 * empty: it says that there is none); a field that is absent is none of its business.
 */
export type RegisterDraft = {
  /** The org-id by which it is recognised, for example US-EIN-530196605. */
  org_id: string;
  fields: Partial<NonprofitFields>;
  /** Where a reader can look the row up. */
  source_url: string | null;
};

/** How a register's drafts are taken into the directory. */
export type RegisterTerms = {
  /** The import format, for example irs-bmf. */
  register: string;
  /** The part of the register, for example NV. */
  scope: string;
  /** True when the register lists organisations; false when it only adds to known ones. */
  lists: boolean;
};
