import { createHash } from "node:crypto";
import { answerBytes, objectIn } from "#content/contract/base/json.ts";
import { dayMs, isoTime } from "#content/contract/base/time.ts";
import { unknownSignature } from "#content/contract/donation.ts";
import { needsDefault, needsIds } from "#content/enrichment/needs-store.ts";
import { shareOfDay } from "#content/enrichment/rotation.ts";
import type { Change } from "#content/nonprofit/changes-store.ts";
import { payables, payablesMax } from "#content/giving/payable.ts";
import { english } from "#content/language/texts.ts";
import { firstSlug, idsInList } from "#content/nonprofit/list-store.ts";
import { thinFields } from "#content/nonprofit/listing.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { openApiDocument } from "#content/openapi/document.ts";
import { listedAt } from "#content/openapi/mcp-tools.ts";
import { directoryNumbers } from "#content/operation/directory-facts-store.ts";
import { directoryFact } from "#content/store/facts.ts";
import { markdownLine } from "#site/parts/markdown.ts";
import { publicationDay } from "./answers.ts";
import {
  type DocumentKey,
  type SingleDocument,
  singles,
  type Source,
  written,
} from "./document.ts";
import { filledGuide, fixedGuide } from "./guides.ts";
import { changesNeeds, changesNumbers, touches } from "./staleness.ts";

const guide = (file: string, paths: readonly string[] = [file]) =>
  written(paths, ({ baseUrl }) => fixedGuide(file, baseUrl));

async function llmsText({ store, baseUrl }: Source): Promise<string> {
  const { nonprofits, countries } = await directoryNumbers(store);
  return filledGuide("llms.md", {
    base_url: baseUrl,
    nonprofits: english.text("count.nonprofits", { count: nonprofits }),
    countries: english.text("count.countries", { count: countries }),
  });
}

/** The setting, as the publisher found it: a fact of the store, so that a change of it renders security.txt again. */
export const securityContactFact = "security_contact";

/** Source: RFC 9116, 2.5.5: less than a year. */
const expiryDays = 180;

/**
 * Source: RFC 9116. The contact is what the operator set, or the role mailbox of RFC 2142. It expires some time after the
 * day of publication, which turns daily.
 */
async function securityText({ store, baseUrl }: Source): Promise<string> {
  const day = await publicationDay(store);
  const expires = isoTime(Date.parse(`${day}T00:00:00Z`) + expiryDays * dayMs);
  const mailbox = `mailto:security@${new URL(baseUrl).hostname}`;
  const contact = (await directoryFact(store, securityContactFact)) || mailbox;
  return filledGuide("security.txt", { base_url: baseUrl, expires, contact });
}

/** The foremost of those that want help, of which the guide shows other ten each day. */
const needsPool = 200;
const needsShown = 10;
/** Fields that never go live by agreement: an example in one of them does no harm however often it is sent. */
const queuedFields: readonly string[] = ["mission", "description"];

/** The guide for agents, with the profiles that want help today. */
async function agentsGuide({ store, baseUrl }: Source): Promise<string> {
  const day = await publicationDay(store);
  const foremost = { ...needsDefault(day), limit: needsPool };
  const ids = shareOfDay(await needsIds(store, foremost), day, needsShown);
  const records = await recordsById(store, ids, { summaries: true });
  const wanted = records.map((record) => ({ ...record, needs: thinFields(record) }));
  const queued = (fields: readonly string[]) =>
    fields.find((field) => queuedFields.includes(field));
  const example = wanted.find(({ needs }) => queued(needs)) ?? wanted[0];
  const items = wanted.map(
    ({ slug, name, needs }) =>
      `- [${markdownLine(name)}](${baseUrl}/nonprofits/${slug}), \`${slug}\`: ${needs.join(", ")}`,
  );
  return filledGuide("agents.md", {
    base_url: baseUrl,
    signature_wait: unknownSignature.waitText,
    example_slug: example?.slug ?? (await firstSlug(store)) ?? "none-yet",
    example_field: queued(example?.needs ?? []) ?? "tagline",
    needs_enrichment:
      items.length === 0 ? "None today: every profile is complete." : items.join("\n"),
  });
}

const walletFields: ReadonlySet<string> = new Set(["usdc_wallet", "status"]);

/** The foremost nonprofits that have a wallet: they stand at the beginning of the list. */
async function payable({ store, baseUrl, network }: Source) {
  const ids = await idsInList(store, "all", { limit: 5 * payablesMax, offset: 0 });
  const foremost = await recordsById(store, ids, { summaries: true });
  const slugs = foremost.flatMap(({ slug, usdc_wallet }) => (usdc_wallet === null ? [] : slug));
  return answerBytes(payables(baseUrl, network, slugs.slice(0, payablesMax)));
}

/** The skills of this directory, of which there is one. Source: Agent Skills Discovery, 0.2.0. */
function skillsIndex({ baseUrl }: Source): string {
  const text = fixedGuide("skill.md", baseUrl);
  const [, name = "", lines = ""] =
    /^name: (.+)\ndescription: >-\n((?: {2}.+\n)+)/m.exec(text) ?? [];
  const description = lines.trim().replaceAll(/\s+/g, " ");
  const digest = createHash("sha256").update(text).digest("hex");
  return filledGuide("agent-skills.json", { base_url: baseUrl, name, description, digest });
}

/** What scanners look for to find an MCP server without asking it. */
function mcpCard({ baseUrl }: Source): string {
  const tools = listedAt("default").map(({ listed: { name, title, description } }) => ({
    name,
    title,
    description,
  }));
  return answerBytes({ ...objectIn(fixedGuide("mcp.json", baseUrl)), tools });
}

/** The files by which programs find out about the directory. */
export const discoveryFiles = {
  llms: written(["llms.txt"], llmsText, changesNumbers),
  // Some look for the name in capitals; it is the same guide, so that a folder that ignores letter case can hold it.
  agents: written(
    ["agents.md", "AGENTS.md"],
    agentsGuide,
    (change: Change) => changesNumbers(change) || changesNeeds(change),
  ),
  security: written([".well-known/security.txt"], securityText, changesNumbers),
  openapi: written(["openapi.json"], ({ baseUrl }) => answerBytes(openApiDocument(baseUrl))),
  "openapi-yaml": written(["openapi.yaml"], ({ baseUrl }) =>
    Bun.YAML.stringify(openApiDocument(baseUrl), null, 2),
  ),
  arazzo: guide("agents.arazzo.yaml"),
  // Source: RFC 9727, as a link set of RFC 9264. The paths of the description begin at its second anchor.
  catalog: guide("api-catalog.json", [".well-known/api-catalog"]),
  plugin: guide("ai-plugin.json", [".well-known/ai-plugin.json"]),
  // What scanners look for that want to know what can be paid here.
  payable: written(
    [".well-known/x402"],
    payable,
    (change: Change) => changesNumbers(change) || touches(change, walletFields),
  ),
  receipts: guide("verify-receipt.md"),
  // A skill that agents install. Source: agentskills.io.
  skill: guide("skill.md", [
    "skill.md",
    "SKILL.md",
    ".well-known/agent-skills/nonprofit-directory/SKILL.md",
  ]),
  skills: written([".well-known/agent-skills/index.json"], skillsIndex),
  mcp: written([".well-known/mcp.json", ".well-known/mcp/server-card.json"], mcpCard),
  // The entry of this directory's MCP server in a registry, for its publisher to send. The name is the host's in reverse, of
  // which registries want control proven. The second address has no tool that writes or pays, for directories of tools that
  // refuse payment. Source: MCP registry, schema of 2025-12-11.
  "mcp-registry": guide("server.json"),
} as const satisfies Readonly<Record<string, SingleDocument>>;

export const discoveryKey = (name: keyof typeof discoveryFiles): DocumentKey => `discovery ${name}`;
export const discovery = singles("discovery", discoveryFiles);
