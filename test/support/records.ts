import type { NonprofitRecord } from "#content/shapes/record.ts";

let made = 0;

/** A nonprofit as it could be stored; a test names only what matters to it. Slug and name are new each time. */
export function aNonprofit(parts: Partial<NonprofitRecord> = {}): NonprofitRecord {
  made += 1;
  const name = parts.name ?? `Sample Trust ${made}`;
  return {
    id: 0,
    slug: `sample-trust-${made}`,
    name,
    tagline: null,
    mission: null,
    description: null,
    country_code: "KE",
    region: null,
    city: null,
    website: null,
    donation_url: null,
    logo_url: null,
    contact_email: null,
    usdc_wallet: null,
    wallet_challenge: null,
    wallet_signature: null,
    beneficiaries_per_year: null,
    founded_year: null,
    annual_budget_usd: null,
    team_size: null,
    ghd_aligned: 0,
    verified: 0,
    status: "listed",
    causes: ["education"],
    programs: [],
    impact_metrics: [],
    registrations: [],
    register: null,
    register_scope: null,
    created_at: 0,
    updated_at: 0,
    provenance: {},
    ...parts,
  };
}
