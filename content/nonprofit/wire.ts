import { fieldsWhere } from "#content/contract/fields.ts";
import {
  listLimit,
  type NonprofitDetail,
  type NonprofitList,
  type NonprofitSummary,
} from "#content/contract/nonprofit.ts";
import {
  type BrowseQuery,
  type FacetCounts,
  browseParams,
  causeName,
  staticPagesMax,
} from "#content/contract/browse.ts";
import { isoTime } from "#content/contract/base/time.ts";
import { facetsAnswer, incomeBand } from "./filters.ts";
import {
  categoryIn,
  countingRecords,
  financesOf,
  isFiling,
  publicFacts,
  standingIn,
} from "./register-facts.ts";
import { countryName } from "./country.ts";
import { allGiverAnswers } from "./giver-answers.ts";
import { incomeOf } from "./listing.ts";
import { confidenceIn } from "./provenance.ts";
import { shownName, withoutAddress } from "./public-name.ts";
import type { NonprofitRecord, StoredProvenance } from "./record.ts";
import { type GivingPlace, waysToGive } from "./ways-to-give.ts";

/** The columns of a summary, besides the causes. */
export const summaryColumns = [
  "id",
  "slug",
  "name",
  "tagline",
  "mission",
  "country_code",
  "city",
  "region",
  "website",
  "donation_url",
  "usdc_wallet",
  "status",
  "logo_url",
  "beneficiaries_per_year",
  "founded_year",
  "ghd_aligned",
  "verified",
] as const;
export type SummarySource = Pick<
  NonprofitRecord,
  (typeof summaryColumns)[number] | "causes" | "register_records"
>;

/**
 * A nonprofit as an item of a list. Answers have the donation page under two names; it is stored once. `baseUrl` has no
 * trailing slash.
 */
export const toSummary = (n: SummarySource, baseUrl: string): NonprofitSummary => ({
  id: String(n.id),
  slug: n.slug,
  name: n.name,
  tagline: n.tagline,
  mission: n.mission,
  country: countryName(n.country_code),
  city: n.city,
  region: n.region,
  website: n.website,
  donation_url: n.donation_url,
  donate_url: n.donation_url,
  give_url: giveUrl(n, baseUrl),
  logo_url: n.logo_url,
  beneficiaries_per_year: n.beneficiaries_per_year,
  founded_year: n.founded_year,
  ghd_aligned: n.ghd_aligned,
  verified: n.verified,
  causes: n.causes,
  category: categoryIn(n.register_records),
  income_band: incomeBand(incomeOf(n)),
  standing: standingIn(n.register_records),
});

/** Where this directory accepts USDC for a nonprofit; null without a wallet, and for a withdrawn one. */
export const giveUrl = (
  { usdc_wallet, status, slug }: Pick<SummarySource, "usdc_wallet" | "status" | "slug">,
  baseUrl: string,
): string | null =>
  usdc_wallet === null || status === "withdrawn" ? null : `${baseUrl}/api/donate/${slug}`;

/** The full public profile, the same in GET /api/nonprofits/{slug} and in the bundle's file. */
export const toDetail = (
  n: NonprofitRecord,
  baseUrl: string,
  givingLinks: GivingPlace["givingLinks"] = [],
): NonprofitDetail => ({
  ...toSummary(n, baseUrl),
  description: n.description,
  ...(n.usdc_wallet === null ? {} : { usdc_wallet: n.usdc_wallet }),
  ...(n.wallet_challenge === null || n.wallet_signature === null
    ? {}
    : { wallet_proof: { challenge: n.wallet_challenge, signature: n.wallet_signature } }),
  annual_budget_usd: n.annual_budget_usd,
  team_size: n.team_size,
  has_contact_email: n.contact_email !== null,
  status: n.status,
  ...(n.merged_into === null ? {} : { merged_into: n.merged_into }),
  causes: causesOf(n),
  ways_to_give: waysToGive(n, { baseUrl, givingLinks }),
  programs: n.programs,
  impact_metrics: n.impact_metrics,
  ...registrationsOf(n),
  register_facts: publicFacts(n.register_records),
  giver_answers: allGiverAnswers(n.register_records),
  finances: financesOf(countingRecords(n.register_records)),
  provenance: provenanceOf(n),
  enriched_by: enrichedBy(n),
  updated_at: isoTime(n.updated_at),
});

function causesOf({ causes, provenance }: NonprofitRecord): NonprofitDetail["causes"] {
  const rule = provenance["causes"]?.rule;
  return causes.map((id) => {
    const name = causeName(id);
    const confidence = confidenceIn(rule, name);
    return { id, name, ...(confidence === undefined ? {} : { confidence }) };
  });
}

/** The registrations as profiles and receipts show them. */
export const registrationsOf = ({ registrations }: Pick<NonprofitRecord, "registrations">) => ({
  registrations: registrations.map(({ country_code, type, registration_number, linked_by }) => ({
    country: countryName(country_code) ?? country_code,
    type,
    registration_number,
    ...(linked_by === undefined ? {} : { linked_by }),
  })),
  identifiers: registrations.flatMap(({ org_id }) => org_id ?? []),
});

function provenanceOf({ provenance }: NonprofitRecord): NonprofitDetail["provenance"] {
  const wireProvenance: NonprofitDetail["provenance"] = {};
  for (const field in provenance) {
    const from = provenance[field];
    if (from === undefined) continue;
    wireProvenance[field] = {
      source: sourceOf(from),
      source_url: withoutAddress(from.source_url),
      ...(from.rule === undefined ? {} : { rule: from.rule }),
      agents: [...new Set(from.agents.map(shownName))],
      ...(from.corroborations === undefined ? {} : { corroborations: from.corroborations }),
      applied_at: isoTime(from.applied_at),
    };
  }
  return wireProvenance;
}

/** Which agent completed which field, for clients written for another directory. */
const enrichedBy = ({ provenance }: NonprofitRecord): NonprofitDetail["enriched_by"] =>
  Object.entries(provenance)
    .sort(([, a], [, b]) => b.applied_at - a.applied_at)
    .flatMap(([field, { agents, applied_at }]) =>
      [...new Set(agents.map(shownName))].map((agent_name) => ({
        agent_name,
        field,
        reviewed_at: isoTime(applied_at),
      })),
    )
    .slice(0, 20);

/** For a filing, `rule` only names the form; nothing was derived. */
function sourceOf({ set_by, source, rule }: StoredProvenance): string {
  if (set_by !== "register") return set_by;
  return `${rule === undefined || isFiling(source) ? "register" : "derived"}:${source}`;
}

/** Fields of the store that have another name in public. */
const publicNames: Readonly<Record<string, string>> = {
  country_code: "country",
  register_records: "register_facts",
  wallet_challenge: "wallet_proof",
  wallet_signature: "wallet_proof",
};

/** The public names of changed fields, each once. */
export const publicFields = (fields: readonly string[]): string[] => [
  ...new Set(fields.map((field) => publicNames[field] ?? field)),
];

/** "jane@example-host.org" → "j…@example-host.org", so that a second agent must find the address itself. */
function maskEmail(address: string): string {
  const at = address.lastIndexOf("@");
  const first = Array.from(address)[0] ?? "";
  return at < 1 ? `${first}…` : `${first}…${address.slice(at)}`;
}

/** A value as it may be public: contact_email is masked. */
export const publicValue = (field: string, value: string): string =>
  field === "contact_email" ? maskEmail(value) : value;

/** Fields with one value each, whose old and new values a history shows. */
export const tracedFields: readonly string[] = [
  ...fieldsWhere("traced").map((name) => (name === "country" ? "country_code" : name)),
  "usdc_wallet",
];
const traced: ReadonlySet<string> = new Set(tracedFields);
const tracedLengthMax = 300;

/** A traced value as a history shows it: public, at most 300 characters. Null for null. */
export function tracedValue(field: string, value: string | number | null): string | null {
  if (value === null) return null;
  const text = publicValue(field, String(value));
  if (field === "country_code") return countryName(text);
  // Do not leave half of a surrogate pair.
  return text.length > tracedLengthMax
    ? `${text.slice(0, tracedLengthMax - 1).replace(/[\uD800-\uDBFF]$/, "")}…`
    : text;
}

/** The values of those of these fields that are traced; null if none is. */
export function tracedValues(
  record: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): Record<string, string | null> | null {
  const held = fields.filter((field) => traced.has(field));
  const valueOf = (value: unknown) =>
    typeof value === "string" || typeof value === "number" ? value : null;
  return held.length === 0
    ? null
    : Object.fromEntries(held.map((field) => [field, tracedValue(field, valueOf(record[field]))]));
}

/** One page of GET /api/nonprofits; `answerBytes` gives the same bytes in the service and the bundle. */
export function listAnswer({
  baseUrl,
  query,
  total,
  nonprofits,
  facets,
}: {
  /** Without a trailing slash. */
  baseUrl: string;
  query: BrowseQuery;
  total: number;
  nonprofits: NonprofitSummary[];
  facets?: FacetCounts;
}): NonprofitList {
  const { limit, offset } = query;
  const isWhole = limit === listLimit.default && browseParams(query).size === 0;
  const at = (start: number) => {
    const page = start / limit + 1;
    // The first pages of the whole list are files, which readers can fetch without the service.
    if (isWhole && page === 1) return `${baseUrl}/api/nonprofits`;
    if (isWhole && Number.isInteger(page) && page <= staticPagesMax) {
      return `${baseUrl}/api/nonprofits/pages/${page}.json`;
    }
    const params = browseParams(query);
    params.set("limit", String(limit));
    params.set("offset", String(start));
    return `${baseUrl}/api/nonprofits?${params.toString()}`;
  };
  return {
    total,
    count: nonprofits.length,
    limit,
    offset,
    next: offset + limit < total ? at(offset + limit) : null,
    prev: offset > 0 ? at(Math.max(0, Math.min(offset, total) - limit)) : null,
    note: null,
    nonprofits,
    ...(facets === undefined ? {} : { facets: facetsAnswer(facets) }),
  };
}
