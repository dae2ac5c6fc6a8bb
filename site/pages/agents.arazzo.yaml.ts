import guide from "#content/editorial/guides/agents.arazzo.yaml?raw";
import { guideEndpoint } from "#site/documents/endpoint.ts";

/** The Arazzo description of what agents do. */
export const GET = guideEndpoint(guide);
