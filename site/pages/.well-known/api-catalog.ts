import { answerBytes } from "#content/nonprofit/wire.ts";
import { apiCatalog } from "#site/parts/discovery.ts";
import { endpoint } from "#site/parts/endpoint.ts";

export const GET = endpoint<"/.well-known/api-catalog">(({ baseUrl }) =>
  answerBytes(apiCatalog(baseUrl)),
);
