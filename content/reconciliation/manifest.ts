import properties from "#content/editorial/reconciliation-properties.json";
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
  // An extension of the specification: when a candidate has match true (docs/decisions/22-reconciliation.md).
  match: { score_from: matchFrom, ahead_of_next: matchAhead },
});

/** The answer of GET /reconcile: version 0.2. */
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

/** The answer of GET /reconcile/v1: 1.0-draft, which has another form of suggest. */
export const draftManifest = (baseUrl: string) => ({
  versions: ["1.0-draft"],
  ...common(baseUrl),
  view: { url: `${baseUrl}/nonprofits/{id}` },
  preview,
  suggest: { entity: true, property: true, type: true },
  extend: { proposeProperties: true, propertySettings: [] },
  standardizedScore: true,
});

/** The only type: everything in the directory. */
export const type = { id: "nonprofit", name: "Nonprofit" } as const;

type Value = string | number | null | readonly string[];

/** The values of a property in the form of data extension, mostly from the field with that name; none if unknown. */
export function cellsOf(profile: NonprofitDetail, id: string): Cell[] {
  const extra = { org_id: profile.identifiers, causes: profile.causes.map((cause) => cause.id) };
  const isProperty = properties.some((property) => property.id === id);
  const values: Readonly<Record<string, unknown>> = { ...profile, ...extra };
  const value = (isProperty ? values[id] : null) as Value | undefined;
  return [value ?? []].flat().map((each) => {
    if (typeof each === "string") return { str: each };
    return Number.isInteger(each) ? { int: each } : { float: each };
  });
}
