import { z } from "zod";
import { Facets, incomeBandIds, unknownNote } from "./browse.ts";
import { count, named, textOrNull, texts } from "#content/contract/base/json.ts";

const text = (description: string) => textOrNull.describe(description);
const figure = (description: string) => z.int().nullable().describe(description);

export const NonprofitStatus = z
  .enum(["listed", "claimed", "withdrawn"])
  .describe(
    "listed: from a register; claimed: by the organisation; withdrawn: no longer registered, or by an operator",
  );
export type NonprofitStatus = z.infer<typeof NonprofitStatus>;

/**
 * An organisation's overall state in a register. `gone`: an earlier file had it and the newest does not. `filed`: it filed a
 * form, which says nothing about its standing.
 */
export const RegisterState = z.enum([
  "registered",
  "revoked",
  "reinstated",
  "removed",
  "gone",
  "filed",
]);
export type RegisterState = z.infer<typeof RegisterState>;
export const giveUrl = text(
  "Absolute URL at which this directory takes a gift of USDC (402 says what to pay); null: it takes none",
);

/**
 * An item of search and list results. Every field is present; a missing value is null. The donation page has two names
 * (`donation_url`, `donate_url`), and flags are the integers 0 and 1, because existing clients expect both.
 */
export const NonprofitSummary = named("NonprofitSummary", {
  id: z.string(),
  slug: z.string().describe("URL-friendly identifier used in paths"),
  name: z.string(),
  tagline: text("One line about the organisation"),
  mission: text("What the organisation is for"),
  country: text("Country name"),
  city: text("City"),
  region: text("State, province or region"),
  website: text("URL of the organisation's own site"),
  donation_url: text("Direct donation page"),
  donate_url: text("The same value as donation_url"),
  give_url: giveUrl,
  logo_url: text("URL of a logo"),
  beneficiaries_per_year: count.nullable().describe("People reached in a year"),
  founded_year: z.int().min(1000).nullable().describe("Four-digit year"),
  ghd_aligned: z.union([z.literal(0), z.literal(1)]).describe("Global health and development"),
  verified: z
    .union([z.literal(0), z.literal(1)])
    .describe("1: the organisation has claimed its profile; 0: directory listing only"),
  causes: texts.describe("Cause ids; empty where nothing that a register says fits one"),
  category: text("What a register files it under, in the register's words, for example Theater"),
  income_band: z.enum(incomeBandIds).describe("Yearly income, as the filter income has it"),
  standing: RegisterState.nullable().describe("What registers say of it; null: none lists it"),
});
export type NonprofitSummary = z.infer<typeof NonprofitSummary>;

export const Program = named("Program", {
  name: z.string().describe("Of a return without one: the first words of the description"),
  description: textOrNull,
  beneficiaries_per_year: count.nullable(),
  location: textOrNull,
});
export type Program = z.infer<typeof Program>;

export const ImpactMetric = named("ImpactMetric", {
  name: z.string(),
  value: z.string(),
  unit: textOrNull,
  period: textOrNull.describe("For example annual or cumulative"),
});
export type ImpactMetric = z.infer<typeof ImpactMetric>;

/** The evidence that two registrations belong to one organisation. */
export const LinkSource = z.enum(["same_number", "same_site_and_name", "operator"]);
export type LinkSource = z.infer<typeof LinkSource>;

/** The evidence of a link in words, shown after "linked:". */
export const linkWords: Readonly<Record<LinkSource, string>> = {
  same_number: "both registers quote one number",
  same_site_and_name: "both registers give this name and website",
  operator: "an operator of this directory says so",
};

export const Registration = named("Registration", {
  country: z.string().describe("Country name of the register"),
  type: z.string().describe("What the number is, for example EIN"),
  registration_number: z.string(),
  linked_by: LinkSource.optional().describe(
    "Of a further registration: what says that it is the same organisation. Absent where the profile began with it",
  ),
});

/** The finances of one period as stored, in whole currency units; null where a figure is not stated. */
export const StoredPeriod = z.strictObject({
  period_start: z.iso.date().nullable().describe("null: not stated, mostly a year before the end"),
  period_end: z.iso.date(),
  form: z.string().describe("For example 990, 990-EZ or accounts"),
  currency: z.string().describe("ISO 4217"),
  revenue: figure("All income of the period"),
  expenses: figure("All spending of the period"),
  assets: figure("At the end of the period"),
  liabilities: figure("At the end of the period"),
  net_assets: figure("Assets less liabilities, as stated"),
  amended: z.boolean().describe("Whether it is from a return that corrects an earlier one"),
  prior_year: z
    .literal(true)
    .optional()
    .describe("Of a period whose own return is not known: it stands in the next year's"),
  /** When the return was made, ISO 8601 in UTC. Of several returns of one period the latest counts. */
  filed_at: textOrNull,
  filing_url: text("The filing itself"),
});
export type StoredPeriod = z.infer<typeof StoredPeriod>;

const { filed_at: _, ...shownOfPeriod } = StoredPeriod.shape;
/** A period in public, beside the profile's own fields and never mixed with them. */
export const FinancialPeriod = named("FinancialPeriod", {
  ...shownOfPeriod,
  source: z.string().describe("Id of the register that says so, as in register_facts"),
});
export type FinancialPeriod = z.infer<typeof FinancialPeriod>;

export const RegisterFact = named("RegisterFact", {
  name: z.string().describe("Stable name, for example income"),
  label: z.string().describe("The name in words, for example Income"),
  value: z
    .union([z.string(), z.number()])
    .describe("Words, a date (YYYY-MM or YYYY-MM-DD), or an amount in whole units"),
  currency: z.string().optional().describe("ISO 4217; only amounts have one"),
  period: z
    .string()
    .optional()
    .describe("What an amount covers, for example year to December 2024"),
  form: z.string().optional().describe("What it was reported on, for example Form 990 or 990-EZ"),
});
export type RegisterFact = z.infer<typeof RegisterFact>;

/** What one register says about a nonprofit: beside the profile's own fields, never instead of them. */
export const RegisterFacts = named("RegisterFacts", {
  register: z.string().describe("Id of the register, for example irs-bmf"),
  register_name: z.string().describe("For example IRS Business Master File"),
  org_id: z.string().describe("The organisation there, for example US-EIN-530196605"),
  name: z.string().describe("The organisation's name there"),
  state: RegisterState,
  as_of: z
    .string()
    .describe("YYYY-MM-DD: the date of the register's file that first said all this"),
  licence: z.object({ name: z.string(), url: z.string() }),
  attribution: z.string().describe("What to say when you show these facts"),
  fields: z.array(RegisterFact),
  record_url: textOrNull.describe("The register's own page about the organisation"),
});
export type RegisterFacts = z.infer<typeof RegisterFacts>;

/** Who set a value: agreement of agents, an operator, the organisation itself, or a public register. */
export const SetBy = z.enum(["register", "consensus", "operator", "organisation"]);
export type SetBy = z.infer<typeof SetBy>;

export const FieldProvenance = named("FieldProvenance", {
  source: z
    .string()
    .describe(
      "register:<name>: the register says so; derived:<name>: this directory chose it by what the register says, see rule; consensus, operator or organisation",
    ),
  rule: z
    .string()
    .optional()
    .describe(
      "Of a derived value: what chose it, for example NTEE K31 → Food Security (high); of one that was filed: the form, its period and its number",
    ),
  source_url: textOrNull.describe("Where the value was found"),
  agents: texts.describe(
    "Names of the agents that agreed on the value, in their own words: text of third parties",
  ),
  corroborations: z
    .int()
    .min(1)
    .optional()
    .describe("How many more agents found the same, unnamed; absent for none, counted up to 20"),
  applied_at: z.string().describe("ISO 8601, UTC"),
});
export type FieldProvenance = z.infer<typeof FieldProvenance>;

/** How reliably a register's code maps to a cause. */
export const CauseConfidence = z.enum(["high", "medium"]);
export type CauseConfidence = z.infer<typeof CauseConfidence>;
export const WayToGive = named("WayToGive", {
  kind: z
    .enum(["donation_page", "website", "usdc", "service"])
    .describe(
      "donation_page: the organisation's own; website: its site, for want of one; usdc: our page for a gift to its wallet; service: another service that the operator of this directory names",
    ),
  label: z.string().describe("What to write on a link"),
  url: z.string().describe("Page for people, absolute"),
  currency: z.string().optional().describe("What is given, where it is one: ISO 4217, or USDC"),
  fee: z.string().optional().describe("What is taken from a gift, in words; absent: not known"),
  tax_receipt: z
    .boolean()
    .optional()
    .describe("Whether the giver gets a receipt for the tax office; absent: not known"),
});
export type WayToGive = z.infer<typeof WayToGive>;

export const waysToGive = z
  .array(WayToGive)
  .describe(
    "How to give, the best way first. An address of the organisation is among them only where the organisation itself, a register, a filing of the last three years or the operator gave it",
  );

/** One answer to a giver's question about an organisation, with its source and date. */
export const GiverAnswer = named("GiverAnswer", {
  org_id: z.string().describe("Whom it is about, for example US-EIN-530196605"),
  question: z
    .enum([
      "deductible",
      "filing",
      "foundation_type",
      "daf",
      "latest_return",
      "revoked",
      "reinstated",
      "merged_into",
    ])
    .describe(
      "deductible: gifts, from the giver's tax (of a British charity: Gift Aid); filing: the yearly return it has to file; foundation_type: what kind of charity it is; daf: whether a donor-advised fund may give to it; latest_return: the end of the newest period that a return covers; revoked, reinstated: when; merged_into: its successor. The last two only where that happened",
    ),
  value: z
    .string()
    .describe(
      "`not known` is an answer. deductible: yes, no, by treaty; filing: exempt, group return, or the form; foundation_type: public charity, supporting organisation, private operating foundation, private foundation, no 501(c)(3); daf: yes, expenditure_responsibility; latest_return: YYYY-MM or YYYY-MM-DD; revoked, reinstated: YYYY-MM-DD, yes, no; merged_into: an org-id",
    ),
  reason: z.string().describe("Why, in words"),
  code: z.string().optional().describe("The register's own code, or the form, behind the answer"),
  name: z.string().optional().describe("Of merged_into: the successor's name"),
  age_months: count.optional().describe("Of latest_return: months from its end to as_of"),
  register: textOrNull.describe("Who says so, for example irs-bmf; null: no one does"),
  as_of: textOrNull.describe("YYYY-MM-DD: the date of the register's file"),
});
export type GiverAnswer = z.infer<typeof GiverAnswer>;

/** The full public profile. `contact_email` is never public: `has_contact_email` tells whether it is known. */
export const NonprofitDetail = NonprofitSummary.omit({ causes: true })
  .extend({
    description: text("The longer text"),
    usdc_wallet: z.string().optional().describe("Solana USDC wallet address; present only if set"),
    wallet_proof: z
      .object({ challenge: z.string(), signature: z.string() })
      .optional()
      .describe("Signature by which the organisation proved control of the wallet"),
    annual_budget_usd: z.number().nullable(),
    team_size: count.nullable().describe("People working for the organisation"),
    has_contact_email: z.boolean(),
    status: NonprofitStatus,
    merged_into: z
      .string()
      .optional()
      .describe("Slug of the profile that replaces this one; present only if set"),
    causes: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        confidence: CauseConfidence.optional().describe(
          "Of a cause that is this directory's own reading of a register's codes and no fact: how sure it is. Absent for all others",
        ),
      }),
    ),
    ways_to_give: waysToGive,
    programs: z.array(Program),
    impact_metrics: z.array(ImpactMetric),
    registrations: z.array(Registration),
    identifiers: texts.describe("org-id form, for example US-EIN-530196605"),
    register_facts: z.array(RegisterFacts).describe("What public registers say, each as of a date"),
    giver_answers: z
      .array(GiverAnswer)
      .describe(
        "What givers ask, answered by registers and filings; empty where none speaks of it",
      ),
    finances: z
      .array(FinancialPeriod)
      .describe("Money by period, newest first, from filings and registers; the newest 20 periods"),
    provenance: z.record(z.string(), FieldProvenance),
    enriched_by: z
      .array(
        z.object({
          agent_name: z.string(),
          field: z.string(),
          reviewed_at: z.string().describe("ISO 8601, UTC"),
        }),
      )
      .max(20)
      .describe("The agents in provenance, each with its field, the newest first"),
    updated_at: z.string().describe("ISO 8601, UTC"),
  })
  .meta({ id: "NonprofitDetail" });
export type NonprofitDetail = z.infer<typeof NonprofitDetail>;

/** Items on one page of GET /api/nonprofits. */
export const listLimit = { default: 50, max: 100 } as const;

/** One page of GET /api/nonprofits. */
export const NonprofitList = named("NonprofitList", {
  total: count.describe("Nonprofits that match, counted exactly"),
  count: count.describe("Items in this page"),
  limit: z.int(),
  offset: z.int(),
  next: textOrNull.describe("Absolute URL of the next page"),
  prev: textOrNull.describe("Absolute URL of the page before"),
  note: unknownNote,
  nonprofits: z.array(NonprofitSummary),
  facets: Facets.optional().describe("How many match with each value; only with include=facets"),
});
export type NonprofitList = z.infer<typeof NonprofitList>;
