import { sha256Of } from "#content/runtime/digest.ts";
import index from "#content/editorial/guides/agent-skills.json?raw";
import guide from "#content/editorial/guides/skill.md?raw";
import { endpoint, filled, fixedGuide } from "#site/documents/endpoint.ts";

/** The skills of this directory, of which there is one. Source: Agent Skills Discovery, 0.2.0. */
export const GET = endpoint<"/.well-known/agent-skills/index.json">(({ baseUrl }) => {
  const text = fixedGuide(guide, baseUrl);
  const [, name = "", lines = ""] =
    /^name: (.+)\ndescription: >-\n((?: {2}.+\n)+)/m.exec(text) ?? [];
  const description = lines.trim().replaceAll(/\s+/g, " ");
  const digest = sha256Of(text);
  return filled(index, { base_url: baseUrl, name, description, digest });
});
