import { markdownOf } from "#site/parts/markdown.ts";
import { endpoint } from "#site/parts/endpoint.ts";

export const GET = endpoint<"/nonprofits/[slug].md">(({ record, baseUrl }) =>
  markdownOf(record, baseUrl),
);
