import { z } from "zod";
import { CauseId } from "#content/contract/browse.ts";
import {
  ImpactMetric,
  LinkSource,
  NonprofitStatus,
  Program,
  RegisterState,
  SetBy,
  StoredPeriod,
} from "#content/contract/nonprofit.ts";

const text = z.string().nullable();
const count = z.int().min(0).nullable();
const flag = z.union([z.literal(0), z.literal(1)]);
/** Milliseconds since 1970, UTC. */
const instant = z.int().min(0);

/** A slug names files; file names have at most 255 bytes including their ending. */
const slugLengthMax = 240;
const nameLengthMax = 1_000;

/** What one register says about one organisation, as stored, in the register's codes. */
export const RegisterRecord = z.strictObject({
  org_id: z.string(),
  /** The import format, for example irs-bmf. */
  register: z.string(),
  name: z.string(),
  /** The date of the file that first said all this. */
  as_of: z.iso.date(),
  /** The part of the register in which the organisation was last seen, for example eo_nv. */
  scope: z.string(),
  state: RegisterState,
  facts: z.record(z.string(), z.union([z.string(), z.number()])),
  /** Newest period first. Earlier exports do not have it. */
  finances: z.array(StoredPeriod).default([]),
});
export type RegisterRecord = z.infer<typeof RegisterRecord>;

/** Where a value came from. */
const Source = z.strictObject({
  set_by: SetBy,
  /** The register (for example irs-bmf), or consensus, operator, organisation, correction: see provenance.ts. */
  source: z.string(),
  source_url: text,
  /** The rule that derived a value from a register's: "NTEE K31 → Food Security (high)". */
  rule: z.string().optional(),
  /** Names of the agents that agreed. */
  agents: z.array(z.string()),
  /** How many other agents, with unvouched names, sent the same value. Absent: none. */
  corroborations: z.int().min(1).optional(),
  applied_at: instant,
});

/** The value that an organisation's own value replaced: it returns if the verification is revoked. */
export const EarlierValue = z.strictObject({ value: z.string(), source: Source.nullable() });
export type EarlierValue = z.infer<typeof EarlierValue>;

/** Everything stored about one nonprofit. */
export const NonprofitRecord = z.strictObject({
  id: z.int().min(1),
  slug: z
    .string()
    .max(slugLengthMax)
    .regex(
      /^(?!(?:index|pages)$)[a-z0-9]+(?:-[a-z0-9]+)*$/,
      "a slug has a-z, 0-9 and single hyphens, and is neither index nor pages",
    ),
  name: z.string().trim().min(1).max(nameLengthMax),
  tagline: text,
  mission: text,
  description: text,
  country_code: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .nullable(),
  region: text,
  city: text,
  website: text,
  donation_url: text,
  logo_url: text,
  contact_email: text,
  usdc_wallet: text,
  wallet_challenge: text,
  wallet_signature: text,
  beneficiaries_per_year: count,
  founded_year: z.int().min(1000).max(9999).nullable(),
  annual_budget_usd: z.number().nullable(),
  team_size: count,
  ghd_aligned: flag,
  verified: flag,
  status: NonprofitStatus,
  causes: z.array(CauseId),
  programs: z.array(Program),
  impact_metrics: z.array(ImpactMetric),
  registrations: z.array(
    z.strictObject({
      country_code: z.string(),
      type: z.string(),
      registration_number: z.string(),
      /** For example US-EIN-530196605. Imports recognise an organisation by it. */
      org_id: text,
      /** The source that links it to this organisation. Absent: the profile began with it. */
      linked_by: LinkSource.optional(),
    }),
  ),
  /** Ordered by org-id and register. Earlier exports do not have it. */
  register_records: z.array(RegisterRecord).default([]),
  /** The slug of the profile into which an operator merged this one. Earlier exports do not have it. */
  merged_into: text.default(null),
  register: text,
  register_scope: text,
  created_at: instant,
  updated_at: instant,
  provenance: z.record(z.string(), Source.extend({ replaced: EarlierValue.optional() })),
});
/** `id` is 0 until the record is stored. */
export type NonprofitRecord = z.infer<typeof NonprofitRecord>;

/** Values by field from a form of an organisation that has no profile yet: JSON among the facts of its record. */
export type Waiting = Record<string, { value: unknown; from: StoredProvenance }>;
export const waitingKey = "waiting";

export type StoredRegistration = NonprofitRecord["registrations"][number];

export type StoredProvenance = NonprofitRecord["provenance"][string];

/** The source of a value that is set now; `source` defaults to `set_by`. */
export const sourceFrom = (
  set_by: SetBy,
  applied_at: number,
  overrides: Partial<StoredProvenance> = {},
): StoredProvenance => ({
  set_by,
  source: set_by,
  source_url: null,
  agents: [],
  applied_at,
  ...overrides,
});

/** Members that no source sets: names, states, and where and when a record came from. */
type SetByDirectory =
  | "id"
  | "slug"
  | "verified"
  | "status"
  | "wallet_challenge"
  | "wallet_signature"
  | "merged_into"
  | "register_records"
  | "register"
  | "register_scope"
  | "created_at"
  | "updated_at"
  | "provenance";

/** The fields of a nonprofit that a source can set, each with its own provenance. */
export type NonprofitFields = Omit<NonprofitRecord, SetByDirectory>;
export type NonprofitField = keyof NonprofitFields;

/** An empty nonprofit; its id is 0 until it is stored. */
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
  register_records: [],
  merged_into: null,
  register: null,
  register_scope: null,
  created_at: 0,
  updated_at: 0,
  provenance: {},
};
