import { z } from "zod";
import { agentLengthMax } from "./enrichment.ts";
import { otherType } from "./problem.ts";
import { named } from "./base/shape.ts";

const agent_id = z
  .string(otherType("agent_id is a text, the one that you send with enrichments."))
  .min(1)
  .max(agentLengthMax)
  .describe("The id to own, as it is sent with enrichments");

/** The body of POST /api/agents, and of its rotate and revoke. */
export const AgentIdBody = named(
  "AgentIdBody",
  { agent_id },
  { examples: [{ agent_id: "research-bot-7" }] },
);

/** 200 of POST /api/agents and /api/agents/rotate. */
export const AgentSecret = named("AgentSecret", {
  agent_id: z.string().describe("As ids are compared"),
  bound: z.literal(true),
  agent_secret: z.string().describe("Shown this once. Send it as Authorization: Bearer"),
  message: z.string(),
});
export type AgentSecret = z.infer<typeof AgentSecret>;

/** 200 of POST /api/agents/revoke. */
export const AgentRevoked = named("AgentRevoked", {
  agent_id: z.string().describe("As ids are compared"),
  bound: z.literal(false),
  message: z.string(),
});
export type AgentRevoked = z.infer<typeof AgentRevoked>;

const reason = z.string().trim().min(1).max(500).describe("Why, for the audit log");

/** The body of POST /api/admin/agents/bind. */
export const BindForOwnerBody = named("BindForOwnerBody", { agent_id, reason });

/** The body of POST /api/admin/agents/name. */
export const AgentNameBody = named("AgentNameBody", {
  agent_id,
  name: z.string().trim().nullable().describe("Null takes an approval back"),
  reason,
});

/** 200 of POST /api/admin/agents/name. */
export const AgentNamed = named("AgentNamed", {
  agent_id: z.string().describe("As ids are compared"),
  approved_name: z.string().nullable(),
});
export type AgentNamed = z.infer<typeof AgentNamed>;

/** 200 of GET /api/admin/agents/submissions: by number. */
export const AgentSubmissions = named("AgentSubmissions", {
  count: z.int().min(0),
  submissions: z.array(
    z.object({
      submission_id: z.int(),
      slug: z.string(),
      field: z.string(),
      value: z.string(),
      source_url: z.string().nullable(),
      applied_at: z.string().describe("YYYY-MM-DD HH:MM:SS, UTC"),
    }),
  ),
  next: z.int().nullable().describe("`after` of the next page; null at the end"),
});
export type AgentSubmissions = z.infer<typeof AgentSubmissions>;
