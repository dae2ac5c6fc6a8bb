import { noFilters } from "#content/contract/browse.ts";
import type { Standing } from "#content/contract/standing.ts";
import type { NonprofitDetail, RegisterFact, RegisterFacts } from "#content/contract/nonprofit.ts";
import type { TextKey, Texts } from "#content/language/texts.ts";
import causes from "#content/editorial/causes.json";
import type { Judgement } from "#content/nonprofit/giver-answers.ts";
import { isStated } from "#content/nonprofit/provenance.ts";
import type {
  NonprofitRecord,
  RegisterRecord,
  StoredProvenance,
} from "#content/nonprofit/record.ts";
import { isRegulator, registerById, registerName } from "#content/nonprofit/register-facts.ts";
import { schemeOf } from "#content/register/org-id.ts";
import { type ScopesRead, standingOf } from "#content/register/standing.ts";
import { listPath } from "#site/parts/address.ts";
import { clipped, isolated } from "#site/parts/words.ts";

const organisations = new Map(causes.map(({ id, organisation }) => [id, organisation]));

/**
 * What an organisation is, in a sentence that only uses statements of registers or the organisation: "Nonprofit in
 * Honolulu, listed by the IRS under “Theater (NTEE A65)”, tax-exempt by a ruling of 1994; gifts are deductible from US
 * tax." "" when there are none. It leaves out values that agents agreed on and causes that our mapping chose. Each text of
 * the catalogue contains the sentence so far, so that each language has its own order and punctuation.
 */
export function sentenceOf(record: NonprofitRecord, detail: NonprofitDetail, t: Texts): string {
  const open = detail.status === "withdrawn" ? [] : detail.register_facts.filter(isListed);
  const gifts = giftsOf(open);
  const count = isStated(record.provenance["beneficiaries_per_year"])
    ? detail.beneficiaries_per_year
    : null;
  const subject = whatAndWhere(record, detail, t);
  const listed = listedAs(record, open, t);
  const purposes = listed === null ? factIn(open, "purposes") : undefined;
  const added = [
    listed,
    standingClause(record, detail, open, t),
    purposes &&
      ((what: string) => t.text("sentence.purposes", { what, purposes: t.fact(purposes) })),
    count && ((what: string) => t.text("sentence.reaching", { what, count })),
    gifts && ((what: string) => t.text(gifts, { what })),
  ].filter((add) => typeof add === "function");
  if (subject === null && added.length === 0) return "";
  const what = added.reduce(
    (sentence, add) => add(sentence),
    subject ?? t.text("sentence.nonprofit"),
  );
  return t.text("sentence.end", { what });
}

/** The kind of organisation by its first cause, if that cause is stated and not our reading of a register's codes. */
const organisationOf = (
  [first]: NonprofitDetail["causes"],
  source: StoredProvenance | undefined,
): string | undefined =>
  source?.rule === undefined && isStated(source) ? organisations.get(first?.id ?? "") : undefined;

function whatAndWhere(
  { provenance }: NonprofitRecord,
  { causes: ownCauses, city, region, country }: NonprofitDetail,
  t: Texts,
): string | null {
  const named = organisationOf(ownCauses, provenance["causes"]);
  const kind = t.word(named ?? "") || t.text("sentence.nonprofit");
  const places = [
    { field: "city", key: "sentence.in_city", place: city && isolated(city) },
    { field: "region", key: "sentence.in_region", place: region && isolated(region) },
    {
      field: "country_code",
      key: "sentence.in_country",
      place: country && t.countryInSentence(country),
    },
  ] as const;
  for (const { field, key, place } of places) {
    if (place && isStated(provenance[field])) return t.text(key, { kind, place });
  }
  return named === undefined ? null : kind;
}

/** The IRS's kinds of charity that say what an organisation is; they take precedence over its NTEE code. */
const classes: ReadonlyMap<unknown, TextKey> = new Map([
  ["10", "sentence.church"],
  ["11", "sentence.school"],
  ["12", "sentence.hospital"],
]);

/** Adds the kind or category that a register lists the organisation under; null for none. */
function listedAs(
  { register_records }: NonprofitRecord,
  open: readonly RegisterFacts[],
  t: Texts,
): ((what: string) => string) | null {
  const kinds = register_records.map(({ state, facts }) =>
    state === "registered" ? classes.get(facts["foundation"]) : undefined,
  );
  const kind = kinds.find((candidate) => candidate !== undefined);
  if (kind !== undefined && open.length > 0) return (what) => t.text(kind, { what });
  const category = factIn(open, "category");
  return category === undefined
    ? null
    : (what) => t.text("sentence.category", { what, category: String(category.value) });
}

/** The first register's fact of this name. */
const factIn = (open: readonly RegisterFacts[], name: string): RegisterFact | undefined =>
  open.flatMap(({ fields }) => fields).find((fact) => fact.name === name);

const isListed = ({ state }: RegisterFacts): boolean =>
  state === "registered" || state === "reinstated";

/**
 * Adds "tax-exempt by a ruling of 1994", "registered charity since 1990", a revocation, or else the founding year; the
 * others without a year when it is unknown. Null for none.
 */
function standingClause(
  record: NonprofitRecord,
  { register_facts, founded_year }: NonprofitDetail,
  open: readonly RegisterFacts[],
  t: Texts,
): ((what: string) => string) | null {
  const clause = (undated: TextKey, dated: TextKey, year: string | null) => (what: string) =>
    year === null ? t.text(undated, { what }) : t.text(dated, { what, year });
  const revoked = register_facts.find(({ state }) => state === "revoked");
  const isRevoked = standingsOf(record).some(({ value }) => value === "revoked");
  if (isRevoked && revoked !== undefined)
    return clause("sentence.revoked", "sentence.revoked_in", yearOf(revoked, "revoked"));
  const exempt = open.find((register) => factValue(register, "tax_status")?.includes("tax-exempt"));
  if (exempt !== undefined) {
    // A reinstated exemption has not lasted since the year of the first ruling.
    const year = revoked === undefined ? yearOf(exempt, "ruling") : null;
    return clause("sentence.exempt", "sentence.exempt_since", year);
  }
  const charities = open.filter(({ register }) =>
    registerById(register)?.fields?.some(({ name }) => name === "registered"),
  );
  const [since = null] = charities.flatMap((own) => yearOf(own, "registered") ?? []).toSorted();
  if (charities.length > 0) return clause("sentence.charity", "sentence.charity_since", since);
  const isSourced = founded_year !== null && isStated(record.provenance["founded_year"]);
  return isSourced
    ? (what) => t.text("sentence.founded_in", { what, year: `${founded_year}` })
    : null;
}

const yearOf = (register: RegisterFacts, name: string): string | null =>
  /^\d{4}/.exec(factValue(register, name) ?? "")?.[0] ?? null;

const factValue = ({ fields }: RegisterFacts, name: string): string | null => {
  const value = fields.find((fact) => fact.name === name)?.value;
  return value === undefined ? null : String(value);
};

/** Whether donations are deductible, without the conditions that the register adds. */
function giftsOf(open: readonly RegisterFacts[]): TextKey | null {
  const all = open.flatMap((register) => factValue(register, "deductibility") ?? []);
  const words = all.find((text) => !text.startsWith("The IRS")) ?? all[0];
  if (words === undefined) return null;
  if (words.startsWith("The IRS")) return "sentence.gifts_unsaid";
  if (words.startsWith("Not")) return "sentence.not_deductible";
  return words.includes("by treaty") ? "sentence.by_treaty" : "sentence.deductible";
}

/** Ignores when registers were last read: a file without news makes no page stale. News changes the record: merge.ts. */
const noScopes: ScopesRead = new Map();

/** The standing of an organisation under each of its register numbers. */
export const standingsOf = ({
  register_records,
}: Pick<NonprofitRecord, "register_records">): Judgement<Standing>[] =>
  [...Map.groupBy(register_records, ({ org_id }) => org_id)].map(([orgId, records]) =>
    standingOf(records, noScopes, schemeOf(orgId)),
  );

/**
 * A question, "Is Hope Kitchen a registered charity?"; its text, "Listed in the IRS Business Master File, as of 14 April
 * 2026."; a tone; and the text as an answer, with "Yes." only where each register lists a charity.
 */
export function standingLine(record: NonprofitRecord, t: Texts) {
  const statements = standingsOf(record).flatMap(({ value, by }) => {
    const register = registerById(by?.register ?? "");
    if (by === null || register === undefined) return [];
    const name = registerName(register, by.org_id);
    const isListing = value === "registered" && !isRegulator(name);
    const state = value === "not listed" ? "gone" : value;
    const text = t.text(`standing.${isListing ? "listed" : state}`, {
      register: t.word(name),
      date: t.date(by.as_of),
    });
    const good = value === "registered" || value === "reinstated";
    return [{ text, good, yes: good && isCharity(by), no: isBarred.has(value) }];
  });
  const question = t.text("standing.question", { name: record.name });
  if (statements.length === 0) {
    const text = t.text(isOfSample(record) ? "standing.sample" : "standing.unknown");
    return { question, text, answer: text, word: undefined, tone: "unknown" as const };
  }
  const tone: "good" | "bad" = statements.every(({ good }) => good) ? "good" : "bad";
  const text = statements.map((statement) => statement.text).join(" ");
  const word = (["yes", "no"] as const).find((each) =>
    statements.every((statement) => statement[each]),
  );
  const answer = word === undefined ? text : `${t.text(`standing.${word}`)} ${text}`;
  return { question, text, answer, word, tone };
}
const isBarred: ReadonlySet<Standing> = new Set(["revoked", "removed"]);

/** The IRS also lists clubs and leagues, so only its subsection 03 counts. */
const isCharity = ({ org_id, facts }: RegisterRecord): boolean =>
  schemeOf(org_id) !== "US-EIN" || facts["subsection"] === "03";

/** Whether the organisation is an invented one of a sample directory. */
const isOfSample = ({ registrations }: Pick<NonprofitRecord, "registrations">): boolean =>
  registrations.some(({ org_id }) => org_id?.startsWith("XS-SAMPLE-"));

/** A link to a list of similar nonprofits. */
export type Nearby = { name: string; href: string };

/**
 * Lists of similar organisations: its cause in its city, else region, else country; then the whole country. Lists, because
 * names in the file would go stale with every neighbour; a script adds names.
 */
export function nearbyOf(
  record: NonprofitRecord,
  { causes: ownCauses, country: called }: NonprofitDetail,
  t: Texts,
): Nearby[] {
  const { city, region, country_code } = record;
  const [only] = ownCauses;
  const cause = only === undefined ? t.text("nearby.any") : t.word(only.name);
  const country = called === null ? null : t.countryInSentence(called);
  const whole = { ...noFilters, country: country_code };
  const inPlace = [
    { key: "nearby.cause_in_city", place: city, filters: { ...whole, region, city } },
    { key: "nearby.cause_in_region", place: region, filters: { ...whole, region } },
    { key: "nearby.cause_in_country", place: country, filters: whole },
  ] as const;
  const nearest = inPlace.find(({ place }) => place !== null);
  const link = (name: string, filters: typeof noFilters): Nearby => ({
    name,
    href: listPath({ filters, sort: "relevance" }, 1),
  });
  const nearby: Nearby[] = [];
  if (nearest !== undefined) {
    const place = isolated(clipped(nearest.place ?? "", 60));
    const filters = { ...nearest.filters, cause: only?.id ?? null };
    nearby.push(link(t.text(nearest.key, { cause, place }), filters));
  }
  if (only === undefined) return nearby;
  const wider =
    country === null
      ? link(t.text("nearby.cause", { cause }), { ...noFilters, cause: only.id })
      : link(t.text("nearby.country", { place: country }), whole);
  return [...nearby, wider];
}
