import { answerBytes } from "#content/nonprofit/wire.ts";
import { pluginManifest } from "#site/parts/discovery.ts";
import { endpoint } from "#site/parts/endpoint.ts";

export const GET = endpoint<"/.well-known/ai-plugin.json">(({ baseUrl }) =>
  answerBytes(pluginManifest(baseUrl)),
);
