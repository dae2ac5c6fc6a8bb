import type { NonprofitRecord, StoredProvenance } from "#content/nonprofit/record.ts";
import type { Outline } from "./outline.ts";
import type { Random } from "./random.ts";

/** No value is younger: the sample is the same whenever it is made. */
const newestMs = Date.UTC(2026, 7, 31, 18);
const dayMs = 86_400_000;

const agentNames = [
  "field-notes-agent",
  "harbour-reader",
  "ledger-lark",
  "second-look",
  "tidewater-agent",
  "almanac-agent",
  "open-pages-bot",
  "night-owl-research",
  "civic-index-agent",
  "paper-trail-agent",
];

const fromRegister = new Set([
  "name",
  "country_code",
  "region",
  "city",
  "causes",
  "registrations",
  "founded_year",
  "annual_budget_usd",
]);
const byConsensus = ["website", "city", "region", "founded_year", "contact_email"] as const;
const unsourced = new Set([
  "id",
  "slug",
  "verified",
  "status",
  "wallet_challenge",
  "wallet_signature",
  "register",
  "register_scope",
  "created_at",
  "updated_at",
  "provenance",
]);

/** Where each filled field came from: the sample's register, the organisation, or two or three agreeing agents. */
export function sampleProvenance(
  record: NonprofitRecord,
  { tier, random }: Outline,
): Record<string, StoredProvenance> {
  const register = source("register", "sample", null, ageMs(random, 30, 900));
  const organisation = source(
    "organisation",
    "organisation",
    record.website,
    ageMs(random, 5, 500),
  );
  const provenance: Record<string, StoredProvenance> = {};
  for (const [field, value] of Object.entries(record)) {
    if (unsourced.has(field) || isEmpty(value)) continue;
    const own = tier === "verified" && !fromRegister.has(field);
    provenance[field] = own ? organisation : register;
  }
  if (tier === "thin" || !random.chance(12)) return provenance;
  for (const field of random.some(byConsensus, random.between(1, 2))) {
    if (provenance[field] === undefined || provenance[field] === organisation) continue;
    const agents = random.some(agentNames, random.between(2, 3));
    const page = record.website === null ? null : `${record.website}/about`;
    provenance[field] = source("consensus", "consensus", page, ageMs(random, 0, 240), agents);
  }
  return provenance;
}

const source = (
  set_by: StoredProvenance["set_by"],
  name: string,
  source_url: string | null,
  applied_at: number,
  agents: string[] = [],
): StoredProvenance => ({ set_by, source: name, source_url, agents, applied_at });

const ageMs = (random: Random, low: number, high: number): number =>
  newestMs - random.between(low, high) * dayMs - random.below(86_400) * 1_000;

const isEmpty = (value: unknown): boolean =>
  value === null || value === 0 || (Array.isArray(value) && value.length === 0);
