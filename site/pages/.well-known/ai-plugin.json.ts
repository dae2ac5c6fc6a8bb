import guide from "#content/editorial/guides/ai-plugin.json?raw";
import { endpoint, filled, purpose } from "#site/documents/endpoint.ts";

/** The plugin manifest of the contract. */
export const GET = endpoint<"/.well-known/ai-plugin.json">(({ baseUrl }) =>
  filled(guide, { base_url: baseUrl, host: new URL(baseUrl).hostname, purpose }),
);
