import { readFileSync } from "node:fs";
import { join } from "node:path";
import { needsDefault, needsIds } from "#content/enrichment/needs-store.ts";
import { shareOfDay } from "#content/enrichment/rotation.ts";
import { idsInList } from "#content/nonprofit/list-store.ts";
import { thinFields } from "#content/nonprofit/listing.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { directoryFact, directoryNumbers } from "#content/operation/directory-facts-store.ts";
import { grouped } from "#site/parts/words.ts";
import type { Source } from "./document.ts";
import { markdownLine } from "#site/parts/markdown.ts";

const folder = join(import.meta.dirname, "../../content/editorial/guides");

/** A guide of content/editorial with its {{places}} filled. Throws for a place that no one fills: a slip of the pen. */
function openGuide(name: string): (values: Readonly<Record<string, string>>) => string {
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
/** The Arazzo description of what agents do. */
export const workflows = openGuide("agents.arazzo.yaml");

/** llms.txt: what the directory is, for models. */
export async function llmsText({ store, baseUrl }: Source): Promise<string> {
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
const needsPool = 200;
const needsShown = 10;

/** agents.md: the guide, with the profiles that want help today. */
export async function agentsGuide(source: Source): Promise<string> {
  const { store, baseUrl } = source;
  const day = await publicationDay(source);
  const foremost = { ...needsDefault(day), limit: needsPool };
  const ids = shareOfDay(await needsIds(store, foremost), day, needsShown);
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
    needs_enrichment:
      items.length === 0 ? "None today: every profile is complete." : items.join("\n"),
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
