import {
  type CorrectionField,
  correctionLengthMax,
  settableByCorrection,
} from "#content/contract/correction.ts";
import type { FormPageOf } from "#content/contract/form-pages.ts";
import { aboutOf, faultsOf, findView, type FormLine, formLines } from "./form-view.ts";
import { valuesOf } from "./present-values.ts";
import { fieldName } from "#site/profile/profile-facts.ts";

const path = (profile: string, field?: string) =>
  `/corrections?${new URLSearchParams({ profile, ...(field === undefined ? {} : { field }) })}`;

/** Fields whose right value is no line of text. */
const kinds: Partial<Record<CorrectionField, FormLine["kind"]>> = {
  mission: "long",
  description: "long",
  country: "country",
  website: "url",
  donation_url: "url",
  logo_url: "url",
  founded_year: "number",
  beneficiaries_per_year: "number",
  team_size: "number",
  annual_budget_usd: "number",
};
const settable: ReadonlySet<string> = new Set(settableByCorrection);

/** What the right value of a field looks like. */
const hints: Partial<Record<CorrectionField, string>> = {
  founded_year: "A year, for example 1998. Leave it empty if you only know that it is wrong.",
  causes: "Causes by their names, for example: Education, Health.",
  annual_budget_usd: "In US dollars, for example 250,000.",
  usdc_wallet: "A wallet is changed by the organisation alone, which claims its profile for that.",
};

/** Saying that a value is wrong: the profile, then the value, then what would be right. */
export function correctionView(asked: FormPageOf<"/corrections">) {
  if (asked.step === "find") {
    return { step: "find", title: "Correct a value", find: findView(asked, path) } as const;
  }
  const { profile } = asked;
  const about = aboutOf(profile);
  const values = valuesOf(profile);
  if (asked.step === "field") {
    const known = new Set<string>(values.map(({ field }) => field));
    const link = (field: string) => ({ text: fieldName(field), href: path(profile.slug, field) });
    return {
      step: "field",
      title: "What is wrong?",
      about,
      values: values.map((one) => ({ ...one, href: path(profile.slug, one.field) })),
      empty: settableByCorrection.filter((field) => !known.has(field)).map(link),
      other: path(profile.slug, "other"),
    } as const;
  }
  const { field, sent, key } = asked;
  const lines = formLines("correct", linesOf(field), {
    sent,
    now: {},
    lengthMax: correctionLengthMax,
    required: ["what_is_wrong"],
    kinds: { suggested_value: kinds[field] ?? (settable.has(field) ? "text" : "long") },
  }).map((line) => (line.name === "suggested_value" ? rightValue(line, field) : line));
  const present = values.find((one) => one.field === field) ?? null;
  const name = field === "other" ? "something else" : fieldName(field);
  return {
    step: "fill",
    title: field === "other" ? "Something is wrong" : `Correct the ${name}`,
    about,
    name,
    present,
    ofRegister: isOfRegister(profile.provenance[field]?.source ?? ""),
    lines,
    faults: faultsOf(sent, lines),
    action: `/api/corrections/${encodeURIComponent(profile.slug)}`,
    back: path(profile.slug),
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
  ...(field === "usdc_wallet" ? [] : ["suggested_value"]),
  "source_url",
  "contact_email",
];

const rightValue = (line: FormLine, field: CorrectionField): FormLine => ({
  ...line,
  hint: hints[field] ?? line.hint,
});
