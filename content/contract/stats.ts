import stored from "#content/editorial/consensus-simulation.json";
import { z } from "zod";
import { count, named } from "#content/contract/base/json.ts";

/** Counters that change with every request: counted live, and saved to the store by a checkpoint. */
export const Counters = z.object({
  total_donations: count.describe("Donation transactions recorded"),
  total_queries: count.describe("Calls to search, recommend and MCP search"),
  queries_this_week: count.describe("The same within the last 7 × 24 h"),
  queries: z
    .object({ llms_txt: count, agents_md: count, ai_plugin: count, mcp: count })
    .describe("Hits on the discovery channels for agents"),
});
export type Counters = z.infer<typeof Counters>;

const month = z
  .string()
  .regex(/^\d{4}-\d{2}$/)
  .describe("YYYY-MM, in UTC")
  .meta({ examples: ["2026-10"] });

/** How the `source` of a profile's value begins. */
export const valueSources = [
  "register",
  "derived",
  "organisation",
  "consensus",
  "operator",
] as const;

/** The data of the charts on /statistics at the last count. Each is also a CSV file: /statistics/<name>.csv. */
export const Charts = named("Charts", {
  as_of: z.string().describe("The UTC day of the count; its month is not over"),
  countries: z.array(
    z.object({ country_code: z.string(), country: z.string(), nonprofits: count }),
  ),
  completeness: z
    .array(z.object({ field: z.string(), nonprofits: count, percent: z.number() }))
    .describe("How many profiles hold a value"),
  growth: z
    .array(z.object({ month, added: count, nonprofits: count }))
    .describe(
      "Today's profiles by the month in which they came, and how many of them there were at its end; at most the last 24 months",
    ),
  sources: z
    .array(z.object({ source: z.enum(valueSources), values: count, percent: z.number() }))
    .describe("Who gave the values that profiles hold"),
  decisions: z
    .array(z.object({ month, applied: count, rejected: count }))
    .describe("Submissions of agents that went live or were rejected, test data left out"),
  gifts: z
    .array(z.object({ month, gifts: count, usdc: z.number() }))
    .describe("Donations recorded, by the month in which they were made"),
});
export type Charts = z.infer<typeof Charts>;

/** GET /api/stats. The number of people reached has two names; both are served in one object. */
export const Stats = named("Stats", {
  nonprofits: count,
  verified_nonprofits: count.describe("Nonprofits that claimed their profile"),
  countries: count,
  causes: count,
  total_beneficiaries_per_year: count,
  total_beneficiaries: count.describe("The same number as total_beneficiaries_per_year"),
  ...Counters.shape,
  charts: Charts.optional().describe("Only with include=charts"),
});
export type Stats = z.infer<typeof Stats>;

/** 200 of GET /healthz. */
export const Health = named("Health", {
  status: z.literal("ok"),
  version: z.string().describe("Of the software that answers, like 0.4.0"),
  commit: z.string().optional().describe("Of its source; left out where it is not known"),
});
export type Health = z.infer<typeof Health>;

const part = z.literal(["ok", "none"]).describe("none: it does not belong to this process");

/** 200 of GET /readyz. */
export const Ready = named("Ready", {
  status: z.literal("ready"),
  parts: z.object({ store: part, chain: part, publisher: part }),
});
export type Ready = z.infer<typeof Ready>;

/** 200 of GET /api: what is at each address, by method and path. */
export const ApiIndex = named("ApiIndex", {
  openapi: z.string().describe("Where all of it is described"),
  endpoints: z.record(z.string(), z.string()),
});

/** A figure over all seeds: its mean, minimum and maximum. */
const Spread = z.object({ mean: z.number(), least: z.number(), most: z.number() });
export type Spread = z.infer<typeof Spread>;

const percent = count.max(100);

/** Assumptions about the directory, honest agents and an attacker. None of them was measured in the field. */
export const SimulationParameters = z.object({
  seeds: z
    .array(z.int().min(1))
    .min(1)
    .max(100)
    .describe("Number of directories, each with its own random seed"),
  profiles: z.int().min(10).max(100_000).describe("Profiles that lack something"),
  days: z.int().min(2).max(365).describe("How long it goes on"),
  honest_agents: z.int().min(2).max(200).describe("Agents that mean well"),
  honest_sharing_a_network: count.describe(
    "The number of them that work from one network, as agents of one cloud provider do",
  ),
  visits_per_agent_and_day: z
    .int()
    .min(1)
    .max(1_000)
    .describe("Profiles that each looks at in a day"),
  finds_percent: percent.describe("How often it finds a value at all"),
  mistakes_percent: percent.describe("How often it reads it wrongly, each agent in its own way"),
  misleading_sources_percent: percent.describe("Fields about which a source is out of date"),
  misled_percent: percent.describe("How often an agent believes such a source"),
  other_spelling_percent: percent.describe(
    "How often the truth is written so that comparing does not fold it: other letter case, another page",
  ),
  unchecked_percent: percent.describe(
    "How often an agent confirms a waiting value that it is shown, unchecked",
  ),
  attack_begins_on_day: count.describe("When an attack begins"),
  attack_requests: z.int().min(2).max(100_000).describe("Requests that an attacker spends"),
});
export type SimulationParameters = z.infer<typeof SimulationParameters>;

export const SimulationOutcome = z.object({
  attack: z.string(),
  title: z.string(),
  says: z.string(),
  mode: z.enum(["agents", "networks"]),
  /** Ids and networks that the attacker has. */
  ids: count,
  networks: count,
  /** Values that went live, and how many of them are false. */
  promotions: Spread,
  false_promotions: Spread,
  false_percent: Spread,
  /** False values that went live with a vote of the attacker. */
  false_by_attack: Spread,
  /** Submissions of the attacker, and how many the limits refused. */
  attack_submissions: Spread,
  attack_refused: Spread,
  /** Hours from its first to its last request. */
  attack_hours: Spread,
  /** Over all seeds; null when no false value went live with the attacker's vote. */
  submissions_per_false: z.number().nullable(),
  hours_per_false: z.number().nullable(),
  /** After `review revert --agent` for each of its ids: remaining false values, and true values lost. */
  false_after_revert: Spread,
  true_lost_by_revert: Spread,
  /** Hours from the first submission of the true value until it is live, for values live at the end. */
  true_hours_median: Spread,
  true_hours_p90: Spread,
  /** Profiles whose structured fields are all true at the end, in percent of those that lacked some. */
  profiles_completed_percent: Spread,
});
export type SimulationOutcome = z.infer<typeof SimulationOutcome>;

/** The cost of an attack in each consensus mode, as computed by `bun run bench:consensus`; shown on the methodology page. */
export const consensusSimulation = z
  .object({
    /** "YYYY-MM-DD" */
    computed_on: z.iso.date(),
    parameters: SimulationParameters,
    outcomes: z.array(SimulationOutcome),
  })
  .parse(stored);
