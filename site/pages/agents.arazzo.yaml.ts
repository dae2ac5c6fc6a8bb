import guide from "#content/editorial/guides/agents.arazzo.yaml?raw";
import { endpoint } from "#site/documents/endpoint.ts";
import { filled } from "#site/parts/discovery-text.ts";

/** The Arazzo description of what agents do. */
export const GET = endpoint<"/agents.arazzo.yaml">(({ baseUrl }) =>
  filled(guide, { base_url: baseUrl }),
);
