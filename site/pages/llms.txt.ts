import guide from "#content/editorial/guides/llms.md?raw";
import { endpoint, filled } from "#site/documents/endpoint.ts";

/** What the directory is, for models. */
export const GET = endpoint<"/llms.txt">(({ baseUrl, t, nonprofits, countries }) =>
  filled(guide, {
    base_url: baseUrl,
    nonprofits: t.text("count.nonprofits", { count: nonprofits }),
    countries: t.text("count.countries", { count: countries }),
  }),
);
