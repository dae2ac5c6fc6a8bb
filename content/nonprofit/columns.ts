import type { NonprofitRecord } from "./record.ts";

/** The columns of `nonprofits`, in the order in which they are read and written. */
export const columns = [
  "id", "slug", "name", "tagline", "mission", "description", "country_code", "region", "city", "website",
  "donation_url", "logo_url", "contact_email", "usdc_wallet", "wallet_challenge", "wallet_signature",
  "beneficiaries_per_year", "founded_year", "annual_budget_usd", "team_size", "ghd_aligned", "verified", "status",
  "register", "register_scope", "created_at", "updated_at",
] as const satisfies readonly (keyof NonprofitRecord)[]; // prettier-ignore
