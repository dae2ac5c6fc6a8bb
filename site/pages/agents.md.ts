import { unknownSignature } from "#content/contract/donation.ts";
import guide from "#content/editorial/guides/agents.md?raw";
import { endpoint, filled } from "#site/documents/endpoint.ts";
import { markdownLine } from "#site/parts/markdown.ts";

/** Fields that never go live by agreement: an example in one of them does no harm however often it is sent. */
const queuedFields: readonly string[] = ["mission", "description"];

/** The guide for agents, with the profiles that want help today. */
export const GET = endpoint<"/agents.md">(({ baseUrl, wanted, firstSlug }) => {
  const queued = (fields: readonly string[]) =>
    fields.find((field) => queuedFields.includes(field));
  const example = wanted.find(({ needs }) => queued(needs)) ?? wanted[0];
  const items = wanted.map(
    ({ slug, name, needs }) =>
      `- [${markdownLine(name)}](${baseUrl}/nonprofits/${slug}), \`${slug}\`: ${needs.join(", ")}`,
  );
  return filled(guide, {
    base_url: baseUrl,
    signature_wait: unknownSignature.waitText,
    example_slug: example?.slug ?? firstSlug ?? "none-yet",
    example_field: queued(example?.needs ?? []) ?? "tagline",
    needs_enrichment:
      items.length === 0 ? "None today: every profile is complete." : items.join("\n"),
  });
});
