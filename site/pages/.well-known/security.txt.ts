import { securityText } from "#site/parts/discovery.ts";
import { endpoint } from "#site/parts/endpoint.ts";

export const GET = endpoint<"/.well-known/security.txt">(({ baseUrl, day }) =>
  securityText(baseUrl, day),
);
