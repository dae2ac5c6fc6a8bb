import { batchMax } from "#content/contract/reconciliation.ts";
import { matchAhead, matchFrom } from "./match.ts";
import { type } from "./properties.ts";

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
