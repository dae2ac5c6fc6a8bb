import type { StructuredField } from "#content/contract/enrichment.ts";
import type { Random } from "../../seed/random.ts";

/** What a value is made from: the name of the profile and two numbers of its own. */
export type About = { slug: string; place: number; founded: number };

const cities = [
  "Nairobi",
  "São Paulo",
  "Saint Louis",
  "Zürich",
  "Port Harcourt",
  "Tromsø",
  "Kraków",
  "San José",
  "New Plymouth",
  "Ciudad Juárez",
  "Malmö",
  "Cape Town",
  "Chiang Mai",
  "Le Havre",
  "Santa Fe",
  "Gdańsk",
] as const;
const regions = [
  "Nairobi County",
  "Minas Gerais",
  "New Mexico",
  "Île-de-France",
  "Rivers State",
  "Västra Götaland",
  "North Island",
  "Western Cape",
  "Baden-Württemberg",
  "Nova Scotia",
  "Lower Silesia",
  "Chiang Mai Province",
] as const;

const at = (list: readonly string[], index: number): string => list[index % list.length] ?? "";

/** The planted truth. */
export const trueValue: Readonly<Record<StructuredField, (about: About) => string>> = {
  website: ({ slug }) => `https://${slug}.example`,
  contact_email: ({ slug }) => `office@${slug}.example`,
  city: ({ place }) => at(cities, place),
  region: ({ place }) => at(regions, place),
  founded_year: ({ founded }) => String(founded),
};

/** As true, but compared as another value: the rules fold neither letter case of places nor pages of one site. */
export const otherSpelling: Readonly<Record<StructuredField, (value: string) => string>> = {
  website: (value) => `${value}/home`,
  contact_email: (value) => value.replace("office@", "info@"),
  city: (value) => value.toUpperCase(),
  region: (value) => value.toUpperCase(),
  founded_year: (value) => value,
};

/** What an outdated source says: the same for everyone who believes it. */
export const outdatedValue: Readonly<Record<StructuredField, (about: About) => string>> = {
  website: ({ slug }) => `https://old-${slug}.example`,
  contact_email: ({ slug }) => `contact@old-${slug}.example`,
  city: ({ place }) => at(cities, place + 5),
  region: ({ place }) => at(regions, place + 5),
  founded_year: ({ founded }) => String(founded + 7),
};

/** A mistake of one's own: a namesake, a neighbouring place, a year beside it. Two agents rarely make the same. */
export const mistakenValue: Readonly<
  Record<StructuredField, (about: About, random: Random) => string>
> = {
  website: ({ slug }, random) => `https://${slug}-${random.between(1, 9)}.example`,
  contact_email: ({ slug }, random) => `office@${slug}-${random.between(1, 9)}.example`,
  city: ({ place }, random) => at(cities, place + random.between(1, 4)),
  region: ({ place }, random) => at(regions, place + random.between(1, 4)),
  founded_year: ({ founded }, random) => String(founded + random.between(1, 4)),
};

/** What attackers want to see: their own site and address, and harm elsewhere. */
export const lie: Readonly<Record<StructuredField, (about: About) => string>> = {
  website: ({ slug }) => `https://give-to-${slug}.example`,
  contact_email: ({ slug }) => `gifts@give-to-${slug}.example`,
  city: ({ place }) => at(cities, place + 7),
  region: ({ place }) => at(regions, place + 7),
  founded_year: ({ founded }) => String(founded - 11),
};

/** The same value as another agent would write it: all of these are one value to the rules. */
export function respelled(field: StructuredField, value: string, random: Random): string {
  switch (field) {
    case "website":
      return random.pick([
        value,
        `${value}/`,
        value.replace("https://", "http://www."),
        value.replace("https://", ""),
        `${value.replace("https://", "HTTPS://")}/?utm_source=list`,
        `${value}#about`,
      ]);
    case "contact_email":
      return random.pick([value, value.toUpperCase(), ` ${value}`, value.replace("o", "O")]);
    case "city":
    case "region":
      return random.pick([
        value,
        `${value},`,
        value.normalize("NFD"),
        value.replaceAll(" ", "  "),
        ` ${value} `,
      ]);
    case "founded_year":
      return random.pick([value, `founded in ${value}`, `${value} (registered)`]);
    default:
      return field satisfies never;
  }
}
