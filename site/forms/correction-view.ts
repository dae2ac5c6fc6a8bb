import {
  type CorrectionField,
  correctionLengthMax,
  settableByCorrection,
} from "#content/contract/correction.ts";
import type { FormPageOf } from "#content/contract/form-pages.ts";
import forms from "#content/editorial/forms.json";
import type { Texts } from "#content/language/texts.ts";
import { fieldName } from "#site/profile/profile-facts.ts";
import { aboutOf, faultsOf, findView, formLines, valuesOf } from "./form-view.ts";

const start = "/corrections";
const addressOf = (profile: string, field?: string) =>
  `${start}?${new URLSearchParams({ profile, ...(field === undefined ? {} : { field }) })}`;

/** Saying that a value is wrong: the profile, then the value, then what would be right. */
export function correctionView(page: FormPageOf<"/corrections">, t: Texts) {
  if (page.step === "find") {
    const title = t.text("correct.title");
    return { step: "find", path: start, title, find: findView(page, addressOf, t) } as const;
  }
  const { profile } = page;
  const about = aboutOf(profile, t);
  const values = valuesOf(profile, t);
  if (page.step === "field") {
    const known = new Set<string>(values.map(({ field }) => field));
    const link = (field: string) => ({
      text: fieldName(field, t),
      href: addressOf(profile.slug, field),
    });
    return {
      step: "field",
      path: addressOf(profile.slug),
      title: t.text("correct.which"),
      about,
      values: values.map((value) => ({ ...value, href: addressOf(profile.slug, value.field) })),
      empty: settableByCorrection.filter((field) => !known.has(field)).map(link),
      other: addressOf(profile.slug, "other"),
    } as const;
  }
  const { field, sent, key } = page;
  const suggested: Partial<Record<CorrectionField, object>> = forms.suggested;
  const lines = formLines("correct", linesOf(field), {
    t,
    sent,
    now: {},
    lengthMax: correctionLengthMax,
    required: ["what_is_wrong"],
    besides: { suggested_value: suggested[field] ?? {} },
  });
  return {
    step: "fill",
    path: addressOf(profile.slug, field),
    title:
      field === "other"
        ? t.text("correct.other_title")
        : t.text("correct.field", { name: fieldName(field, t) }),
    about,
    present: values.find((value) => value.field === field) ?? null,
    ofRegister: isOfRegister(profile.provenance[field]?.source ?? ""),
    lines,
    faults: faultsOf(sent, lines, t),
    action: `/api/corrections/${encodeURIComponent(profile.slug)}`,
    back: addressOf(profile.slug),
    hidden: [
      { name: "field", value: field },
      { name: "idempotency_key", value: key },
    ],
  } as const;
}

/** The register of a sample is no public one. */
const isOfRegister = (source: string): boolean =>
  source.startsWith("register:") && source !== "register:sample";

const linesOf = (field: CorrectionField): string[] => [
  "what_is_wrong",
  // A wallet is changed by the organisation alone, which claims its profile for that.
  ...(field === "usdc_wallet" ? [] : ["suggested_value"]),
  "source_url",
  "contact_email",
];
