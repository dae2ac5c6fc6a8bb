import guide from "#content/editorial/guides/skill.md?raw";
import { guideEndpoint } from "#site/documents/endpoint.ts";

/** How to use this directory, as a skill that agents install. Source: agentskills.io. */
export const GET = guideEndpoint(guide);
