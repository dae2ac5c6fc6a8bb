import countries from "#content/editorial/countries.json";
import forms from "#content/editorial/forms.json";
import type { SentForm } from "#content/contract/form-pages.ts";
import type { NonprofitDetail, NonprofitSummary } from "#content/contract/nonprofit.ts";
import { clipped, counted, joined } from "#site/parts/words.ts";

export type Option = { value: string; text: string; selected: boolean };

/** One question of a form as it is drawn. */
export type FormLine = {
  id: string;
  name: string;
  label: string;
  hint: string | null;
  /** What the profile says now; null where that is nothing, or not known. */
  now: string | null;
  kind: "text" | "email" | "url" | "number" | "long" | "country";
  autocomplete: string;
  lengthMax: number;
  optional: boolean;
  value: string;
  /** What is wrong with the value, and what to enter instead. */
  wrong: string | null;
  /** Of a list to choose from; empty for others. */
  options: Option[];
};

type Question = Partial<
  Record<"label" | "hint" | "kind" | "autocomplete" | "missing" | "wrong", string>
>;

type Asking = {
  sent: SentForm | null;
  lengthMax: Readonly<Record<string, number>>;
  /** What the profile says of these fields. */
  now: Readonly<Record<string, string>>;
  required: readonly string[];
  /** Kinds other than those of the table. */
  kinds: Readonly<Record<string, FormLine["kind"]>>;
};

/** The questions of a form by their names, with what was sent and what is wrong with it. */
export function formLines(form: "onboard" | "correct", names: readonly string[], asking: Asking) {
  const questions: Readonly<Record<string, Question>> = forms[form];
  return names.map((name) => lineOf(name, questions[name] ?? {}, asking));
}

function lineOf(name: string, question: Question, asking: Asking): FormLine {
  const { lengthMax, now: present, required, kinds, sent } = asking;
  const { label, hint, autocomplete, kind: usual } = { ...plainly(name), ...question };
  const value = sent?.values[name] ?? "";
  const kind = kinds[name] ?? (usual as FormLine["kind"]);
  const optional = !required.includes(name);
  const now = present[name] ?? null;
  return {
    ...{ id: `field-${name}`, name, label, hint, kind, autocomplete, optional, value, now },
    lengthMax: lengthMax[name] ?? 200,
    wrong: faultIn(sent?.wrongs ?? [], { name, value, optional }, question),
    options: kind === "country" ? countryOptions(value, now) : [],
  };
}

const plainly = (label: string) => ({ label, hint: null, autocomplete: "off", kind: "text" });

function faultIn(
  wrongs: SentForm["wrongs"],
  { name, value, optional }: Pick<FormLine, "name" | "value" | "optional">,
  question: Question,
): string | null {
  const fault = wrongs.find(({ path }) => path === name);
  if (fault !== undefined) return wrongWords(question, value, fault.message);
  // All that is missing is said at once, whatever was looked at first.
  const isMissing = wrongs.length > 0 && !optional && value === "";
  return isMissing ? (question.missing ?? null) : null;
}

/** In the words of the form; where it has none, the service's own without the name of its field. */
function wrongWords({ missing, wrong, label = "" }: Question, value: string, message: string) {
  if (value === "" && missing !== undefined) return missing;
  return wrong ?? message.replace(/^[a-z]+(?:_[a-z]+)+\b/, label);
}

function countryOptions(value: string, now: string | null): Option[] {
  const none = { value: "", text: now === null ? "Choose a country" : `Leave it: ${now}` };
  return [none, ...countries.map(({ name }) => ({ value: name, text: name }))].map((one) => ({
    ...one,
    selected: one.value === value,
  }));
}

/** What is wrong with a whole form: each fault leads to its field. Empty for a form that is not refused. */
export function faultsOf(
  sent: SentForm | null,
  lines: readonly FormLine[],
): { href: string | null; text: string }[] {
  const faults = lines.flatMap(({ id, wrong }) =>
    wrong === null ? [] : [{ href: `#${id}`, text: wrong }],
  );
  if (faults.length > 0 || sent === null) return faults;
  const words: Readonly<Record<string, string>> = forms.refusals;
  const { code, detail } = sent.refusal ?? { code: "", detail: sent.wrongs[0]?.message };
  const text = words[code] ?? detail;
  return text === undefined ? [] : [{ href: null, text }];
}

type Found = { q: string | null; total: number; found: readonly NonprofitSummary[] };

/** The search for the profile that a form is about; `choose` makes the link to the next step. */
export function findView({ q, total, found }: Found, choose: (slug: string) => string) {
  const known = counted(total, "organisation", "organisations");
  return {
    q: q ?? "",
    said: q === null ? null : total === 0 ? `Nothing found for “${q}”` : `${known} for “${q}”`,
    more: total > found.length ? `/search?${new URLSearchParams({ q: q ?? "" })}` : null,
    entries: found.map(({ slug, name, city, region, country, tagline, mission, verified }) => ({
      href: choose(slug),
      profile: `/nonprofits/${slug}`,
      name,
      note: joined([joined([city, region, country], ", "), verified ? "claimed" : null], " · "),
      text: clipped(tagline ?? mission ?? "", 120),
    })),
  };
}

/** What tells a reader which organisation a form is about. */
export const aboutOf = ({ slug, name, city, region, country }: NonprofitDetail) => ({
  slug,
  name,
  href: `/nonprofits/${slug}`,
  place: joined([city, region, country], ", "),
});
