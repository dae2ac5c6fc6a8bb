import { needsDefault, needsIds, shareOfDay } from "#content/enrichment/needs-store.ts";
import type { Change } from "#content/nonprofit/changes-store.ts";
import { payables, payablesMax } from "#content/giving/network.ts";
import { firstSlug, idsInList } from "#content/nonprofit/list-store.ts";
import { thinFields } from "#content/nonprofit/listing.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { openApiDocument } from "#content/openapi/document.ts";
import { listedAt } from "#content/openapi/mcp-tools.ts";
import { directoryNumbers } from "#content/operation/directory-facts-store.ts";
import { directoryFact } from "#content/store/facts.ts";
import { publicationDay } from "./answers.ts";
import {
  single,
  type SingleDocument,
  singles,
  type Source,
  changesNeeds,
  changesNumbers,
  touches,
} from "./document.ts";

const nothing = () => ({});
let last: { baseUrl: string; answer: ReturnType<typeof openApiDocument> } | undefined;

/** The description of the API, cached: two files are made from it, and it takes as long as a dozen of these. */
const described = ({ baseUrl }: Source) =>
  (last = last?.baseUrl === baseUrl ? last : { baseUrl, answer: openApiDocument(baseUrl) });

/** The publisher stores this setting as a fact, so that a change renders security.txt again. */
export const securityContactFact = "security_contact";

/** The first nonprofits in the list of those that need help; the guide shows ten others of them each day. */
const needsPool = 200;
const needsShown = 10;

async function wantedToday({ store }: Source) {
  const day = await publicationDay(store);
  const foremost = { ...needsDefault(day), limit: needsPool };
  const ids = shareOfDay(await needsIds(store, foremost), day, needsShown);
  const records = await recordsById(store, ids, { summaries: true });
  return {
    wanted: records.map((record) => ({
      slug: record.slug,
      name: record.name,
      needs: thinFields(record),
    })),
    firstSlug: await firstSlug(store),
  };
}

const walletFields: ReadonlySet<string> = new Set(["usdc_wallet", "status"]);

/** The first nonprofits with a wallet: those with one are at the beginning of the list. */
async function payable({ store, baseUrl, network }: Source) {
  const ids = await idsInList(store, "all", { limit: 5 * payablesMax, offset: 0 });
  const foremost = await recordsById(store, ids, { summaries: true });
  const slugs = foremost.flatMap(({ slug, usdc_wallet }) => (usdc_wallet === null ? [] : slug));
  return { answer: payables(baseUrl, network, slugs.slice(0, payablesMax)) };
}

/** The files by which programs discover the directory. */
export const discoveryFiles = {
  llms: single("/llms.txt", ({ store }) => directoryNumbers(store), { staleAfter: changesNumbers }),
  // Some programs look for the name in capitals. The content is equal, so a folder that ignores letter case can hold it.
  agents: single("/agents.md", wantedToday, {
    paths: ["agents.md", "AGENTS.md"],
    staleAfter: (change: Change) => changesNumbers(change) || changesNeeds(change),
  }),
  security: single(
    "/.well-known/security.txt",
    async ({ store }) => ({
      day: await publicationDay(store),
      contact: (await directoryFact(store, securityContactFact)) || null,
    }),
    { staleAfter: changesNumbers },
  ),
  openapi: single("/openapi.json", described),
  "openapi-yaml": single("/openapi.yaml", described),
  arazzo: single("/agents.arazzo.yaml", nothing),
  catalog: single("/.well-known/api-catalog", nothing, { paths: [".well-known/api-catalog"] }),
  plugin: single("/.well-known/ai-plugin.json", nothing),
  payable: single("/.well-known/x402", payable, {
    paths: [".well-known/x402"],
    staleAfter: (change: Change) => changesNumbers(change) || touches(change, walletFields),
  }),
  receipts: single("/verify-receipt.md", nothing),
  skill: single("/skill.md", nothing, {
    paths: ["skill.md", "SKILL.md", ".well-known/agent-skills/nonprofit-directory/SKILL.md"],
  }),
  skills: single("/.well-known/agent-skills/index.json", nothing),
  mcp: single(
    "/.well-known/mcp.json",
    () => ({
      tools: listedAt("default").map(({ listed: { name, title, description } }) => ({
        name,
        title,
        description,
      })),
    }),
    { paths: [".well-known/mcp.json", ".well-known/mcp/server-card.json"] },
  ),
  "mcp-registry": single("/server.json", nothing),
} as const satisfies Readonly<Record<string, SingleDocument>>;

export const discovery = singles("discovery", discoveryFiles);
