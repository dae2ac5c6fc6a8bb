import { noFilters } from "#content/contract/browse.ts";
import type { NonprofitDetail, RegisterFacts } from "#content/contract/nonprofit.ts";
import causes from "#content/editorial/causes.json";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { listPath } from "./list-view.ts";
import { counted, joined } from "./words.ts";

const organisations = new Map(causes.map(({ id, organisation }) => [id, organisation]));

/**
 * What an organisation is, in a sentence made of facts alone: "Arts organisation in Honolulu, tax-exempt since 1994;
 * gifts are deductible from US tax." "" for a profile with none of them.
 */
export function sentenceOf(detail: NonprofitDetail): string {
  const { status, register_facts, founded_year, beneficiaries_per_year: people } = detail;
  const open = status === "withdrawn" ? [] : register_facts.filter(isListed);
  const facts = [
    whatAndWhere(detail),
    standingOf(register_facts, open) ?? (founded_year && `founded in ${founded_year}`),
    people && `reaching ${counted(people, "person", "people")} a year`,
  ];
  const sentence = joined([joined(facts.filter(isText), ", "), giftsOf(open)], "; ");
  return sentence === "" ? "" : `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

const isText = (part: unknown): part is string => typeof part === "string";

function whatAndWhere({ causes: known, city, region, country }: NonprofitDetail): string {
  const kind = organisations.get(known[0]?.id ?? "");
  const place = city ?? region ?? (country && withArticle(country));
  return place ? `${kind ?? "Nonprofit"} in ${place}` : (kind ?? "");
}

const isListed = ({ state }: RegisterFacts): boolean =>
  state === "registered" || state === "reinstated";

/** "tax-exempt since 1994", "registered charity since 1990", or what a revocation says; null where no register says any. */
function standingOf(all: readonly RegisterFacts[], open: readonly RegisterFacts[]): string | null {
  const revoked = all.find(({ state }) => state === "revoked");
  if (revoked !== undefined) {
    return joined(["whose tax exemption was revoked", yearOf(revoked, "revoked", "in")], " ");
  }
  const exempt = open.find((one) => said(one, "tax_status")?.includes("tax-exempt"));
  if (exempt !== undefined) return joined(["tax-exempt", yearOf(exempt, "ruling", "since")], " ");
  const registered = open.find((one) => said(one, "registered") !== null);
  return registered === undefined
    ? null
    : joined(["registered charity", yearOf(registered, "registered", "since")], " ");
}

/** "since 1994"; null for no year. */
function yearOf(register: RegisterFacts, name: string, word: string): string | null {
  const year = /^\d{4}/.exec(said(register, name) ?? "")?.[0];
  return year === undefined ? null : `${word} ${year}`;
}

const said = ({ fields }: RegisterFacts, name: string): string | null => {
  const value = fields.find((fact) => fact.name === name)?.value;
  return value === undefined ? null : String(value);
};

/** "gifts are deductible from US tax", without the conditions that the register adds. */
function giftsOf(open: readonly RegisterFacts[]): string | null {
  const words = open.map((one) => said(one, "deductibility")).find((one) => one !== null);
  if (words === undefined) return null;
  const [short = ""] = words.split(/,| \(/);
  return `gifts are ${short.charAt(0).toLowerCase()}${short.slice(1)}`;
}

const named =
  /^(?:United |Netherlands|Philippines|Gambia|Bahamas|Maldives|Comoros)|Islands$| Republic/;
const withArticle = (country: string): string => (named.test(country) ? `the ${country}` : country);

/** A list that a nonprofit stands in among its like. */
export type Nearby = { name: string; href: string };

/**
 * Lists of similar organisations, the nearest first: its cause in its city, region and country, then the whole cause and
 * the whole country, which are files of every bundle. Links and not names: those would go stale with every neighbour.
 */
export function nearbyOf(record: NonprofitRecord, { causes: known, country }: NonprofitDetail) {
  const { city, region, country_code } = record;
  const [cause] = known;
  const whole = { ...noFilters, country: country_code };
  const inPlace = [
    { place: city, filters: { ...whole, region, city } },
    { place: region, filters: { ...whole, region } },
    { place: country === null ? null : withArticle(country), filters: whole },
  ];
  const link = (name: string, filters: typeof noFilters): Nearby => ({
    name,
    href: listPath({ filters, sort: "relevance" }, 1),
  });
  const found = inPlace.flatMap(({ place, filters }) => {
    const name = `${cause?.name ?? "Nonprofits"} in ${place}`;
    return place === null ? [] : link(name, { ...filters, cause: cause?.id ?? null });
  });
  return [
    ...found,
    ...(cause === undefined
      ? []
      : [link(`All of ${cause.name}`, { ...noFilters, cause: cause.id })]),
    ...(cause === undefined || country === null
      ? []
      : [link(`All nonprofits in ${withArticle(country)}`, whole)]),
  ];
}
