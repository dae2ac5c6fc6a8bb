import {
  type CorrectionField,
  correctionFields,
  correctionLengthMax,
  settableByCorrection,
} from "#content/contract/correction.ts";
import { lengthMax as valueLengthMax } from "#content/contract/enrichment.ts";
import type { SentForm, FormPageOf } from "#content/contract/form-pages.ts";
import type { NonprofitDetail, NonprofitSummary } from "#content/contract/nonprofit.ts";
import { correctable, onboardingLengthMax } from "#content/contract/onboarding.ts";
import countries from "#content/editorial/countries.json";
import forms from "#content/editorial/forms.json";
import type { Texts } from "#content/language/texts.ts";
import { clipped, joined, placesInLine } from "#site/parts/words.ts";
import { factsOf, labelOf, metricsOf, originOf, fieldName } from "#site/profile/profile-facts.ts";

export type Option = { value: string; text: string; selected: boolean };

export type FormLine = ReturnType<typeof lineOf>;

/** A question in content/editorial/forms.json, in English; translations are found by the English words. */
type Question = Partial<
  Record<"label" | "hint" | "kind" | "autocomplete" | "missing" | "wrong", string>
>;

type FormContext = {
  t: Texts;
  sent: SentForm | null;
  lengthMax: Readonly<Record<string, number>>;
  now: Readonly<Record<string, string>>;
  required: readonly string[];
  /** Parts of questions that differ from the table. */
  besides?: Readonly<Record<string, Question>>;
};

/** The questions of a form, with the sent values and what is wrong with them. */
export function formLines(
  form: "onboard" | "correct",
  names: readonly string[],
  context: FormContext,
) {
  const questions: Readonly<Record<string, Question>> = forms[form];
  return names.map((name) =>
    lineOf(name, { ...questions[name], ...context.besides?.[name] }, context),
  );
}

function lineOf(name: string, question: Question, context: FormContext) {
  const { t, lengthMax, now: present, required, sent } = context;
  const { label = name, hint, autocomplete, kind = "text" } = question;
  const value = sent?.values[name] ?? "";
  const optional = !required.includes(name);
  const now = present[name] ?? null;
  return {
    id: `field-${name}`,
    name,
    autocomplete,
    optional,
    value,
    /** The profile's present value; null for none or unknown. */
    now,
    label: t.word(label),
    hint: hint === undefined ? null : t.word(hint),
    kind: kind as "text" | "email" | "url" | "number" | "long" | "country",
    lengthMax: lengthMax[name] ?? 200,
    /** What is wrong with the value, and what to enter instead. */
    wrong: faultIn(sent?.wrongs ?? [], { name, value, optional }, { question, t }),
    /** The options of a list to choose from; empty for other kinds. */
    options: kind === "country" ? countryOptions(value, now, t) : [],
  };
}

function faultIn(
  wrongs: SentForm["wrongs"],
  { name, value, optional }: { name: string; value: string; optional: boolean },
  { question, t }: { question: Question; t: Texts },
): string | null {
  const { missing, wrong, label = "" } = question;
  const fault = wrongs.find(({ path }) => path === name);
  // Once a form is refused, every missing answer is reported, not only the first one found.
  const isMissing = value === "" && (fault !== undefined || (wrongs.length > 0 && !optional));
  if (isMissing && missing !== undefined) return t.word(missing);
  if (fault === undefined) return null;
  if (wrong !== undefined) return t.word(wrong);
  // The service uses the field's name in the API.
  const message = fault.message.replace(/^[a-z]+(?:_[a-z]+)+\b/, label);
  return inEnglish(t, message) ?? t.text("form.wrong", { label: t.word(label) });
}

/** The service's own message, which is the most exact; null in other languages, where the page has its own words. */
export const inEnglish = (t: Texts, message: string | null | undefined): string | null =>
  t.language === "en" ? (message ?? null) : null;

function countryOptions(value: string, now: string | null, t: Texts): Option[] {
  const inOrder = new Intl.Collator(t.language).compare;
  const options = countries
    .map(({ name }) => ({ value: name, text: t.country(name) ?? name }))
    .toSorted((a, b) => inOrder(a.text, b.text));
  const text = now === null ? t.text("form.choose_country") : t.text("form.leave", { value: now });
  return [{ value: "", text }, ...options].map((option) => ({
    ...option,
    selected: option.value === value,
  }));
}

/** The faults of a whole form, each linked to its field. Empty for a form that was not refused. */
export function faultsOf(
  sent: SentForm | null,
  lines: readonly FormLine[],
  t: Texts,
): { href: string | null; text: string }[] {
  const faults = lines.flatMap(({ id, wrong }) =>
    wrong === null ? [] : [{ href: `#${id}`, text: wrong }],
  );
  if (faults.length > 0 || sent === null) return faults;
  const words: Readonly<Record<string, string>> = forms.refusals;
  if (sent.refusal === null && sent.wrongs.length === 0) return [];
  // A fault in a hidden field would mean nothing to the sender.
  const word = words[sent.refusal?.code ?? ""];
  return [{ href: null, text: word === undefined ? t.text("form.refused") : t.word(word) }];
}

type Matches = { q: string | null; total: number; found: readonly NonprofitSummary[] };

/** The search for the profile of a form; `choose` makes the link to the next step. */
export function findView({ q, total, found }: Matches, choose: (slug: string) => string, t: Texts) {
  const nonprofits = t.text("count.nonprofits", { count: total });
  return {
    q: q ?? "",
    notice:
      q === null
        ? null
        : total === 0
          ? t.text("search.none_for", { q })
          : t.text("search.found_for", { nonprofits, q }),
    more: total > found.length ? `/search?${new URLSearchParams({ q: q ?? "" })}` : null,
    entries: found.map((profile) => ({
      href: choose(profile.slug),
      profile: `/nonprofits/${profile.slug}`,
      name: profile.name,
      note: joined([placeOf(profile, t), profile.verified ? t.text("list.verified") : null], " · "),
      text: clipped(profile.tagline ?? profile.mission ?? "", 120),
    })),
  };
}

const placeOf = (
  { city, region, country }: Pick<NonprofitSummary, "city" | "region" | "country">,
  t: Texts,
): string => placesInLine([city, region, t.country(country)]);

/** What shows a reader which organisation a form is about. */
export const aboutOf = (profile: NonprofitDetail, t: Texts) => ({
  slug: profile.slug,
  name: profile.name,
  href: `/nonprofits/${profile.slug}`,
  place: placeOf(profile, t),
});

/** A profile's present values and their sources, in the order of the contract; fields without a value are left out. */
export function valuesOf(detail: NonprofitDetail, t: Texts) {
  const facts = new Map(factsOf(detail, t).map(({ field, text }) => [field, text]));
  const lists: Partial<Record<CorrectionField, readonly string[]>> = {
    causes: detail.causes.map(({ name }) => t.word(name)),
    programs: detail.programs.map(({ name }) => name),
    impact_metrics: metricsOf(detail, t).map(({ name, value }) => `${name}: ${value}`),
    registrations: detail.registrations.map(
      ({ type, registration_number: number }) => `${t.word(type)} ${number}`,
    ),
  };
  return correctionFields.flatMap((field) => {
    const list = lists[field];
    const value =
      field === "other" ? null : (facts.get(field) ?? detail[field as keyof typeof detail]);
    const text = list === undefined ? value : joined(list, ", ");
    if (typeof text !== "string" || text === "") return [];
    const from = detail.provenance[field];
    const origin = from === undefined ? null : originOf(from, t);
    const source = origin === null ? null : `${origin.source}, ${t.date(origin.day)}`;
    return [{ field, label: labelOf(field, t), text: clipped(text, 240), source }];
  });
}

const correctionsStart = "/corrections";
const addressOf = (profile: string, field?: string) =>
  `${correctionsStart}?${new URLSearchParams({ profile, ...(field === undefined ? {} : { field }) })}`;

/** The form for a correction, in three steps: the profile, the value, what is wrong with it. */
export function correctionView(page: FormPageOf<"/corrections">, t: Texts) {
  if (page.step === "find") {
    const title = t.text("correct.title");
    return {
      step: "find",
      path: correctionsStart,
      title,
      find: findView(page, addressOf, t),
    } as const;
  }
  const { profile } = page;
  const about = aboutOf(profile, t);
  const values = valuesOf(profile, t);
  if (page.step === "field") {
    const fields = new Set<string>(values.map(({ field }) => field));
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
      empty: settableByCorrection.filter((field) => !fields.has(field)).map(link),
      other: addressOf(profile.slug, "other"),
    } as const;
  }
  const { field, sent, key } = page;
  const suggestedShapes: Partial<Record<CorrectionField, object>> = forms.suggested;
  const lines = formLines("correct", linesOf(field), {
    t,
    sent,
    now: {},
    lengthMax: correctionLengthMax,
    required: ["what_is_wrong"],
    besides: { suggested_value: suggestedShapes[field] ?? {} },
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

/** A sample's register is no public register. */
const isOfRegister = (source: string): boolean =>
  source.startsWith("register:") && source !== "register:sample";

const linesOf = (field: CorrectionField): string[] => [
  "what_is_wrong",
  // Only the organisation may change a wallet, by claiming its profile.
  ...(field === "usdc_wallet" ? [] : ["suggested_value"]),
  "source_url",
  "contact_email",
];

/** Fields by which readers recognise whether a profile is theirs. */
const tellingFields: ReadonlySet<string> = new Set([
  "city",
  "country",
  "website",
  "registrations",
  "mission",
]);

const nowLengthMax = 60;

const onboardStart = "/onboard";
const claimAddress = (slug: string) => `${onboardStart}?claim=${encodeURIComponent(slug)}`;

/** The form to claim or register an organisation: first a search, then the form. */
export function onboardView(page: FormPageOf<"/onboard">, t: Texts) {
  if (page.step === "find") {
    const name = page.q === null || /^[\d\s-]*$/.test(page.q) ? {} : { q: page.q };
    const register = `${onboardStart}?${new URLSearchParams({ register: "1", ...name })}`;
    const find = findView(page, claimAddress, t);
    return {
      step: "find",
      path: onboardStart,
      title: t.text("onboard.heading"),
      find,
      register,
    } as const;
  }
  const { profile, sent, key } = page;
  const view = profile === null ? registrationView(t) : claimView(profile, t);
  const { required } = view;
  const lines = (names: readonly string[], now: Readonly<Record<string, string>> = {}) =>
    formLines("onboard", names, { t, sent, now, lengthMax: lengths, required });
  const about = lines(view.names, view.now);
  const wallet = lines(["usdc_wallet", "wallet_signature"]);
  const contact = lines(["contact_email", "contact_name"]);
  return {
    step: "fill",
    ...view,
    about,
    wallet,
    walletOpen: wallet.some(({ value, wrong }) => value !== "" || wrong !== null),
    contact,
    faults: faultsOf(sent, [...about, ...wallet, ...contact], t),
    hidden: [
      { name: "idempotency_key", value: key },
      { name: "wallet_challenge", value: sent?.values["wallet_challenge"] ?? "" },
      ...view.named,
    ],
  } as const;
}

const lengths = {
  ...valueLengthMax,
  ...onboardingLengthMax,
  usdc_wallet: 64,
  wallet_signature: 128,
};
const further = ["donation_url", "tagline", "programs", "logo_url"];
const always = ["name", "contact_email"];

const registrationView = (t: Texts) => ({
  path: `${onboardStart}?register=1`,
  title: t.text("onboard.add"),
  profile: null,
  isClaimed: false,
  known: [],
  names: ["name", "country", "city", "website", "mission", ...further, "registration_number"],
  now: {},
  required: [...always, "country"],
  named: [],
});

function claimView(detail: NonprofitDetail, t: Texts) {
  const values = valuesOf(detail, t);
  // Long texts are shown above the form already.
  const short = values.filter(({ text }) => text.length <= nowLengthMax);
  const isClaimed = detail.status === "claimed" || detail.verified === 1;
  const numberField = detail.registrations.length > 0 ? [] : ["registration_number"];
  return {
    path: claimAddress(detail.slug),
    title: t.text(isClaimed ? "onboard.change" : "onboard.claim", { name: detail.name }),
    profile: aboutOf(detail, t),
    isClaimed,
    known: values.filter(({ field }) => tellingFields.has(field)),
    names: ["website", "city", "country", "mission", ...further, ...numberField],
    now: Object.fromEntries(short.map(({ field, text }) => [field, text])),
    required: always,
    named: [
      { name: "claim_slug", value: detail.slug },
      // Values that differ from the profile are meant as corrections.
      { name: "corrects", value: correctable.join(",") },
    ],
  };
}
