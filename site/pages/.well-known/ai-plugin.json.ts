import guide from "#content/editorial/guides/ai-plugin.json?raw";
import { guideEndpoint } from "#site/documents/endpoint.ts";

/** The plugin manifest of the contract. */
export const GET = guideEndpoint(guide);
