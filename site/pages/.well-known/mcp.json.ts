import { answerBytes, objectIn } from "#content/contract/base/json.ts";
import card from "#content/editorial/guides/mcp.json?raw";
import { endpoint, fixedGuide } from "#site/documents/endpoint.ts";

/** What scanners look for to find an MCP server without asking it. */
export const GET = endpoint<"/.well-known/mcp.json">(({ baseUrl, tools }) =>
  answerBytes({ ...objectIn(fixedGuide(card, baseUrl)), tools }),
);
