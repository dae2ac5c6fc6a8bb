import { endpoint } from "#site/documents/endpoint.ts";

/** Everything is open to crawlers, models included, but for what only operators and callers use. */
export const GET = endpoint<"/robots.txt">(({ baseUrl }) =>
  [
    "User-agent: *",
    "Content-Signal: search=yes, ai-input=yes, ai-train=yes",
    "Disallow: /api/admin/",
    "Disallow: /desk",
    "Allow: /",
    "",
    `Sitemap: ${baseUrl}/sitemap.xml`,
    "",
  ].join("\n"),
);
