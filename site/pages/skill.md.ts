import guide from "#content/editorial/guides/skill.md?raw";
import { endpoint, filled } from "#site/documents/endpoint.ts";

/** How to use this directory, as a skill that agents install. Source: agentskills.io. */
export const GET = endpoint<"/skill.md">(({ baseUrl }) => filled(guide, { base_url: baseUrl }));
