import { safeLink } from "#content/nonprofit/safe-link.ts";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import type { Network } from "#content/giving/network.ts";
import { countryCode } from "#content/nonprofit/country.ts";
import type { Fact } from "./profile-facts.ts";
import { scriptJson } from "#site/parts/page-head.ts";

/**
 * The schema.org form of a profile: the values for which schema.org has a property, and as a Dataset what only this
 * directory records. Origins and what registers say are on the page and in the JSON. See docs/decisions/37.
 */
export function nonprofitJsonLd(
  detail: NonprofitDetail,
  facts: readonly Fact[],
  { profile, network }: { profile: string; network: Network["words"] },
): string {
  const { founded_year, team_size, register_facts } = detail;
  const website = facts.find(({ field }) => field === "website")?.href ?? undefined;
  const registerPages = register_facts.flatMap(({ record_url }) => safeLink(record_url) ?? []);
  return scriptJson({
    "@context": "https://schema.org",
    "@type": "NGO",
    name: detail.name,
    url: website ?? profile,
    mainEntityOfPage: website && profile,
    sameAs: some([...new Set(registerPages)]),
    slogan: detail.tagline ?? undefined,
    description: detail.mission ?? undefined,
    foundingDate: founded_year === null ? undefined : String(founded_year),
    numberOfEmployees:
      team_size === null ? undefined : { "@type": "QuantitativeValue", value: team_size },
    address: postalAddress(detail),
    areaServed: some(areasOf(detail)),
    identifier: some([
      ...detail.registrations.map(({ type, registration_number }) =>
        property(type, registration_number),
      ),
      ...detail.identifiers.map((id) => property("org-id", id)),
    ]),
    taxID: detail.identifiers.find((id) => id.startsWith("US-EIN-"))?.slice("US-EIN-".length),
    nonprofitStatus: nonprofitStatus(detail),
    knowsAbout: some(detail.causes.map(({ name }) => name)),
    makesOffer: some(detail.programs.map(programme)),
    potentialAction: some(donateActions(detail, network)),
    subjectOf: directoryRecord(detail, profile),
  });
}

/** Undefined for an empty list, so that its property is left out. */
const some = <Item>(list: readonly Item[]): readonly Item[] | undefined =>
  list.length === 0 ? undefined : list;

const property = (propertyID: string, value: unknown, more: object = {}): object => ({
  "@type": "PropertyValue",
  propertyID,
  value,
  ...more,
});

/** Where it says that it works; its seat does not count. */
const areasOf = ({ programs, register_facts }: NonprofitDetail): string[] => {
  const ofRegisters = register_facts.flatMap(({ fields }) =>
    fields.filter(({ name }) => areaNames.has(name)).map(({ value }) => String(value)),
  );
  return [...new Set([...programs.flatMap(({ location }) => location ?? []), ...ofRegisters])];
};
const areaNames: ReadonlySet<string> = new Set(["states", "countries"]);

const programme = (program: NonprofitDetail["programs"][number]): object => ({
  "@type": "Offer",
  itemOffered: {
    "@type": "Service",
    name: program.name,
    description: program.description ?? undefined,
    areaServed: program.location ?? undefined,
    serviceOutput:
      program.beneficiaries_per_year === null
        ? undefined
        : property("beneficiaries_per_year", program.beneficiaries_per_year),
  },
});

/** The ways to give that take a gift directly; on a website a donor must first look for one. */
function donateActions({ ways_to_give, usdc_wallet }: NonprofitDetail, network: Network["words"]) {
  const usdc = {
    "@type": "PaymentMethod",
    name: `USDC on ${network.name}`,
    description: network.notice ?? undefined,
    identifier: usdc_wallet,
  };
  return ways_to_give.flatMap(({ kind, url: target }) => {
    const instrument = kind === "usdc" ? usdc : undefined;
    return kind === "website" ? [] : { "@type": "DonateAction", target, instrument };
  });
}

/** Values for which schema.org's organisation has no property; undefined when there are none. */
function directoryRecord(detail: NonprofitDetail, profile: string): object | undefined {
  const measured = [
    ...(["description", "beneficiaries_per_year", "annual_budget_usd"] as const).flatMap((field) =>
      detail[field] === null ? [] : property(field, detail[field]),
    ),
    ...detail.impact_metrics.map(({ name, value, unit, period }) =>
      property("impact_metrics", value, {
        name,
        unitText: unit ?? undefined,
        description: period ?? undefined,
      }),
    ),
  ];
  if (measured.length === 0) return undefined;
  return {
    "@type": "Dataset",
    name: `${detail.name} in Almoner`,
    description: "What this directory records of the organisation, and where each value comes from",
    url: profile,
    dateModified: detail.updated_at,
    variableMeasured: measured,
  };
}

/** The kind of tax exemption, if schema.org has a name for it: 501(c)(3) is Nonprofit501c3. */
function nonprofitStatus({ register_facts }: NonprofitDetail): string | undefined {
  const status = register_facts.flatMap(({ state, fields }) =>
    state === "registered" ? fields.filter(({ name }) => name === "tax_status") : [],
  )[0]?.value;
  const kind = /^501\(c\)\((\d+)\)/.exec(String(status))?.[1];
  return kind === undefined || Number(kind) > 28
    ? undefined
    : `https://schema.org/Nonprofit501c${kind}`;
}

function postalAddress({ city, region, country }: NonprofitDetail): object | undefined {
  if (city === null && region === null && country === null) return undefined;
  return {
    "@type": "PostalAddress",
    addressLocality: city ?? undefined,
    addressRegion: region ?? undefined,
    addressCountry: country === null ? undefined : (countryCode(country) ?? country),
  };
}
