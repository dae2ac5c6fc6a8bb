import { z } from "zod";
import { agentLengthMax } from "./enrichment.ts";
import { otherType } from "./problem.ts";
import { named } from "./shape.ts";

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
