import {
  emptyRecord,
  type NonprofitFields,
  type NonprofitRecord,
  sourceFrom,
  type StoredProvenance,
} from "#content/nonprofit/record.ts";
import causeWords from "./causes.json";
import {
  annualBudgetUsd,
  beneficiariesPerYear,
  foundedYear,
  paidFromUsd,
  sampleWallet,
  teamSize,
  arrivalMs,
  type Calendar,
  claimMs,
} from "./numbers.ts";
import { type Outline, richCountries } from "./outline.ts";
import profileTable from "./profile.json";
import { sampleTexts } from "./texts.ts";

/** In how many percent of the profiles of each tier a field is filled. */
const tiers = ["thin", "medium", "rich", "verified"] as const;
const { shares } = profileTable;
const healthAndDevelopment = new Set(profileTable.health_and_development);
const fromRegister = new Set(profileTable.from_register);

/** The complete profile of an outline with its settled slug, as of its arrival. All hosts end in .example. */
export function profileOf(
  seedNumber: number,
  outline: Outline,
  slug: string,
  calendar: Calendar,
): NonprofitRecord {
  const { index, tier, random, name, country_code, causes } = outline;
  const has = (part: Share): boolean => random.chance(shares[part][tiers.indexOf(tier)] ?? 0);
  const site = `https://${hostOf(slug)}`;
  const figures = figuresOf(outline, has);
  const placed = has("place");
  const verified = tier === "verified" ? 1 : 0;
  const texts = sampleTexts(outline, has, figures);
  const website = has("website") ? site : null;
  const draft: SampleProfile = {
    slug,
    name,
    ...texts,
    country_code,
    region: placed ? outline.region : null,
    city: placed ? outline.city : null,
    website,
    donation_url: website !== null && has("donation") ? `${website}/donate` : null,
    logo_url: null, // No host under .example answers, and broken images help no one.
    contact_email: has("email") ? mailbox(outline, site) : null,
    usdc_wallet: verified === 1 ? sampleWallet(seedNumber, index) : null,
    ...figures,
    ghd_aligned: alignedWithHealthAndDevelopment(outline) ? 1 : 0,
    verified,
    status: verified === 1 ? "claimed" : "listed",
    causes: has("causes") ? causes : [],
    registrations: [registration(seedNumber, outline)],
  };
  return {
    ...draft,
    id: 0,
    wallet_challenge: null,
    wallet_signature: null,
    register: "sample",
    register_records: [],
    merged_into: null,
    register_scope: `sample:${seedNumber}`,
    created_at: 0,
    updated_at: 0,
    provenance: sampleProvenance(draft, outline, calendar),
  };
}

/** The profile before its organisation claimed it, without what the organisation says about itself. */
export function beforeClaim(record: NonprofitRecord): NonprofitRecord {
  const ownFields = Object.keys(record.provenance).filter(
    (field) => record.provenance[field]?.set_by === "organisation",
  );
  const listed = { ...record, verified: 0, status: "listed" } as const;
  return {
    ...listed,
    ...Object.fromEntries(
      Object.entries(emptyRecord).filter(([field]) => ownFields.includes(field)),
    ),
    provenance: Object.fromEntries(
      Object.entries(record.provenance).filter(([field]) => !ownFields.includes(field)),
    ),
  };
}

/** The host of a sample organisation. No such host exists. */
export const hostOf = (slug: string): string => `${slug.slice(0, 60).replace(/-+$/, "")}.example`;

type SampleProfile = NonprofitFields & Pick<NonprofitRecord, "slug" | "verified" | "status">;
type Share = keyof typeof shares;

/** Consistent numbers: a larger budget pays more people and reaches more. */
function figuresOf({ tier, random, causes: [cause] }: Outline, has: (part: Share) => boolean) {
  const spent = annualBudgetUsd(random);
  const annual_budget_usd = has("budget") ? spent : null;
  const paid = annual_budget_usd !== null && annual_budget_usd >= paidFromUsd;
  return {
    founded_year: has("founded") ? foundedYear(random, causeWords[cause].oldest) : null,
    annual_budget_usd,
    beneficiaries_per_year: has("reach") ? beneficiariesPerYear(random, spent) : null,
    team_size: paid && (tier === "rich" || tier === "verified") ? teamSize(random, spent) : null,
  };
}

const mailbox = ({ random }: Outline, site: string): string =>
  `${random.pick(["hello", "office", "info", "contact", "team"])}@${site.slice("https://".length)}`;

function alignedWithHealthAndDevelopment({ country_code, causes, tier, random }: Outline): boolean {
  if (richCountries.has(country_code) || !healthAndDevelopment.has(causes[0])) return false;
  return random.chance(tier === "thin" ? 12 : 55);
}

/** A number that no register issues: the prefix XS of org-ids is for user-assigned codes. */
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

const unsourced = new Set(["slug", "verified", "status"]);

/** The source of each filled field: the sample's register, or the organisation that claimed the profile. */
function sampleProvenance(
  profile: SampleProfile,
  { tier, index }: Outline,
  calendar: Calendar,
): Record<string, StoredProvenance> {
  const arrived = arrivalMs(index, calendar);
  const register = sourceFrom("register", arrived, { source: "sample" });
  const claimed = claimMs(index, calendar);
  const organisation = sourceFrom("organisation", claimed, { source_url: profile.website });
  const provenance: Record<string, StoredProvenance> = {};
  for (const [field, value] of Object.entries(profile)) {
    if (unsourced.has(field) || isEmpty(value)) continue;
    const byOrganisation = tier === "verified" && !fromRegister.has(field);
    provenance[field] = byOrganisation ? organisation : register;
  }
  return provenance;
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === 0 || (Array.isArray(value) && value.length === 0);
