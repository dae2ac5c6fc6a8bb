import { z } from "zod";
import { count, named, textOrNull, texts } from "#content/contract/base/json.ts";
import { GiverAnswer, NonprofitStatus, NonprofitSummary, RegisterState } from "./nonprofit.ts";

/** The most numbers in one POST /api/organisations/standing. */
export const organisationsMax = 1_000;

export const Standing = z
  .enum(["registered", "revoked", "reinstated", "removed", "not listed", "unknown"])
  .describe(
    "registered: its register lists it; revoked: its status was taken back; reinstated: it got it back; removed: its register took it off; not listed: no row was found, which alone says nothing against it; unknown: no file of its register was read here",
  );
export type Standing = z.infer<typeof Standing>;

export const DeductibilityAnswer = z
  .enum(["deductible", "not deductible", "by treaty", "unknown"])
  .describe("Of gifts, from US federal tax; by treaty: a foreign organisation, for some donors");
export type DeductibilityAnswer = z.infer<typeof DeductibilityAnswer>;

/** The source of a statement, and its date. */
const source = {
  register: textOrNull.describe("Who says so, for example irs-bmf; null: no one does"),
  register_name: textOrNull.describe("The register's name"),
  as_of: textOrNull.describe("YYYY-MM-DD: the date of the newest file that says so"),
  record_url: textOrNull.describe("The register's own page about the organisation"),
};

export const StandingStatement = named("StandingStatement", {
  value: Standing,
  meaning: z.string().describe("What that means, and what a missing row means, in words"),
  since: textOrNull.describe("YYYY-MM-DD: when that happened, where the register says"),
  ...source,
});

export const DeductibilityStatement = named("DeductibilityStatement", {
  value: DeductibilityAnswer,
  meaning: z.string().describe("The same in words, with limits that the register names"),
  ...source,
});

/** What one register that could list the organisation says about it. */
export const RegisterStatement = named("RegisterStatement", {
  register: z.string(),
  register_name: z.string(),
  state: z
    .enum([...RegisterState.options, "not listed", "not read"])
    .describe("gone: an earlier file had it; not read: no file of this register was read here"),
  name: textOrNull.describe("The organisation's name there"),
  as_of: textOrNull.describe("YYYY-MM-DD: the date of the newest file"),
  record_url: textOrNull,
  licence: z.object({ name: z.string(), url: z.string() }),
  attribution: z.string().describe("What to say when you show this"),
});
export type RegisterStatement = z.infer<typeof RegisterStatement>;

export const OrganisationProfile = named("OrganisationProfile", {
  slug: z.string(),
  name: z.string(),
  status: NonprofitStatus,
  profile_url: z.string(),
  api_url: z.string(),
});

/** What is known about the organisation with a number. */
export const Organisation = named("Organisation", {
  org_id: z.string().describe("org-id form, for example US-EIN-530196605"),
  country: z.string().describe("Country name of the register"),
  type: z.string().describe("What the number is, for example EIN"),
  registration_number: z.string().describe("As the register writes it"),
  found: z.boolean().describe("Whether there is a profile, or a register's row"),
  name: textOrNull,
  profile: OrganisationProfile.nullable(),
  standing: StandingStatement,
  deductibility: DeductibilityStatement.nullable().describe("Null outside the United States"),
  giver_answers: z.array(GiverAnswer).describe("What givers ask, answered as registers do"),
  registers: z
    .array(RegisterStatement)
    .describe("What each register that could list it says, and which filings of it are known"),
});
export type Organisation = z.infer<typeof Organisation>;

const meaning_id = z.string().describe("Key of the words in `meanings`");
const statedOnce = { meaning: true, register_name: true } as const;
const ofRegister = { register_name: true, licence: true, attribution: true } as const;

/** A number in a batch: what is known about it, or why it cannot be looked up. */
export const OrganisationItem = Organisation.partial()
  .extend({
    query: z.string().describe("The number as it was sent"),
    standing: StandingStatement.omit(statedOnce).extend({ meaning_id }).optional(),
    deductibility: DeductibilityStatement.omit(statedOnce).extend({ meaning_id }).nullish(),
    giver_answers: z
      .array(GiverAnswer.omit({ reason: true }).extend({ reason_id: meaning_id }))
      .optional(),
    registers: z.array(RegisterStatement.omit(ofRegister)).optional(),
    error: z
      .object({ status: z.int(), code: z.string(), detail: z.string() })
      .optional()
      .describe("Only on a number that cannot be looked up; then nothing else is there"),
  })
  .meta({ id: "OrganisationItem" });
export type OrganisationItem = z.infer<typeof OrganisationItem>;

export const OrganisationsBody = named(
  "OrganisationsBody",
  {
    ids: z
      .array(z.string().max(200), {
        error: `ids is an array of 1 to ${organisationsMax} register numbers, each a text.`,
      })
      .min(1, { error: `ids is empty: send 1 to ${organisationsMax} register numbers.` })
      .max(organisationsMax, {
        error: `Send at most ${organisationsMax} register numbers at once.`,
      })
      .describe("Register numbers in any usual spelling"),
    country: z
      .string()
      .max(100)
      .optional()
      .describe("Country of numbers that name no register, by its English name or ISO 3166 code"),
  },
  { examples: [{ ids: ["US-EIN-530196605", "99-0305781", "SC041666"] }] },
);

export const OrganisationsAnswer = named("OrganisationsAnswer", {
  count: count.describe("As many as were sent"),
  registers: z
    .record(z.string(), RegisterStatement.pick(ofRegister))
    .describe("The registers that items name, by their ids"),
  meanings: z.record(z.string(), z.string()).describe("Words that items refer to, by their ids"),
  organisations: z.array(OrganisationItem).describe("In the order in which they were sent"),
});
export type OrganisationsAnswer = z.infer<typeof OrganisationsAnswer>;

/** 200 of GET /api/organisations. */
export const OrganisationsFound = named("OrganisationsFound", {
  count: count,
  note: textOrNull.describe("How to go on where none of them is a match"),
  organisations: z.array(
    NonprofitSummary.extend({
      identifiers: texts.describe("Register numbers, in org-id form"),
      score: z.number().describe("How well the name fits, 0 to 100"),
      match: z.boolean().describe("Whether it is the one, as far as a name can tell"),
    }),
  ),
});
export type OrganisationsFound = z.infer<typeof OrganisationsFound>;
