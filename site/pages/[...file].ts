import type { APIRoute } from "astro";
import { answerBytes, objectIn } from "#content/contract/base/json.ts";
import { dayMs, isoTime } from "#content/contract/base/time.ts";
import { version } from "#content/contract/base/version.ts";
import { unknownSignature } from "#content/contract/donation.ts";
import agentSkills from "#content/editorial/guides/agent-skills.json?raw";
import agents from "#content/editorial/guides/agents.md?raw";
import arazzo from "#content/editorial/guides/agents.arazzo.yaml?raw";
import plugin from "#content/editorial/guides/ai-plugin.json?raw";
import apiCatalog from "#content/editorial/guides/api-catalog.json?raw";
import llms from "#content/editorial/guides/llms.md?raw";
import mcpCard from "#content/editorial/guides/mcp.json?raw";
import security from "#content/editorial/guides/security.txt?raw";
import mcpRegistry from "#content/editorial/guides/server.json?raw";
import skill from "#content/editorial/guides/skill.md?raw";
import receipts from "#content/editorial/guides/verify-receipt.md?raw";
import { sha256Of } from "#content/runtime/digest.ts";
import type { FileLocals, LocalsOf } from "#site/documents/page-locals.ts";
import { markdownLine } from "#site/parts/markdown.ts";

/** What the directory is, in one sentence for models. */
const purpose =
  "An open directory of nonprofits: search it, read profiles, get recommendations with reasons, and complete missing data.";

/** A guide with its {{places}} filled. Throws for a place without a value. */
const filled = (guide: string, values: Readonly<Record<string, string>>): string =>
  guide.replaceAll(/\{\{(\w+)\}\}/g, (_, place: string) => {
    const value = values[place];
    if (value === undefined) throw new Error(`a guide has the place ${place}, and nothing for it`);
    return value;
  });

/** A guide that does not depend on the data. */
const fixedGuide = (guide: string, baseUrl: string): string => {
  const { hostname: host } = new URL(baseUrl);
  const reversed_host = host.split(".").toReversed().join(".");
  return filled(guide, { base_url: baseUrl, host, reversed_host, purpose, version });
};

const guide =
  (text: string) =>
  ({ baseUrl }: { baseUrl: string }): string =>
    fixedGuide(text, baseUrl);

/** The same bytes as the service's answer. */
const answered = ({ answer }: { answer: object }): string => answerBytes(answer);

/** RFC 9116, 2.5.5, recommends less than a year. */
const securityDays = 180;

/** Fields that never go live by agreement, so that an example for one of them does no harm however often it is sent. */
const queuedFields: readonly string[] = ["mission", "description"];

/** The guide for agents, with profiles that need help today. */
function agentsGuide({ baseUrl, wanted, firstSlug }: LocalsOf<"/agents.md">): string {
  const queued = (fields: readonly string[]) =>
    fields.find((field) => queuedFields.includes(field));
  const example = wanted.find(({ needs }) => queued(needs)) ?? wanted[0];
  const items = wanted.map(
    ({ slug, name, needs }) =>
      `- [${markdownLine(name)}](${baseUrl}/nonprofits/${slug}), \`${slug}\`: ${needs.join(", ")}`,
  );
  return filled(agents, {
    base_url: baseUrl,
    signature_wait: unknownSignature.waitText,
    example_slug: example?.slug ?? firstSlug ?? "none-yet",
    example_field: queued(example?.needs ?? []) ?? "tagline",
    needs_enrichment:
      items.length === 0 ? "None today: every profile is complete." : items.join("\n"),
  });
}

/** The index of this directory's skills, with its only one. Source: Agent Skills Discovery, 0.2.0. */
function skillsIndex({ baseUrl }: { baseUrl: string }): string {
  const text = fixedGuide(skill, baseUrl);
  const [, name = "", lines = ""] =
    /^name: (.+)\ndescription: >-\n((?: {2}.+\n)+)/m.exec(text) ?? [];
  const description = lines.trim().replaceAll(/\s+/g, " ");
  return filled(agentSkills, { base_url: baseUrl, name, description, digest: sha256Of(text) });
}

/** Everything is open to crawlers, including models, except what only operators and callers of the API use. */
const robots = ({ baseUrl }: { baseUrl: string }): string =>
  [
    "User-agent: *",
    "Content-Signal: search=yes, ai-input=yes, ai-train=yes",
    "Disallow: /api/admin/",
    "Disallow: /desk",
    "Allow: /",
    "",
    `Sitemap: ${baseUrl}/sitemap.xml`,
    "",
  ].join("\n");

/** The single pages in the sitemap. */
const pages = [
  "/",
  "/recommendations",
  "/causes",
  "/countries",
  "/agents",
  "/statistics",
  "/methodology",
  "/about",
  "/data",
  "/developers",
  "/privacy",
  "/match",
  "/compare",
  "/onboard",
  "/corrections",
  "/widget",
];

/** Source: sitemaps.org. */
const urlsMax = 50_000;

/** A sitemap, or an index of sitemaps, of full addresses; `updated_at` in milliseconds since 1970. Source: sitemaps.org. */
const sitemap = (
  kind: "sitemapindex" | "urlset",
  items: readonly { address: string; updated_at?: number }[],
): string => {
  const element = kind === "urlset" ? "url" : "sitemap";
  const lines = items.map(({ address, updated_at }) => {
    const lastmod = updated_at === undefined ? "" : `<lastmod>${isoTime(updated_at)}</lastmod>`;
    return `<${element}><loc>${address.replaceAll("&", "&amp;")}</loc>${lastmod}</${element}>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${lines.join("\n")}\n</${kind}>\n`;
};

/** Makes the text of each file that is no page from what its document loaded. */
const texts: { readonly [File in keyof FileLocals]: (loaded: LocalsOf<File>) => string } = {
  "/llms.txt": ({ baseUrl, t, nonprofits, countries }) =>
    filled(llms, {
      base_url: baseUrl,
      nonprofits: t.text("count.nonprofits", { count: nonprofits }),
      countries: t.text("count.countries", { count: countries }),
    }),
  "/agents.md": agentsGuide,
  "/skill.md": guide(skill),
  "/verify-receipt.md": guide(receipts),
  "/agents.arazzo.yaml": guide(arazzo),
  "/openapi.json": answered,
  "/openapi.yaml": ({ answer }) => Bun.YAML.stringify(answer, null, 2),
  "/robots.txt": robots,
  // The entry of this directory's MCP server for a registry, to which its operator sends it. Its name is the host in
  // reverse; registries want proof of control of the host. The second address has no tool that writes or pays, for
  // directories of tools that refuse payment. Source: MCP registry, schema of 2025-12-11.
  "/server.json": guide(mcpRegistry),
  "/.well-known/agent-skills/index.json": skillsIndex,
  "/.well-known/ai-plugin.json": guide(plugin),
  // Source: RFC 9727, as a link set (RFC 9264). The second anchor is the base of the paths in the API's description.
  "/.well-known/api-catalog": guide(apiCatalog),
  // Scanners read this to find an MCP server without calling it.
  "/.well-known/mcp.json": ({ baseUrl, tools }) =>
    answerBytes({ ...objectIn(fixedGuide(mcpCard, baseUrl)), tools }),
  // Source: RFC 9116. The contact is the operator's setting, or the role mailbox of RFC 2142. It expires `securityDays`
  // after the day of publication, which advances daily.
  "/.well-known/security.txt": ({ baseUrl, day, contact }) =>
    filled(security, {
      base_url: baseUrl,
      expires: isoTime(Date.parse(`${day}T00:00:00Z`) + securityDays * dayMs),
      contact: contact ?? `mailto:security@${new URL(baseUrl).hostname}`,
    }),
  // Scanners read this to learn what can be paid here.
  "/.well-known/x402": answered,
  "/sitemap.xml": ({ baseUrl, chunks }) =>
    sitemap("sitemapindex", [
      { address: `${baseUrl}/sitemaps/pages.xml` },
      ...chunks.map(({ chunk, updated_at }) => ({
        address: `${baseUrl}/sitemaps/${chunk}.xml`,
        updated_at,
      })),
    ]),
  "/sitemaps/[chunk].xml": ({ baseUrl, profiles }) =>
    sitemap(
      "urlset",
      profiles.map(({ slug, updated_at }) => ({
        address: `${baseUrl}/nonprofits/${slug}`,
        updated_at,
      })),
    ),
  "/sitemaps/pages.xml": ({ baseUrl, lists }) => {
    const paths = [...pages, ...lists.map((list) => `/${list}`)].slice(0, urlsMax);
    return sitemap(
      "urlset",
      paths.map((path) => ({ address: baseUrl + path })),
    );
  },
  "/api/causes.json": answered,
  "/api/stats.json": answered,
  "/api/needs-enrichment.json": answered,
  "/api/agents/leaderboard.json": answered,
  "/api/agents/exemplars.json": answered,
  "/api/enrichments/stats.json": answered,
  "/api/nonprofits.json": answered,
  "/api/nonprofits/pages/[page].json": answered,
  "/api/nonprofits/[slug].json": answered,
  "/api/history/[slug].json": answered,
  "/api/donations/[slug].json": answered,
};

/** Every file that is no page: `params.file` is its name in `texts`. Throws for an unknown name. */
export const GET: APIRoute = ({ params: { file = "" }, locals }) => {
  const text: unknown = Reflect.get(texts, file);
  if (typeof text !== "function") throw new Error(`no file is named ${file}`);
  return new Response(text(locals));
};
