import type { ImpactMetric, NonprofitStatus, Program, SetBy } from "#content/contract/nonprofit.ts";

/** What the store holds of one legal registration. */
export type StoredRegistration = {
  country_code: string;
  type: string;
  registration_number: string;
  org_id: string | null;
};

/** Where a stored value came from. */
export type StoredProvenance = {
  set_by: SetBy;
  /** The register (for example irs-bmf), or consensus, operator, organisation. */
  source: string;
  source_url: string | null;
  /** Names of the agents that agreed. */
  agents: string[];
  /** Milliseconds since 1970, UTC. */
  applied_at: number;
};

/** The fields of a nonprofit that a source can set, each with a provenance of its own. */
export type NonprofitFields = {
  name: string;
  tagline: string | null;
  mission: string | null;
  description: string | null;
  country_code: string | null;
  region: string | null;
  city: string | null;
  website: string | null;
  donation_url: string | null;
  logo_url: string | null;
  contact_email: string | null;
  usdc_wallet: string | null;
  beneficiaries_per_year: number | null;
  founded_year: number | null;
  annual_budget_usd: number | null;
  team_size: number | null;
  ghd_aligned: number;
  causes: string[];
  programs: Program[];
  impact_metrics: ImpactMetric[];
  registrations: StoredRegistration[];
};

export type NonprofitField = keyof NonprofitFields;

/** All that the store holds of one nonprofit, as one value. `id` is 0 until it is stored. */
export type NonprofitRecord = NonprofitFields & {
  id: number;
  slug: string;
  verified: number;
  status: NonprofitStatus;
  wallet_challenge: string | null;
  wallet_signature: string | null;
  register: string | null;
  register_scope: string | null;
  created_at: number;
  updated_at: number;
  provenance: Record<string, StoredProvenance>;
};
