import { answerBytes } from "#content/contract/base/json.ts";
import { version } from "#content/contract/base/version.ts";
import { endpoint, purpose } from "#site/documents/endpoint.ts";

/** What scanners look for to find an MCP server without asking it. */
export const GET = endpoint<"/.well-known/mcp.json">(({ baseUrl, tools }) =>
  answerBytes({
    $schema: "https://static.modelcontextprotocol.io/schemas/mcp-server-card/v1.json",
    version: "1.0",
    protocolVersion: "2026-07-28",
    serverInfo: { name: "almoner", title: "Almoner", version },
    description: purpose,
    documentationUrl: `${baseUrl}/agents.md`,
    iconUrl: `${baseUrl}/favicon.svg`,
    transport: { type: "streamable-http", endpoint: "/mcp", url: `${baseUrl}/mcp` },
    authentication: { required: false, schemes: [] },
    capabilities: { tools: {}, resources: {}, completions: {} },
    tools,
    resources: "dynamic",
  }),
);
