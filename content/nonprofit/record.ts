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

/** A nonprofit of which nothing is known yet; id 0 until it is stored. */
export const emptyRecord: NonprofitRecord = {
  id: 0,
  slug: "",
  name: "",
  tagline: null,
  mission: null,
  description: null,
  country_code: null,
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
  causes: [],
  programs: [],
  impact_metrics: [],
  registrations: [],
  register: null,
  register_scope: null,
  created_at: 0,
  updated_at: 0,
  provenance: {},
};

/** The columns of `nonprofits`, in the order in which they are read and written. */
export const columns = [
  "id",
  "slug",
  "name",
  "tagline",
  "mission",
  "description",
  "country_code",
  "region",
  "city",
  "website",
  "donation_url",
  "logo_url",
  "contact_email",
  "usdc_wallet",
  "wallet_challenge",
  "wallet_signature",
  "beneficiaries_per_year",
  "founded_year",
  "annual_budget_usd",
  "team_size",
  "ghd_aligned",
  "verified",
  "status",
  "register",
  "register_scope",
  "created_at",
  "updated_at",
] as const satisfies readonly (keyof NonprofitRecord)[];
