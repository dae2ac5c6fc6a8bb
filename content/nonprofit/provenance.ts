import { isoTime } from "#content/contract/base/time.ts";
import type { Filing } from "#content/contract/enrichment-answers.ts";
import { CauseConfidence } from "#content/contract/nonprofit.ts";
import { type NonprofitRecord, sourceFrom, type StoredProvenance } from "./record.ts";
import { registerById } from "./register-facts.ts";
import { websiteHost } from "./website.ts";

/** Sources that no one vouches for: anyone can be two agents, send a correction or claim a profile. */
export type UnvouchedSource = "consensus" | "correction" | "organisation";

/** The unvouched source of a value; null if a register or an operator set it, or the source is unknown. */
export function namedBy(source: StoredProvenance | undefined): UnvouchedSource | null {
  if (source?.set_by === "consensus" || source?.set_by === "organisation") return source.set_by;
  if (source?.set_by !== "operator") return null;
  return source.source === "consensus" || source.source === "correction" ? source.source : null;
}

/** Whether a register, the organisation or an operator stands for a value, and not agents or a correction. */
export const isStated = (source: StoredProvenance | undefined): boolean =>
  ["organisation", null].includes(namedBy(source));

/** The beginning of the provenance rule of a town that was derived from a postcode. */
export const fromPostcode = "from postcode ";

/** The form on which the organisation itself reported a value; null for a value from elsewhere. */
export function filedOn(record: NonprofitRecord, field: string): Filing | null {
  const { source = "", applied_at = 0 } = record.provenance[field] ?? {};
  const register = registerById(source);
  if (register?.filings !== true) return null;
  const period_end = isoTime(applied_at).slice(0, 10);
  const periods =
    record.register_records.find((register_record) => register_record.register === source)
      ?.finances ?? [];
  const form = periods.find((period) => period.period_end === period_end)?.form ?? register.name;
  return { source, form, period_end };
}

const filingValidYears = 3;

/** Whether a value comes from a filing for a year that ended over three years before `at` (milliseconds since 1970). */
export function isOldFiling({ source, applied_at }: Origin, at: number): boolean {
  if (registerById(source)?.filings !== true) return false;
  const validSince = new Date(at);
  return applied_at < validSince.setUTCFullYear(validSince.getUTCFullYear() - filingValidYears);
}
type Origin = Pick<StoredProvenance, "source" | "applied_at"> & {
  rule?: string | null | undefined;
};

/** Whether agreeing agents may replace a register's value: a town derived from a postcode, or an old filing. */
export const yieldsToAgents = (source: Origin | undefined, at: number): boolean =>
  source !== undefined &&
  ((source.rule?.startsWith(fromPostcode) ?? false) || isOldFiling(source, at));

/** The rule that chose causes: "NTEE P20 → Community Development (medium), Poverty Reduction (medium)". */
export const ruleWords = (
  from: string,
  causes: readonly { name: string; confidence: CauseConfidence }[],
): string =>
  `${from} → ${causes.map(({ name, confidence }) => `${name} (${confidence})`).join(", ")}`;

/** The confidence of the rule in a cause that it chose; undefined for a cause that no rule chose. */
export function confidenceIn(rule: string | undefined, cause: string): CauseConfidence | undefined {
  const words = rule?.split(/ → |, |; /).find((part) => part.startsWith(`${cause} (`));
  return CauseConfidence.safeParse(words?.slice(cause.length + 2, -1)).data;
}

/** A value from someone else, with its source. */
export type SourcedValue = { value: unknown; source: StoredProvenance | undefined };

/** The source of a value that an operator took over from an unvouched source. */
export const takenFrom = (named: "consensus" | "correction", at: number): StoredProvenance =>
  sourceFrom("operator", at, { source: named });

/**
 * The source of a value that an operator sets where others gave one; the first of `sources` counts. The source is the
 * operator only if the value says something new: tidying a website but keeping its host vouches for nothing, so its earlier
 * source stays. A register's value becomes the operator's in any case, or the next import would undo it.
 */
export function operatorProvenance(
  field: string,
  value: unknown,
  sources: readonly SourcedValue[],
  at: number,
): StoredProvenance {
  const proves = provenBy(field, value);
  const same = sources.find(
    (candidate) => proves !== "" && provenBy(field, candidate.value) === proves,
  )?.source;
  return same === undefined || namedBy(same) === null
    ? sourceFrom("operator", at)
    : { ...same, applied_at: at };
}

/** The part of a value that can later prove a claim: the host of a website, or an e-mail address. "" for other fields. */
function provenBy(field: string, value: unknown): string {
  if (typeof value !== "string") return "";
  if (field === "website") return websiteHost(value);
  return field === "contact_email" ? value.trim().toLowerCase() : "";
}
