import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from "@modelcontextprotocol/server";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";
import { nearestWords } from "#content/contract/base/edit-distance.ts";
import { fail, type Result } from "#content/contract/base/result.ts";
import { version } from "#content/contract/base/version.ts";
import { causeIds, type FilterParameters } from "#content/contract/browse.ts";
import { directoryOperations } from "#content/contract/operations/directory.ts";
import { unknownName, usualName } from "#content/contract/other-names.ts";
import { type Wrong, wrongsInWords, fitted, wrongsMax } from "#content/contract/problem.ts";
import type { OrganisationsFound } from "#content/contract/standing.ts";
import countries from "#content/editorial/countries.json";
import words from "#content/editorial/mcp-tools.json";
import { unknownValues } from "#content/find/query.ts";
import { countryOf } from "#content/nonprofit/country.ts";
import { fold } from "#content/nonprofit/text.ts";
import {
  type Door,
  type McpTool,
  knownAt,
  listedAt,
  mcpTools,
  type ArgumentSchema,
} from "#content/openapi/mcp-tools.ts";
import { matchFrom } from "#content/reconciliation/match.ts";
import { refused, resultOf } from "./answers.ts";
import { type Answer, type Ask, answerTo, callOf, toolsNamed } from "./call.ts";

/** The service that a server asks, the origin of the directory, and the door, which decides the tools. */
export type McpWorld = { ask: Ask; origin: string; door: Door };

/** Shared, because each server would make one, although none sends a request that needs it. */
const jsonSchemaValidator = new AjvJsonSchemaValidator();

/** How long clients may cache what changes only with a new version, or only with a new release. */
const cacheHints = Object.fromEntries(
  Object.entries(words.cache_ms).map(([of, ttlMs]) => [
    of,
    { ttlMs, cacheScope: "public" as const },
  ]),
);

/** The directory as an MCP server. It is stateless: each connection, or each HTTP request, gets a new one. */
export function mcpServer(world: McpWorld): Server {
  const server = new Server(
    { name: "almoner", title: "Almoner", version },
    {
      capabilities: { tools: {}, resources: {}, completions: {} },
      instructions: words.instructions,
      jsonSchemaValidator,
      cacheHints,
    },
  );
  server.setRequestHandler("tools/list", () => ({
    tools: listedAt(world.door).map(({ listed }) => listed),
  }));
  server.setRequestHandler("tools/call", ({ params }) =>
    callTool(world, toolNamed(world.door, params.name), params.arguments ?? {}),
  );
  server.setRequestHandler("resources/list", () => ({ resources: resourceList }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates }));
  server.setRequestHandler("resources/read", ({ params }) => readResource(world, params.uri));
  server.setRequestHandler("completion/complete", ({ params: { argument } }) => ({
    completion: { values: completed(argument.name, argument.value) },
  }));
  return server;
}

/** An unknown tool is a protocol error. Source: MCP, "Tools", error handling. */
function toolNamed(door: Door, name: string): McpTool {
  const tool = knownAt(door).find((mcpTool) => mcpTool.name === name);
  if (tool !== undefined) return tool;
  const names = listedAt(door).map((mcpTool) => mcpTool.name);
  const detail = unknownName("tool", name, names);
  const data = { code: "tool_unknown", error: detail, detail };
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, detail, data);
}

async function callTool(
  world: McpWorld,
  tool: McpTool,
  args: ToolArguments,
): Promise<CallToolResult> {
  const read = readArguments(tool, args);
  if (!read.ok) return refused(badInput(read.failure));
  const { full, kind, ...input } = read.value;
  const kindTool = tool.kinds?.[String(kind)];
  if (kindTool !== undefined) return callTool(world, toolNamed(world.door, kindTool), input);
  const weight = full === true ? { include: "facets,charts" } : {};
  const answer = await answerNamed(world, tool, { shape: "a", ...weight, ...input });
  return answer.ok
    ? resultOf(tool, answer.value, { isFull: full === true, door: world.door })
    : refused(answer.value);
}

const detailLengthMax = 1_000;

const badInput = (errors: Wrong[]) => ({
  code: "invalid_parameter",
  detail: wrongsInWords(errors).slice(0, detailLengthMax),
  errors,
});

/** Resources and the tools that answer for them. A URI that ends in "/" takes one argument. */
const resources = words.resources.map((resource) => ({
  ...resource,
  isFolder: resource.uri.endsWith("/"),
}));
const mimeType = "application/json";
const resourceList = resources
  .filter(({ isFolder }) => !isFolder)
  .map(({ uri, name, title }) => ({ uri, name, title, mimeType }));
const resourceTemplates = resources
  .filter(({ isFolder }) => isFolder)
  .map(({ uri, name, title }) => ({ uriTemplate: `${uri}{${name}}`, name, title, mimeType }));

async function readResource(world: McpWorld, uri: string) {
  const listedResource = resources.find((resource) =>
    resource.isFolder ? uri.startsWith(resource.uri) : uri === resource.uri,
  );
  const tool = mcpTools.find(({ name }) => name === listedResource?.tool);
  if (listedResource === undefined || tool === undefined)
    throw new ResourceNotFoundError(uri, notThere);
  const parameters = listedResource.isFolder
    ? { [listedResource.name]: decoded(uri.slice(listedResource.uri.length)) }
    : {};
  const readResult = readArguments(tool, parameters);
  const answer = readResult.ok ? await answerNamed(world, tool, readResult.value) : null;
  const isThere = answer !== null && (answer.ok || ![400, 404].includes(answer.status));
  if (!isThere) throw new ResourceNotFoundError(uri, notThere);
  // The refusal may be a limit or an outage, so the resource may well exist.
  if (!answer.ok)
    throw new ProtocolError(ProtocolErrorCode.InternalError, String(answer.value["detail"]));
  const { structuredContent } = resultOf(tool, answer.value, { isFull: false, door: world.door });
  return { contents: [{ uri, mimeType, text: JSON.stringify(structuredContent) }] };
}

const notThere = "There is no such resource.";

/** Decodes as in a query: invalid escapes stay as they are. */
const decoded = (text: string) => new URLSearchParams(`_=${text.replaceAll("+", "%2B")}`).get("_");

const completedMax = 100;
const completable: ReadonlyMap<string, readonly string[]> = new Map([
  ["cause", causeIds],
  ["country", countries.map(({ name }) => name)],
]);

/** Values that start with the typed text, in any case, then similar ones. */
function completed(argument: string, typed: string): string[] {
  const values = completable.get(argument) ?? [];
  const completions = values.filter((value) => value.toLowerCase().startsWith(typed.toLowerCase()));
  return [...new Set([...completions, ...nearestWords(typed, values)])].slice(0, completedMax);
}

/** For these tools, this argument may name a nonprofit in any way; other tools take only a slug. */
const namedBy = new Map([
  ["get_nonprofit", "slug"],
  ["check_organisation", "org_id"],
]);
const notKnown = ["nonprofit_not_found", "number_not_valid", "register_not_known"];

/**
 * The answer of a tool for a nonprofit named by its slug, id, register number, page here, website or name. If nothing has
 * that name, the refusal lists similar ones.
 */
export async function answerNamed(
  { ask, origin }: { ask: Ask; origin: string },
  { name: tool, operation }: McpTool,
  args: ToolArguments,
): Promise<Answer> {
  const argument = namedBy.get(tool) ?? "slug";
  const { [argument]: sent } = args;
  const name = withoutAddress(String(sent), origin);
  // A shape makes null of an argument that was left out.
  const answerFor = (text: string) =>
    answerTo(
      ask,
      callOf(operation, typeof sent === "string" ? { ...args, [argument]: text } : args),
    );
  const answer = await answerFor(name);
  if (!notKnown.includes(String(answer.value["code"]))) return answer;
  const query = { name, country: args["country"] };
  const { value } = await answerTo(ask, callOf(directoryOperations.findOrganisations, query));
  const { organisations = [] } = value as Partial<OrganisationsFound>;
  const [first] = organisations;
  if (first?.match !== true || !namedBy.has(tool)) return withNearest(answer, organisations);
  const number = argument === "slug" ? first.slug : first.identifiers[0];
  if (number !== undefined) {
    const answerByNumber = await answerFor(number);
    // Named in the answer, because a similar name may be another nonprofit's.
    return {
      ...answerByNumber,
      value: { taken_for: `${first.name} (${first.slug})`, ...answerByNumber.value },
    };
  }
  const detail = `No register number of ${first.slug} is known here: get_nonprofit has what is known of it.`;
  return { ...answer, value: { code: "no_register_number", detail } };
}

function withNearest(answer: Answer, organisations: OrganisationsFound["organisations"]): Answer {
  const nearest = organisations.map(({ slug, name, city, country }) => ({
    slug,
    name,
    city,
    country,
  }));
  if (nearest.length === 0) return answer;
  const isNear = (organisations[0]?.score ?? 0) >= matchFrom;
  const [code, said] = isNear
    ? ["several_nonprofits", "Several may be meant"]
    : ["nonprofit_not_found", "No nonprofit here is called that"];
  const detail = `${said}: send the slug of one of \`nearest\`.`;
  return { ...answer, value: { code, detail, nearest } };
}

const pageHere = /\/(?:nonprofits|give|donate|history)\/([^/?#.]+)/;

/** The slug from the address of a page here; any other text unchanged. */
const withoutAddress = (text: string, origin: string): string =>
  (text.trim().startsWith(`${origin}/`) && pageHere.exec(text)?.[1]) || text.trim();

export type ToolArguments = Readonly<Record<string, unknown>>;

/**
 * Reads the arguments of a tool under its own names. Nothing is dropped silently: a name or value without a meaning is
 * refused, with the nearest valid one.
 */
export function readArguments(
  { input, listed }: McpTool,
  args: ToolArguments,
): Result<ToolArguments, Wrong[]> {
  const { properties } = listed.inputSchema;
  const wrongs: Wrong[] = [];
  const namedArguments = membersOf(properties, args, "", wrongs);
  if (wrongs.length > 0) return fail(wrongs.slice(0, wrongsMax));
  const fitResult = fitted(input, namedArguments);
  if (fitResult.ok) {
    const filters = "looked_for" in properties ? ofReport(fitResult.value) : fitResult.value;
    const unknown = "cause" in properties ? unknownFilters(filters) : [];
    return unknown.length > 0 ? fail(unknown) : fitResult;
  }
  return fail(
    fitResult.failure.map(({ path, message }) => {
      // The description of the argument has an example.
      const { description } = properties[path.split(/[.[]/)[0] ?? ""] ?? {};
      return { path, message: description === undefined ? message : `${message} (${description})` };
    }),
  );
}

/** Members under known names, without nulls. Unknown and repeated ones are added to `wrongs`. */
function membersOf(
  members: Readonly<Record<string, ArgumentSchema>>,
  argumentsObject: object,
  path: string,
  wrongs: Wrong[],
): ToolArguments {
  const names = Object.keys(members);
  const values: Record<string, unknown> = {};
  for (const [sent, value] of Object.entries(argumentsObject)) {
    const name = usualName(sent, names);
    const at = path === "" ? sent : `${path}.${sent}`;
    if (name === null) wrongs.push({ path: at, message: unknownName("argument", sent, names) });
    if (name === null || (value === null && name !== "amount")) continue;
    const argumentValue = memberValue(members[name] ?? {}, value, at, wrongs);
    if (name in values && values[name] !== argumentValue)
      wrongs.push({ path: at, message: `${name} is there twice: send ${name} alone.` });
    // An empty amount means null, not that it was left out.
    values[name] = name === "amount" && argumentValue === "" ? null : argumentValue;
  }
  return values;
}

/** Converts a value to the form of its schema if it is unambiguous; else leaves it as it is. */
function memberValue(
  schema: ArgumentSchema,
  value: unknown,
  path: string,
  wrongs: Wrong[],
): unknown {
  const { type, items = {}, properties } = schema;
  if (Array.isArray(value))
    return value.map((item, at) => memberValue(items, item, `${path}[${at}]`, wrongs));
  if (typeof value === "object" && value !== null)
    return properties === undefined ? value : membersOf(properties, value, path, wrongs);
  const text = String(value).trim();
  if (type === "boolean") return flags.get(text.toLowerCase()) ?? value;
  if (numbers.has(type) && plainNumber.test(text)) return Number(text);
  return schema.enum?.find((choice) => fold(choice) === fold(text)) ?? value;
}

const flags = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);
const numbers: ReadonlySet<unknown> = new Set(["number", "integer"]);
const plainNumber = /^\d+(?:\.\d+)?$/;

/** A report of a gap may name a country by a part of it ("Scotland"), as over HTTP; a filter may not. */
const ofReport = ({ cause, country }: FilterParameters): FilterParameters => ({
  cause,
  country: countryOf(country ?? "") ?? country,
});

/** An unknown cause or country would match nothing, so it is refused. */
const unknownFilters = ({ cause, country }: FilterParameters): Wrong[] =>
  unknownValues({ cause, country }).map(({ filter, message }) => ({
    path: filter,
    message: toolsNamed(message),
  }));
