import guide from "#content/editorial/guides/agents.arazzo.yaml?raw";
import { endpoint, filled } from "#site/documents/endpoint.ts";

/** The Arazzo description of what agents do. */
export const GET = endpoint<"/agents.arazzo.yaml">(({ baseUrl }) =>
  filled(guide, { base_url: baseUrl }),
);
