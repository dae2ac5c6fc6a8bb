import { markdownLine } from "./markdown.ts";
import { openApiDocument } from "#content/openapi/document.ts";
import { shareOfDay } from "#content/enrichment/rotation.ts";
import { thinFields } from "#content/nonprofit/listing.ts";
import { helpWantedDefault, helpWantedIds } from "#content/enrichment/needs-store.ts";
import { idsInList } from "#content/nonprofit/list-store.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { directoryNumbers } from "#content/operation/directory-store.ts";
import { grouped } from "#site/parts/words.ts";
import { type BundleFile, type DocumentKind, partsOf, type Source } from "./document.ts";
import { apiCatalog, mcpCard, pluginManifest, securityText } from "./discovery-files.ts";
import { openGuide } from "./guide.ts";
import { type DiscoveryName, keyOf } from "./keys.ts";
import { publicationDay } from "./publication-day.ts";

/** The files by which programs find out about the directory. */
export const discovery: DocumentKind = {
  kind: "discovery",
  all: () => [(Object.keys(files) as DiscoveryName[]).map(keyOf.discovery)],
  render: (keys, source) =>
    Promise.all(
      keys.map(async (key) => {
        const made = files[partsOf(key)[1] as DiscoveryName];
        if (made === undefined) throw new Error(`no discovery file is named by ${key}`);
        return { key, files: await made(source) };
      }),
    ),
};

const json = (value: unknown): string => `${JSON.stringify(value)}\n`;

const files: Record<DiscoveryName, (source: Source) => Promise<BundleFile[]> | BundleFile[]> = {
  llms: async (source) => [{ path: "llms.txt", body: await llmsText(source) }],
  agents: async (source) => {
    const body = await agentsGuide(source);
    // Some look for the name in capitals; it is the same guide, so that a folder that ignores letter case can hold it.
    return ["agents.md", "AGENTS.md"].map((path) => ({ path, body }));
  },
  security: async (source) => [
    {
      path: ".well-known/security.txt",
      body: securityText(source.baseUrl, await publicationDay(source)),
    },
  ],
  openapi: ({ baseUrl }) => [{ path: "openapi.json", body: json(openApiDocument(baseUrl)) }],
  arazzo: ({ baseUrl }) => [{ path: "agents.arazzo.yaml", body: workflows({ base_url: baseUrl }) }],
  catalog: ({ baseUrl }) => [{ path: ".well-known/api-catalog", body: json(apiCatalog(baseUrl)) }],
  plugin: ({ baseUrl }) => [
    { path: ".well-known/ai-plugin.json", body: json(pluginManifest(baseUrl)) },
  ],
  mcp: ({ baseUrl }) => {
    const body = json(mcpCard(baseUrl));
    const paths = [".well-known/mcp.json", ".well-known/mcp/server-card.json"];
    return paths.map((path) => ({ path, body }));
  },
};

const llms = openGuide("llms.md");
const agents = openGuide("agents.md");
const workflows = openGuide("agents.arazzo.yaml");

async function llmsText({ store, baseUrl }: Source): Promise<string> {
  const { nonprofits, countries } = await directoryNumbers(store);
  return llms({
    base_url: baseUrl,
    nonprofits: grouped(nonprofits),
    countries: grouped(countries),
  });
}

/** Fields that never go live by agreement: an example in one of them does no harm however often it is sent. */
const queuedFields: readonly string[] = ["mission", "description"];

/** The foremost of those that want help, of which the guide shows other ten each day. */
const helpWantedPool = 200;
const helpWantedShown = 10;

async function agentsGuide(source: Source): Promise<string> {
  const { store, baseUrl } = source;
  const day = await publicationDay(source);
  const foremost = { ...helpWantedDefault(day), limit: helpWantedPool };
  const ids = shareOfDay(await helpWantedIds(store, foremost), day, helpWantedShown);
  const records = await recordsById(store, ids, { summaries: true });
  const wanted = records.map((one) => ({ slug: one.slug, name: one.name, needs: thinFields(one) }));
  const queued = (fields: readonly string[]) =>
    fields.find((field) => queuedFields.includes(field));
  const example = wanted.find(({ needs }) => queued(needs)) ?? wanted[0];
  const items = wanted.map(
    ({ slug, name, needs }) =>
      `- [${markdownLine(name)}](${baseUrl}/nonprofits/${slug}), \`${slug}\`: ${needs.join(", ")}`,
  );
  return agents({
    base_url: baseUrl,
    example_slug: example?.slug ?? (await anySlug(source)),
    example_field: queued(example?.needs ?? []) ?? "tagline",
    help_wanted: items.length === 0 ? "None today: every profile is complete." : items.join("\n"),
  });
}

/** The first of the whole list; in an empty directory a name that nobody has. */
async function anySlug({ store }: Source): Promise<string> {
  const ids = await idsInList(store, "all", { limit: 1, offset: 0 });
  const [first] = await recordsById(store, ids, { summaries: true });
  return first?.slug ?? "none-yet";
}
