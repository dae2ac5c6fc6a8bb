import { answerBytes } from "#content/contract/base/json.ts";
import { endpoint } from "#site/documents/endpoint.ts";

/** Source: RFC 9727, as a link set of RFC 9264. */
export const GET = endpoint<"/.well-known/api-catalog">(({ baseUrl }) =>
  answerBytes({
    linkset: [
      {
        anchor: `${baseUrl}/.well-known/api-catalog`,
        item: [{ href: `${baseUrl}/` }, { href: `${baseUrl}/mcp` }],
      },
      {
        // The server of the description: its paths begin here.
        anchor: `${baseUrl}/`,
        "service-desc": [
          { href: `${baseUrl}/openapi.json`, type: "application/json" },
          { href: `${baseUrl}/agents.arazzo.yaml`, type: "application/yaml" },
        ],
        "service-doc": [
          { href: `${baseUrl}/agents.md`, type: "text/markdown" },
          { href: `${baseUrl}/llms.txt`, type: "text/plain" },
          { href: `${baseUrl}/SKILL.md`, type: "text/markdown" },
        ],
        status: [{ href: `${baseUrl}/healthz`, type: "application/json" }],
      },
      {
        anchor: `${baseUrl}/mcp`,
        "service-desc": [
          { href: `${baseUrl}/.well-known/mcp/server-card.json`, type: "application/json" },
        ],
      },
    ],
  }),
);
