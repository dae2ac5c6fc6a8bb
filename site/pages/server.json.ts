import guide from "#content/editorial/guides/server.json?raw";
import { guideEndpoint } from "#site/documents/endpoint.ts";

/**
 * The entry of this directory's MCP server in a registry, for its publisher to send. The name is the host's in reverse, of
 * which registries want control proven. The second address has no tool that writes or pays, for directories of tools that
 * refuse payment. Source: MCP registry, schema of 2025-12-11.
 */
export const GET = guideEndpoint(guide);
