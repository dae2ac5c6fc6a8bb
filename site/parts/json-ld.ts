import type { NonprofitDetail } from "#content/contract/nonprofit.ts";

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
    knowsAbout: detail.causes.map(({ name }) => name),
    potentialAction:
      links.donationPage === null
        ? undefined
        : { "@type": "DonateAction", target: links.donationPage },
  });
}

function postalAddress({ city, region, country }: NonprofitDetail): object | undefined {
  if (city === null && region === null && country === null) return undefined;
  return {
    "@type": "PostalAddress",
    addressLocality: city ?? undefined,
    addressRegion: region ?? undefined,
    addressCountry: country ?? undefined,
  };
}
