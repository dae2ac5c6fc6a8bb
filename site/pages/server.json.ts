import { answerBytes } from "#content/contract/base/json.ts";
import { version } from "#content/contract/base/version.ts";
import { endpoint } from "#site/documents/endpoint.ts";

/**
 * The entry of this directory's MCP server in a registry, for its publisher to send. The name is the host's in reverse, of
 * which registries want control proven. Source: MCP registry, schema of 2025-12-11.
 */
export const GET = endpoint<"/server.json">(({ baseUrl }) =>
  answerBytes({
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: `${new URL(baseUrl).hostname.split(".").toReversed().join(".")}/almoner`,
    title: "Almoner",
    description:
      "An open directory of nonprofits: search, profiles, picks with reasons, and donations",
    version,
    websiteUrl: `${baseUrl}/`,
    icons: [{ src: `${baseUrl}/favicon.svg`, mimeType: "image/svg+xml", sizes: ["any"] }],
    // The second one has no tool that writes or pays, for directories of tools that refuse payment.
    remotes: ["/mcp", "/mcp/read"].map((path) => ({
      type: "streamable-http",
      url: baseUrl + path,
    })),
  }),
);
