import { z } from "zod";
import { named } from "./base/shape.ts";

const count = z.int().min(0);

/** What changes with every request: counted live, and kept in the store by a checkpoint. */
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

/** As the `source` of a value in a profile begins. */
export const valueSources = [
  "register",
  "derived",
  "organisation",
  "consensus",
  "operator",
] as const;

/** What the charts of /statistics show, as it was last counted. Each is a file in CSV, too: /statistics/<name>.csv. */
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

/**
 * GET /api/stats. The spec gives two shapes, with two names for the number of people reached; both are served in one
 * object.
 */
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

/** 200 of GET /api: what stands at each address, by method and path. */
export const ApiIndex = named("ApiIndex", {
  openapi: z.string().describe("Where all of it is described"),
  endpoints: z.record(z.string(), z.string()),
});
