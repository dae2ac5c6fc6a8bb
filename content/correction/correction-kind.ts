import type { CorrectionField } from "#content/contract/correction.ts";
import { ok } from "#content/contract/base/result.ts";
import { failed, noted, passed, type ReviewCheck } from "#content/contract/review.ts";
import { correctedValue, isSettable } from "./read.ts";
import { type Correction, correctionStore } from "./store.ts";
import { countryName } from "#content/nonprofit/country.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { planSaves } from "#content/nonprofit/save.ts";
import { namedBy, takenFrom } from "#content/nonprofit/provenance.ts";
import { applyDueHolds } from "#content/onboarding/wallet-hold-store.ts";
import { planned, type Write } from "#content/operation/plan.ts";
import type { Queryable } from "#content/store/open.ts";
import { planFields } from "#content/operator/change-profile.ts";
import {
  conflict,
  type Ruling,
  isListed,
  requestKind,
  unusable,
  type WaitingRequest,
} from "#content/requests/kind.ts";
import { sourceCheck, wordingCheck } from "#content/enrichment/request-checks.ts";

/** Reports of wrong values. Accepting one sets the right value like an operator's edit, and closes it. */
export const correctionRequests = requestKind<Correction>({
  ...correctionStore.steps,
  prepare: async (tx, { nonprofit_id, decision, now }) =>
    decision === "approved" && applyDueHolds(tx, now, nonprofit_id),

  item: (_, request, now) => {
    const { row, record } = request;
    const { field, what_is_wrong, suggested_value, source_url, contact_email } = row;
    return {
      key: row.id,
      place: `${row.created_at}.${row.id}`,
      summary: summaryOf(row),
      detail: { field, what_is_wrong, suggested_value, source_url, contact_email },
      comparison: isSettable(field)
        ? [{ field, before: shownValue(record, field), after: suggested_value }]
        : [],
      checks: checksOf(request, now),
      sources: source_url === null ? [] : [source_url],
      editing: isSettable(field)
        ? { field, required: false, current: suggested_value, choices: [] }
        : null,
      created_at: row.created_at,
    };
  },

  approve: async (store, request, ruling) => {
    const { field, suggested_value } = request.row;
    if (!isListed(request)) {
      return conflict("The profile is withdrawn. Reject this with that reason.");
    }
    const closure = closeWrite(request.row, "approved", ruling);
    if (!isSettable(field)) {
      const message = `It is accepted. Nothing was set: put the ${fieldPhrase(field)} right.`;
      return planned(ok({ message }), closure);
    }
    const text = ruling.value ?? suggested_value;
    const thisYear = ruling.now.getUTCFullYear();
    const newValue = correctedValue(field, text, { thisYear });
    if (!newValue.ok) return unusable(newValue.failure);
    const writes = await setWrites(store, request, newValue.value, ruling);
    const outcomeText = text === null ? "is empty now" : "is corrected";
    const message =
      writes === null
        ? `The profile holds this value already.`
        : `The ${fieldPhrase(field)} ${outcomeText}.`;
    return planned(ok({ message }), ...(writes ?? []), closure);
  },

  reject: (_, { row }, ruling) =>
    planned(
      ok({ message: "It is rejected; the sender sees the reason." }),
      closeWrite(row, "rejected", ruling),
    ),
});

const closeWrite = (
  { id }: Correction,
  status: "approved" | "rejected",
  { reason, operator, now }: Ruling,
): Write =>
  correctionStore.close({
    id,
    status,
    reason: reason === "" ? null : reason,
    reviewed_by: operator,
    reviewed_at: now.getTime(),
  });

/** The writes that set the value for the operator; null when the profile has it already. */
async function setWrites(
  store: Queryable,
  { row, record }: WaitingRequest<Correction>,
  values: Partial<NonprofitRecord>,
  { operator, now }: Ruling,
): Promise<Write[] | null> {
  const source = takenFrom("correction", now.getTime());
  const edit = planFields(record, values, now, [{ value: row.suggested_value, source }]);
  if (edit === null) return null;
  const detail = { reason: `correction-${row.id}`, ...edit.detail };
  const entry = { operator, action: "profile.edited", subject: record.slug, at: now.getTime() };
  const { statements } = await planSaves(store, edit.saves, { origin: "correction", now });
  return [...edit.writes, ...statements, { ...entry, detail }];
}

const fieldPhrase = (field: CorrectionField): string =>
  field === "other" ? "profile" : field.replaceAll("_", " ");

function summaryOf({ field, suggested_value }: Correction): string {
  const claim = `Someone says that the ${fieldPhrase(field)} is wrong.`;
  const reject = "Reject it with a reason, which the sender sees, to keep what is live.";
  if (!isSettable(field)) {
    return `${claim} Put it right by hand, then approve to close this. ${reject}`;
  }
  const how =
    suggested_value === null
      ? field === "name"
        ? "Approve with the right value."
        : "Approve with the right value, or without one to empty the field."
      : "Approve the value as it was sent, or edited.";
  return `${claim} ${how} ${reject}`;
}

function shownValue(record: NonprofitRecord, field: CorrectionField): string | null {
  if (field === "country") return countryName(record.country_code);
  if (field === "causes") return record.causes.join(", ") || null;
  const value: unknown = record[field as "name"];
  return value === null || value === "" ? null : String(value);
}

const keptHost = (field: CorrectionField): string =>
  field === "website" ? " Another address at its host stays theirs: it vouches for no claim." : "";

function checksOf({ row, record }: WaitingRequest<Correction>, now: Date): ReviewCheck[] {
  const { field, suggested_value, source_url, created_at } = row;
  const checks = [
    sourceCheck(source_url),
    ...(record.verified === 1
      ? [noted("verified", "The organisation claimed this profile: ask it, if in doubt.")]
      : []),
  ];
  if (!isSettable(field)) return checks;
  const source = record.provenance[field === "country" ? "country_code" : field];
  if (namedBy(source) === "consensus") {
    checks.push(
      noted("agents", `The live ${fieldPhrase(field)} came from agents.${keptHost(field)}`),
    );
  }
  if (source !== undefined && source.applied_at > created_at) {
    checks.push(noted("changed", "The live value was set after this was sent."));
  }
  if (suggested_value === null) return checks;
  const usable = correctedValue(field, suggested_value, { thisYear: now.getUTCFullYear() });
  return [
    usable.ok
      ? passed("form", `It is a ${fieldPhrase(field)} that may go live.`)
      : failed("form", usable.failure),
    wordingCheck(suggested_value),
    ...checks,
  ];
}
