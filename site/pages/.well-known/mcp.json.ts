import { answerBytes } from "#content/nonprofit/wire.ts";
import { mcpCard } from "#site/parts/discovery.ts";
import { endpoint } from "#site/parts/endpoint.ts";

export const GET = endpoint<"/.well-known/mcp.json">(({ baseUrl, tools }) =>
  answerBytes(mcpCard(baseUrl, tools)),
);
