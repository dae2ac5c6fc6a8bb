import { readFileSync } from "node:fs";
import { join } from "node:path";
import { helpWantedDefault, helpWantedIds } from "#content/enrichment/needs-store.ts";
import { shareOfDay } from "#content/enrichment/rotation.ts";
import { idsInList } from "#content/nonprofit/list-store.ts";
import { thinFields } from "#content/nonprofit/listing.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { openApiDocument } from "#content/openapi/document.ts";
import { mcpTools } from "#content/openapi/mcp-tools.ts";
import { directoryFact, directoryNumbers } from "#content/operation/directory-store.ts";
import { grouped } from "#site/parts/words.ts";
import { type BundleFile, type DocumentKind, partsOf, type Source } from "./document.ts";
import { type DiscoveryName, keyOf } from "./keys.ts";
import { markdownLine } from "#site/parts/markdown.ts";

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

const files: Record<DiscoveryName, (source: Source) => Promise<BundleFile[]>> = {
  llms: async (source) => {
    const text = await llmsText(source);
    return [{ path: "llms.txt", body: await source.renderer.render("/llms.txt", { text }) }];
  },
  agents: async (source) => {
    const text = await agentsGuide(source);
    const body = await source.renderer.render("/agents.md", { text });
    // Some look for the name in capitals; it is the same guide, so that a folder that ignores letter case can hold it.
    return ["agents.md", "AGENTS.md"].map((path) => ({ path, body }));
  },
  security: async (source) => {
    const { baseUrl, renderer } = source;
    const day = await publicationDay(source);
    const body = await renderer.render("/.well-known/security.txt", { baseUrl, day });
    return [{ path: ".well-known/security.txt", body }];
  },
  openapi: async ({ baseUrl, renderer }) => {
    const body = await renderer.render("/openapi.json", { answer: openApiDocument(baseUrl) });
    return [{ path: "openapi.json", body }];
  },
  arazzo: async ({ baseUrl, renderer }) => {
    const text = workflows({ base_url: baseUrl });
    return [
      { path: "agents.arazzo.yaml", body: await renderer.render("/agents.arazzo.yaml", { text }) },
    ];
  },
  catalog: async ({ baseUrl, renderer }) => {
    const body = await renderer.render("/.well-known/api-catalog", { baseUrl });
    return [{ path: ".well-known/api-catalog", body }];
  },
  plugin: async ({ baseUrl, renderer }) => {
    const body = await renderer.render("/.well-known/ai-plugin.json", { baseUrl });
    return [{ path: ".well-known/ai-plugin.json", body }];
  },
  mcp: async ({ baseUrl, renderer }) => {
    const tools = mcpTools.map(({ name, title, description }) => ({ name, title, description }));
    const body = await renderer.render("/.well-known/mcp.json", { baseUrl, tools });
    const paths = [".well-known/mcp.json", ".well-known/mcp/server-card.json"];
    return paths.map((path) => ({ path, body }));
  },
};

const folder = join(import.meta.dirname, "../../content/editorial/guides");

/** A guide of content/editorial with its {{places}} filled. Throws for a place that no one fills: a slip of the pen. */
export function openGuide(name: string): (values: Readonly<Record<string, string>>) => string {
  const text = readFileSync(join(folder, name), "utf8");
  return (values) =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (_, place: string) => {
      const value = values[place];
      if (value === undefined) throw new Error(`${name}: nothing to put in the place ${place}`);
      return value;
    });
}

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

/** The first of the whole list; in an empty directory a name that no one has. */
async function anySlug({ store }: Source): Promise<string> {
  const ids = await idsInList(store, "all", { limit: 1, offset: 0 });
  const [first] = await recordsById(store, ids, { summaries: true });
  return first?.slug ?? "none-yet";
}

/** The day of a directory that was never published on a schedule: the day's rotation has to begin somewhere. */
const firstDay = "2026-01-01";

/** The day that documents are of, "YYYY-MM-DD": a fact of the store, so that the bundle is a function of it. */
export const publicationDay = async ({ store }: Pick<Source, "store">): Promise<string> =>
  (await directoryFact(store, "publication_day")) ?? firstDay;
