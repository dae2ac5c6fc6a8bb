import type { NonprofitDetail, RegisterFact, RegisterFacts } from "#content/contract/nonprofit.ts";

const escapes: Record<string, string> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/** A value as JSON that can stand in a script element: no text in it can end the element or be taken for markup. */
export const scriptJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, (character) => escapes[character] ?? "");

/** The schema.org view of a page that is no profile. */
export const pageJsonLd = (type: string, url: string, name: string, description: string): string =>
  scriptJson({ "@context": "https://schema.org", "@type": type, name, url, description });

/** The schema.org view of a profile. `website` and `donationPage` are links that `safeLink` let through. */
export function nonprofitJsonLd(
  detail: NonprofitDetail,
  links: { profile: string; website: string | null; donationPage: string | null },
): string {
  const { founded_year } = detail;
  return scriptJson({
    "@context": "https://schema.org",
    "@type": "NGO",
    "@id": `${links.profile}#organisation`,
    name: detail.name,
    url: links.website ?? links.profile,
    mainEntityOfPage: links.profile,
    description: detail.tagline ?? detail.mission ?? undefined,
    foundingDate: founded_year === null ? undefined : String(founded_year),
    numberOfEmployees: detail.team_size ?? undefined,
    address: postalAddress(detail),
    identifier: detail.registrations.map(({ type, registration_number }) => ({
      "@type": "PropertyValue",
      propertyID: type,
      value: registration_number,
    })),
    taxID: detail.identifiers.find((id) => id.startsWith("US-EIN-"))?.slice("US-EIN-".length),
    nonprofitStatus: nonprofitStatus(detail),
    additionalProperty: detail.register_facts.flatMap(({ state, fields }) =>
      state === "gone" || state === "removed" ? [] : fields.map(propertyValue),
    ),
    subjectOf: detail.register_facts.map(registerRecord),
    knowsAbout: detail.causes.map(({ name }) => name),
    potentialAction:
      links.donationPage === null
        ? undefined
        : { "@type": "DonateAction", target: links.donationPage },
  });
}

/** The kind of exemption, where schema.org has a name for it: 501(c)(3) is Nonprofit501c3. */
function nonprofitStatus({ register_facts }: NonprofitDetail): string | undefined {
  const status = register_facts.flatMap(({ state, fields }) =>
    state === "registered" ? fields.filter(({ name }) => name === "tax_status") : [],
  )[0]?.value;
  const kind = /^501\(c\)\((\d+)\)/.exec(String(status))?.[1];
  return kind === undefined || Number(kind) > 28
    ? undefined
    : `https://schema.org/Nonprofit501c${kind}`;
}

const propertyValue = ({ name, label, value, currency, period }: RegisterFact): object => ({
  "@type": "PropertyValue",
  propertyID: name,
  name: label,
  value,
  unitText: currency,
  description: period,
});

/** What the properties come from, as of when. */
const registerRecord = (register: RegisterFacts): object => ({
  "@type": "CreativeWork",
  name: register.register_name,
  url: register.record_url ?? undefined,
  dateModified: register.as_of,
  license: register.licence.url,
  creditText: register.attribution,
});

function postalAddress({ city, region, country }: NonprofitDetail): object | undefined {
  if (city === null && region === null && country === null) return undefined;
  return {
    "@type": "PostalAddress",
    addressLocality: city ?? undefined,
    addressRegion: region ?? undefined,
    addressCountry: country ?? undefined,
  };
}
