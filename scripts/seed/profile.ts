import type { NonprofitRecord } from "#content/shapes/record.ts";
import { annualBudgetUsd, beneficiariesPerYear, foundedYear, teamSize } from "./numbers.ts";
import type { Outline } from "./outline.ts";
import { sampleProvenance } from "./provenance.ts";
import { sampleTexts } from "./texts.ts";
import { sampleWallet } from "./wallet.ts";

/** In how many of 100 profiles of a tier a field is filled. */
const shares = {
  thin: { place: 93, causes: 93, founded: 66, budget: 55, website: 9, reach: 0, tagline: 0, mission: 4, description: 0, programs: 0, metrics: 0, email: 3, donation: 0 },
  medium: { place: 97, causes: 98, founded: 84, budget: 66, website: 86, reach: 52, tagline: 38, mission: 93, description: 36, programs: 12, metrics: 8, email: 46, donation: 30 },
  rich: { place: 100, causes: 100, founded: 97, budget: 88, website: 98, reach: 90, tagline: 86, mission: 100, description: 95, programs: 90, metrics: 82, email: 80, donation: 76 },
  verified: { place: 100, causes: 100, founded: 100, budget: 94, website: 100, reach: 97, tagline: 95, mission: 100, description: 100, programs: 100, metrics: 94, email: 100, donation: 84 },
} as const; // prettier-ignore

const healthAndDevelopment = new Set([
  "health", "water-sanitation", "food-security", "poverty-reduction", "education", "refugees", "gender-equality",
]); // prettier-ignore
const highIncome = new Set([
  "US", "GB", "CA", "AU", "IE", "NZ", "FR", "ES", "PT", "IT", "CL", "DE", "NL", "SE", "NO", "DK", "PL",
]); // prettier-ignore

/** The whole profile of an outline under its settled slug. Every host ends in .example. */
export function profileOf(seedNumber: number, outline: Outline, slug: string): NonprofitRecord {
  const { index, tier, random, name, country_code, causes } = outline;
  const has = (part: keyof (typeof shares)["thin"]): boolean => random.chance(shares[tier][part]);
  const site = `https://${slug.slice(0, 60).replace(/-+$/, "")}.example`;
  const founded_year = has("founded") ? foundedYear(random) : null;
  const annual_budget_usd = has("budget") ? annualBudgetUsd(random) : null;
  const beneficiaries_per_year = has("reach") ? beneficiariesPerYear(random) : null;
  const team_size =
    annual_budget_usd !== null &&
    annual_budget_usd > 30_000 &&
    (tier === "rich" || tier === "verified")
      ? teamSize(random, annual_budget_usd)
      : null;
  const placed = has("place");
  const verified = tier === "verified" ? 1 : 0;
  const texts = sampleTexts(outline, has, { founded_year, team_size, beneficiaries_per_year });
  const website = has("website") ? site : null;
  const record: NonprofitRecord = {
    id: 0,
    slug,
    name,
    ...texts,
    country_code,
    region: placed ? outline.region : null,
    city: placed ? outline.city : null,
    website,
    donation_url: website !== null && has("donation") ? `${website}/donate` : null,
    logo_url: null, // Nothing answers under .example, and a page with broken images helps nobody.
    contact_email: has("email") ? mailbox(outline, site) : null,
    usdc_wallet: verified === 1 ? sampleWallet(seedNumber, index) : null,
    wallet_challenge: null,
    wallet_signature: null,
    beneficiaries_per_year,
    founded_year,
    annual_budget_usd,
    team_size,
    ghd_aligned: alignedWithHealthAndDevelopment(outline) ? 1 : 0,
    verified,
    status: verified === 1 ? "claimed" : "listed",
    causes: has("causes") ? causes : [],
    registrations: [registration(seedNumber, outline)],
    register: "sample",
    register_scope: `sample:${seedNumber}`,
    created_at: 0,
    updated_at: 0,
    provenance: {},
  };
  record.provenance = sampleProvenance(record, outline);
  return record;
}

const mailbox = ({ random }: Outline, site: string): string =>
  `${random.pick(["hello", "office", "info", "contact", "team"])}@${site.slice("https://".length)}`;

function alignedWithHealthAndDevelopment({ country_code, causes, tier, random }: Outline): boolean {
  if (highIncome.has(country_code) || !healthAndDevelopment.has(causes[0])) return false;
  return random.chance(tier === "thin" ? 12 : 55);
}

/** A number no register gives: org-ids with XS are for user-assigned codes, and this one says what it is. */
function registration(seedNumber: number, { index, country_code }: Outline) {
  const serial = String(index + 1).padStart(7, "0");
  const number = seedNumber === 1 ? serial : `${seedNumber}-${serial}`;
  return {
    country_code,
    type: "Sample register",
    registration_number: `SAMPLE-${number}`,
    org_id: `XS-SAMPLE-${number}`,
  };
}
