import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { type NonprofitField, NonprofitRecord, type StoredRegistration } from "./record.ts";
import { withRegisterRecord } from "./register-facts.ts";

/** A line of our NDJSON format: everything stored of one nonprofit. A line without `contact_email` says nothing about it. */
export const RecordLine = NonprofitRecord.partial({ contact_email: true });
export type RecordLine = z.infer<typeof RecordLine>;

/** The line of a nonprofit, with keys in the order of the shape. The e-mail address is included only on request. */
export function recordLine(
  record: NonprofitRecord,
  { contactEmails }: { contactEmails: boolean },
): string {
  const line = Object.fromEntries(
    Object.keys(RecordLine.shape)
      .filter((key) => contactEmails || key !== "contact_email")
      .map((key) => [key, record[key as keyof NonprofitRecord]]),
  );
  const provenance = Object.entries(record.provenance)
    .filter(([field]) => contactEmails || field !== "contact_email")
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify({ ...line, provenance: Object.fromEntries(provenance) });
}

/**
 * Merges another directory's record into a nonprofit. A field that consensus, an operator or the organisation set here
 * stays, unless the other directory has a newer value of that kind. Slug, id and local links are kept. Returns `before`
 * itself when nothing changes.
 */
export function mergedWithLine(before: NonprofitRecord, line: RecordLine): NonprofitRecord {
  const after: NonprofitRecord = {
    ...before,
    ...line,
    contact_email: line.contact_email ?? null,
    id: before.id,
    slug: before.slug,
    created_at: before.created_at,
    registrations: withLinked(before, line),
    register_records: newestRecords(before, line),
    provenance: { ...line.provenance },
  };
  const fields = new Set([...Object.keys(before.provenance), ...Object.keys(line.provenance)]);
  if (line.contact_email === undefined) fields.add("contact_email");
  for (const field of fields) {
    if (!staysAsItIs(before, line, field)) continue;
    if (field in before && field !== "id") {
      Object.assign(after, { [field]: before[field as NonprofitField] });
    }
    const origin = before.provenance[field];
    if (origin === undefined) delete after.provenance[field];
    else after.provenance[field] = origin;
  }
  const isSame = isDeepStrictEqual({ ...after, updated_at: 0 }, { ...before, updated_at: 0 });
  return isSame ? before : after;
}

/** The line's registrations and those linked here, whose former profile redirects to this one. */
function withLinked(before: NonprofitRecord, line: RecordLine): NonprofitRecord["registrations"] {
  const keyOf = (registration: StoredRegistration) =>
    registration.org_id ?? registration.registration_number;
  const theirs = new Set(line.registrations.map(keyOf));
  const linkedRegistrations = before.registrations.filter(
    (registration) => registration.linked_by !== undefined && !theirs.has(keyOf(registration)),
  );
  return [...line.registrations, ...linkedRegistrations];
}

/** The register records of both sides, the newer one for each register and organisation. Earlier exports have none. */
function newestRecords(
  before: NonprofitRecord,
  line: RecordLine,
): NonprofitRecord["register_records"] {
  let records = before.register_records;
  for (const record of line.register_records) {
    const { org_id, register, as_of } = record;
    const ownRecord = records.find(
      (registerRecord) => registerRecord.org_id === org_id && registerRecord.register === register,
    );
    if (ownRecord === undefined || ownRecord.as_of <= as_of)
      records = withRegisterRecord(records, record);
  }
  return records;
}

/** The record as a new nonprofit of this directory, with its id. */
export const recordOfLine = (line: RecordLine): NonprofitRecord => ({
  ...line,
  contact_email: line.contact_email ?? null,
});

function staysAsItIs(before: NonprofitRecord, line: RecordLine, field: string): boolean {
  if (field === "contact_email" && line.contact_email === undefined) return true;
  const here = before.provenance[field];
  const there = line.provenance[field];
  if (here === undefined || here.set_by === "register") return false;
  return there === undefined || there.set_by === "register" || there.applied_at <= here.applied_at;
}
