import { enrichableFields } from "#content/contract/enrichment.ts";
import type { ProfileValues } from "#content/contract/profile-change.ts";
import { fail, ok } from "#content/contract/result.ts";
import { overruleField } from "#content/enrichment/agreed-field-store.ts";
import { readProfileValues } from "#content/enrichment/profile-values.ts";
import { edited } from "#content/nonprofit/operator-changes.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { publicFields, publicValue } from "#content/nonprofit/wire.ts";
import { changeProfile, conflict, type Operated, type ProfileContext } from "./change-profile.ts";

/**
 * Sets or empties fields of a profile in an operator's name. Agents whose values waited for such a field, or had made
 * another value live, learn that an operator decided.
 */
export const editProfile = (
  context: ProfileContext,
  { values, ...asked }: Operated<{ values: ProfileValues }>,
) =>
  changeProfile(context, { ...asked, change: "edited" }, async (tx, before, now) => {
    if (before.status === "withdrawn") {
      return conflict("This profile is withdrawn. Restore it before you edit it.");
    }
    const read = readProfileValues(values, { thisYear: now.getUTCFullYear() });
    if (!read.ok) return fail({ kind: "invalid_profile", errors: read.failure });
    const { after, fields } = edited(before, read.value, now);
    if (fields.length === 0) return conflict("The profile holds these values already.");
    for (const field of enrichableFields) {
      if (field === "programme" || field === "impact_metric" || !fields.includes(field)) continue;
      const value = after[field] === null ? null : String(after[field]);
      await overruleField(tx, { nonprofit_id: before.id, field, value, now });
    }
    const was = loggable(before, fields);
    const set = loggable(after, fields);
    const message = `Saved: ${publicFields(fields).join(", ").replaceAll("_", " ")}.`;
    return ok({ saves: [{ before, after }], fields, message, detail: { was, set } });
  });

/** Values for the audit log, which keeps them for ever: a contact is never among them. */
const loggable = (record: NonprofitRecord, fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    fields.map((field) => {
      const value: unknown = record[field as "name"];
      return [field, typeof value === "string" ? publicValue(field, value) : value];
    }),
  );
