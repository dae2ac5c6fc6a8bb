import { type CorrectionField, correctionFields } from "#content/contract/correction.ts";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import type { Texts } from "#content/language/texts.ts";
import { factsOf, labelOf, metricsOf, originOf, programsOf } from "#site/profile/profile-facts.ts";
import { clipped, joined } from "#site/parts/words.ts";

/** A value of a profile as a form shows it, and where it comes from. */
export type PresentValue = {
  field: CorrectionField;
  label: string;
  text: string;
  source: string | null;
};

/** What a profile says now, in the order of the contract; fields without a value are left out. */
export function valuesOf(detail: NonprofitDetail, t: Texts): PresentValue[] {
  const facts = new Map(factsOf(detail, t).map(({ field, text }) => [field, text]));
  const lists: Partial<Record<CorrectionField, readonly string[]>> = {
    causes: detail.causes.map(({ name }) => t.word(name)),
    programs: programsOf(detail, t).map(({ name }) => name),
    impact_metrics: metricsOf(detail, t).map(({ name, value }) => `${name}: ${value}`),
    registrations: detail.registrations.map(
      (one) => `${t.word(one.type)} ${one.registration_number}`,
    ),
  };
  return correctionFields.flatMap((field) => {
    const text = textOf(detail, field, facts, lists);
    if (text === null || text === "") return [];
    const from = detail.provenance[field];
    const origin = from === undefined ? null : originOf(from, t);
    const source = origin === null ? null : `${origin.source}, ${t.date(origin.day)}`;
    return [{ field, label: labelOf(field, t), text: clipped(text, 240), source }];
  });
}

function textOf(
  detail: NonprofitDetail,
  field: CorrectionField,
  facts: ReadonlyMap<string, string>,
  lists: Partial<Record<CorrectionField, readonly string[]>>,
): string | null {
  if (field === "other") return null;
  const list = lists[field];
  if (list !== undefined) return joined(list, ", ");
  const value = facts.get(field) ?? detail[field as keyof NonprofitDetail];
  return typeof value === "string" ? value : null;
}
