import { enrichableFields, isRowField } from "#content/contract/enrichment.ts";
import type { ProfileValues } from "#content/contract/profile-change.ts";
import { fail, ok } from "#content/contract/base/result.ts";
import { overruleField } from "#content/enrichment/agreed-field-store.ts";
import { readProfileValues } from "#content/enrichment/profile-values.ts";
import { edited } from "#content/nonprofit/operator-changes.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import type { Said } from "#content/nonprofit/whose-word.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import { publicFields, publicValue } from "#content/nonprofit/wire.ts";
import { changeProfile, conflict, type Operated, type ProfileWorld } from "./change-profile.ts";

/**
 * Sets or empties fields of a profile in an operator's name. Agents whose values waited for such a field, or had made
 * another value live, learn that an operator decided.
 */
export const editProfile = (
  world: ProfileWorld,
  { values, ...asked }: Operated<{ values: ProfileValues }>,
) =>
  changeProfile(world, { ...asked, change: "edited" }, async (tx, before, now) => {
    if (before.status === "withdrawn") {
      return conflict("This profile is withdrawn. Restore it before you edit it.");
    }
    const read = readProfileValues(values, { thisYear: now.getUTCFullYear() });
    if (!read.ok) return fail({ kind: "invalid_profile", errors: read.failure });
    const made = await setFields(tx, before, read.value, now);
    if (made === null) return conflict("The profile holds these values already.");
    const message = `Saved: ${publicFields(made.fields).join(", ").replaceAll("_", " ")}.`;
    return ok({ ...made, message });
  });

/**
 * What there is to save once these values are set by an operator, and what the audit log tells of it; null when the profile
 * holds them already. Other values that agents sent for these fields are rejected here. `suggested`: see edited.
 */
export async function setFields(
  tx: WriteTransaction,
  before: NonprofitRecord,
  values: Partial<NonprofitRecord>,
  now: Date,
  suggested: readonly Said[] = [],
) {
  const { after, fields } = edited(before, values, now, suggested);
  if (fields.length === 0) return null;
  for (const field of enrichableFields) {
    if (isRowField(field) || !fields.includes(field)) continue;
    const value = after[field] === null ? null : String(after[field]);
    await overruleField(tx, { nonprofit_id: before.id, field, value, now });
  }
  const detail = { was: loggable(before, fields), set: loggable(after, fields) };
  return { saves: [{ before, after }], fields, detail };
}

/** Values for the audit log, which keeps them for ever: a contact is never among them. */
const loggable = (record: NonprofitRecord, fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    fields.map((field) => {
      const value: unknown = record[field as "name"];
      return [field, typeof value === "string" ? publicValue(field, value) : value];
    }),
  );
