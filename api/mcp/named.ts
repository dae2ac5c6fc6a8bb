import { directoryOperations } from "#content/contract/operations/directory.ts";
import type { OrganisationsFound } from "#content/contract/standing.ts";
import type { McpTool } from "#content/openapi/mcp-tools.ts";
import { matchFrom } from "#content/reconciliation/match.ts";
import type { ToolArguments } from "./arguments.ts";
import { type Answer, type Ask, answerTo, callOf } from "./call.ts";

/** The argument by which these tools take a nonprofit however it is called; the others take its slug alone. */
const namedBy = new Map([
  ["get_nonprofit", "slug"],
  ["check_organisation", "org_id"],
]);
const notKnown = ["nonprofit_not_found", "number_not_valid", "register_not_known"];

/**
 * The answer of a tool, where a nonprofit may be named by its slug, id, register number, page here, website or name. A
 * refusal of what no one is called says who may be meant.
 */
export async function answerNamed(
  { ask, origin }: { ask: Ask; origin: string },
  { name: tool, operation }: McpTool,
  given: ToolArguments,
): Promise<Answer> {
  const argument = namedBy.get(tool) ?? "slug";
  const name = withoutAddress(String(given[argument]), origin);
  const answerFor = (one: string) =>
    answerTo(ask, callOf(operation, argument in given ? { ...given, [argument]: one } : given));
  const answer = await answerFor(name);
  if (!notKnown.includes(String(answer.value["code"]))) return answer;
  const asked = { name, country: given["country"] };
  const { value } = await answerTo(ask, callOf(directoryOperations.findOrganisations, asked));
  const { organisations = [] } = value as Partial<OrganisationsFound>;
  const [first] = organisations;
  if (first?.match !== true || !namedBy.has(tool)) return withNearest(answer, organisations);
  const number = argument === "slug" ? first.slug : first.identifiers[0];
  if (number !== undefined) {
    const meant = await answerFor(number);
    // Said, because a name that is near may be another's.
    return { ...meant, value: { taken_for: `${first.name} (${first.slug})`, ...meant.value } };
  }
  const detail = `No register number of ${first.slug} is known here: get_nonprofit has what is known of it.`;
  return { ...answer, value: { code: "no_register_number", detail } };
}

function withNearest(answer: Answer, found: OrganisationsFound["organisations"]): Answer {
  const nearest = found.map(({ slug, name, city, country }) => ({ slug, name, city, country }));
  if (nearest.length === 0) return answer;
  const isNear = (found[0]?.score ?? 0) >= matchFrom;
  const [code, said] = isNear
    ? ["several_nonprofits", "Several may be meant"]
    : ["nonprofit_not_found", "No nonprofit here is called that"];
  const detail = `${said}: send the slug of one of \`nearest\`.`;
  return { ...answer, value: { code, detail, nearest } };
}

const pageHere = /\/(?:nonprofits|give|donate|history)\/([^/?#.]+)/;

/** The slug in the address of a page here; any other text as it is. */
const withoutAddress = (text: string, origin: string): string =>
  (text.trim().startsWith(`${origin}/`) && pageHere.exec(text)?.[1]) || text.trim();
