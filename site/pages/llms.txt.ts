import guide from "#content/editorial/guides/llms.md?raw";
import { endpoint, filled } from "#site/documents/endpoint.ts";
import { grouped } from "#site/parts/words.ts";

/** What the directory is, for models. */
export const GET = endpoint<"/llms.txt">(({ baseUrl, nonprofits, countries }) =>
  filled(guide, {
    base_url: baseUrl,
    nonprofits: grouped(nonprofits),
    countries: grouped(countries),
  }),
);
