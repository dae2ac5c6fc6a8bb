import { batchMax, type Cell } from "#content/contract/reconciliation.ts";
import { matchAhead, matchFrom } from "./match.ts";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";

const draft = "/reconcile/v1";
const preview = { width: 430, height: 300 };

const common = (baseUrl: string) => ({
  name: `Almoner, nonprofits (${new URL(baseUrl).host})`,
  documentation: `${baseUrl}/match`,
  logo: `${baseUrl}/favicon.svg`,
  defaultTypes: [type],
  batchSize: batchMax,
  // Beyond the specification: when a candidate has match true. Source: docs/decisions/0167.
  match: { score_from: matchFrom, ahead_of_next: matchAhead },
});

/** What GET /reconcile answers: version 0.2. */
export function manifest(baseUrl: string) {
  const suggest = (kind: string) => ({
    service_url: baseUrl,
    service_path: `${draft}/suggest/${kind}`,
  });
  return {
    versions: ["0.2"],
    ...common(baseUrl),
    identifierSpace: `${baseUrl}/nonprofits/`,
    schemaSpace: `${baseUrl}/reconcile#`,
    view: { url: `${baseUrl}/nonprofits/{{id}}` },
    preview: { url: `${baseUrl}${draft}/preview?id={{id}}`, ...preview },
    suggest: {
      entity: suggest("entity"),
      property: suggest("property"),
      type: suggest("type"),
    },
    extend: {
      propose_properties: { service_url: baseUrl, service_path: `${draft}/extend/propose` },
      property_settings: [],
    },
  };
}

/** What GET /reconcile/v1 answers: 1.0-draft, in which suggest is said in another form. */
export const draftManifest = (baseUrl: string) => ({
  versions: ["1.0-draft"],
  ...common(baseUrl),
  view: { url: `${baseUrl}/nonprofits/{id}` },
  preview,
  suggest: { entity: true, property: true, type: true },
  extend: { proposeProperties: true, propertySettings: [] },
  standardizedScore: true,
});

/** There is one type: all that the directory holds. */
export const type = { id: "nonprofit", name: "Nonprofit" } as const;

type Property = {
  id: string;
  name: string;
  description: string;
  valueOf: (one: NonprofitDetail) => string | number | null | readonly string[];
};

/** What can be fetched of a nonprofit; by the first four names are matched, too. */
export const properties: readonly Property[] = [
  {
    id: "org_id",
    name: "Register number (org-id)",
    description: "To match: any usual spelling, such as 53-0196605. It decides alone.",
    valueOf: ({ identifiers }) => identifiers,
  },
  {
    id: "country",
    name: "Country",
    description: "To match: English name or ISO 3166 code",
    valueOf: ({ country }) => country,
  },
  {
    id: "region",
    name: "State, province or region",
    description: "To match: as registers write it",
    valueOf: ({ region }) => region,
  },
  {
    id: "city",
    name: "City",
    description: "To match: letter case and accents do not matter",
    valueOf: ({ city }) => city,
  },
  ...plain("name", "Name"),
  ...plain("website", "Website"),
  ...plain("tagline", "Tagline"),
  ...plain("mission", "Mission"),
  ...plain("donation_url", "Donation page"),
  ...plain("founded_year", "Founded in"),
  ...plain("beneficiaries_per_year", "People reached in a year"),
  ...plain("annual_budget_usd", "Annual budget in US dollars"),
  ...plain("status", "Status here", "listed, claimed or withdrawn"),
  ...plain("usdc_wallet", "USDC wallet", "On Solana"),
  {
    id: "causes",
    name: "Causes",
    description: "Their ids",
    valueOf: ({ causes }) => causes.map(({ id }) => id),
  },
];

type PlainField = {
  [Name in keyof NonprofitDetail]: NonprofitDetail[Name] extends string | number | null | undefined
    ? Name
    : never;
}[keyof NonprofitDetail];

function plain(id: PlainField & string, name: string, description = ""): Property[] {
  return [{ id, name, description, valueOf: (one) => one[id] ?? null }];
}

/** The values of a property as data extension writes them; none for what is unknown. */
export function cellsOf(one: NonprofitDetail, id: string): Cell[] {
  const value = properties.find((property) => property.id === id)?.valueOf(one) ?? [];
  return [value].flat().map((each) => {
    if (typeof each === "string") return { str: each };
    return Number.isInteger(each) ? { int: each } : { float: each };
  });
}
