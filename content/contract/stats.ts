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
});
export type Stats = z.infer<typeof Stats>;

/** 200 of GET /healthz. */
export const Health = named("Health", { status: z.literal("ok") });

const part = z.literal(["ok", "none"]).describe("none: it does not belong to this process");

/** 200 of GET /readyz. */
export const Ready = named("Ready", {
  status: z.literal("ready"),
  parts: z.object({ store: part, chain: part, publisher: part }),
});
export type Ready = z.infer<typeof Ready>;
