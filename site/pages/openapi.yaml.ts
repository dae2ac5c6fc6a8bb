import { endpoint } from "#site/documents/endpoint.ts";

/** The same as /openapi.json. */
export const GET = endpoint<"/openapi.yaml">(({ answer }) => Bun.YAML.stringify(answer, null, 2));
