import { createHash } from "node:crypto";
import { answerBytes } from "#content/contract/base/json.ts";
import guide from "#content/editorial/guides/skill.md?raw";
import { endpoint, filled } from "#site/documents/endpoint.ts";

/** The skills of this directory, of which there is one. Source: Agent Skills Discovery, 0.2.0. */
export const GET = endpoint<"/.well-known/agent-skills/index.json">(({ baseUrl }) => {
  const text = filled(guide, { base_url: baseUrl });
  const [, name = "", description = ""] =
    /^name: (.+)\ndescription: >-\n((?: {2}.+\n)+)/m.exec(text) ?? [];
  return answerBytes({
    $schema: "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
    skills: [
      {
        name,
        type: "skill-md",
        description: description.trim().replaceAll(/\s+/g, " "),
        url: `${baseUrl}/.well-known/agent-skills/${name}/SKILL.md`,
        digest: `sha256:${createHash("sha256").update(text).digest("hex")}`,
      },
    ],
  });
});
