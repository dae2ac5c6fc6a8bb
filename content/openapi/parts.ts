import { contractVersion } from "#content/contract/base/version.ts";
import type { Json } from "#content/contract/operations/operation.ts";
import words from "#content/editorial/openapi.json";

/** Everything of the description that stands before its paths. `baseUrl` has no trailing slash. */
export const documentHead = (baseUrl: string): { [name: string]: Json } => ({
  openapi: "3.1.0",
  info: {
    title: "Almoner",
    version: contractVersion,
    ...words.info,
    contact: { name: "The operator of this directory", url: `${baseUrl}/.well-known/security.txt` },
    license: { name: "MIT", identifier: "MIT" },
  },
  servers: [{ url: baseUrl, description: "This directory" }],
  externalDocs: { description: "Guide for agents", url: `${baseUrl}/agents.md` },
  tags: words.tags,
});

/** Sent with every answer. */
export const commonHeaders = ["Cache-Control", "Access-Control-Allow-Origin", "Link"];

/** Sent with what counts toward a limit, refusals too. */
export const limitHeaders = ["RateLimit", "RateLimit-Policy"];

export const headerComponents: { [name: string]: Json } = words.headers;

/** What stands in paths, and headers of requests. */
export const parameterComponents: { [name: string]: Json } = words.parameters;

/** What a bearer token may be. */
export const { securitySchemes } = words;
