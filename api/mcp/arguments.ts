import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { nearestName, usualName } from "#content/contract/other-names.ts";
import { fitted, type Wrong, wrongsMax } from "#content/contract/problem.ts";
import causes from "#content/editorial/causes.json";
import { unknownValues } from "#content/find/unknown-values.ts";
import { fold } from "#content/nonprofit/text.ts";
import type { ArgumentSchema, McpTool } from "#content/openapi/mcp-tools.ts";

/** Arguments as clients send them. */
export type Given = Readonly<Record<string, unknown>>;

/**
 * What a tool was asked, by its own names. Nothing is dropped: what has no meaning here is refused, with the name or
 * the value that has.
 */
export function readArguments(tool: McpTool, given: Given): Result<Given, Wrong[]> {
  const wrongs: Wrong[] = [];
  const named = valueOf(tool.listed.inputSchema, renamed(tool, given, wrongs), "", wrongs);
  if (wrongs.length > 0) return fail(wrongs.slice(0, wrongsMax));
  const read = fitted(tool.input, named);
  if (!read.ok) {
    return fail(
      read.failure.map(({ path, message }) => ({ path, message: message + help(tool, path) })),
    );
  }
  const filters =
    "cause" in tool.listed.inputSchema.properties ? knownFilters(read.value, wrongs) : {};
  return wrongs.length > 0 ? fail(wrongs) : ok({ ...read.value, ...filters });
}

/** What the description says of an argument, with an example. */
function help({ listed: { inputSchema } }: McpTool, path: string): string {
  const [name = ""] = path.split(/[.[]/);
  const { description } = inputSchema.properties[name] ?? {};
  return description === undefined ? "" : ` (${description})`;
}

function renamed(
  {
    listed: {
      inputSchema: { properties },
    },
  }: McpTool,
  given: Given,
  wrongs: Wrong[],
): Given {
  const known = Object.keys(properties);
  const read = new Map<string, { path: string; value: unknown }>();
  for (const [path, value] of Object.entries(given)) {
    const name = usualName(path, known) ?? path;
    const before = read.get(name);
    if (before !== undefined && ![null, before.value].includes(value) && before.value !== null) {
      wrongs.push({ path, message: `${path} and ${before.path} are one: send ${name} alone.` });
    }
    if (before === undefined || value !== null) read.set(name, { path, value });
  }
  return Object.fromEntries([...read].map(([name, { value }]) => [name, value]));
}

/** A value in the form that its schema has, where it can be meant in one way alone; else as it came. */
function valueOf(schema: ArgumentSchema, value: unknown, path: string, wrongs: Wrong[]): unknown {
  if (Array.isArray(value)) {
    const { items = {} } = schema;
    return value.map((item, at) => valueOf(items, item, `${path}[${at}]`, wrongs));
  }
  if (typeof value === "object" && value !== null && schema.properties !== undefined) {
    return membersOf(schema.properties, value, path, wrongs);
  }
  return plainValueOf(schema, value);
}

function plainValueOf(schema: ArgumentSchema, value: unknown): unknown {
  const text = String(value).trim();
  if (schema.type === "boolean") return flags.get(text.toLowerCase()) ?? value;
  const isNumber = schema.type === "number" || schema.type === "integer";
  if (isNumber && plainNumber.test(text)) return Number(text);
  return schema.enum?.find((one) => fold(one) === fold(text)) ?? value;
}

const flags = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);
const plainNumber = /^\d+(?:\.\d+)?$/;

type Members = Readonly<Record<string, ArgumentSchema>>;

function membersOf(known: Members, given: object, path: string, wrongs: Wrong[]): Given {
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const schema = Object.hasOwn(known, name) ? known[name] : undefined;
    const at = path === "" ? name : `${path}.${name}`;
    const isEmpty = value === null || value === "";
    if (schema === undefined)
      wrongs.push({ path: at, message: unknownName(name, Object.keys(known)) });
    else if (isEmpty && name === "amount") wrongs.push({ path: at, message: emptyAmount });
    else if (value !== null) read[name] = valueOf(schema, value, at, wrongs);
  }
  return read;
}

const emptyAmount = "amount is empty: send USDC as a number, e.g. 2.5.";

/** Also said of the name of a tool. */
export function unknownName(name: string, known: readonly string[], what = "argument"): string {
  const near = nearestName(name, known);
  const nearest = near === null ? "" : ` The nearest: ${near}.`;
  const all = known.length === 0 ? "There is none." : `There are ${known.join(", ")}.`;
  return `${name.slice(0, 100)} is no ${what} here.${nearest} ${all}`;
}

const howToName = {
  cause: "list_causes has all of them.",
  country: "Send its English name or ISO code, e.g. Kenya.",
};

/** A cause by its id, also where its name was sent. An unknown cause or country would match nothing. */
function knownFilters(given: Given, wrongs: Wrong[]): Given {
  const [cause, country] = [given["cause"], given["country"]].map((value) =>
    typeof value === "string" ? value : undefined,
  );
  const named = causes.find(({ id, name }) =>
    [id, name].some((one) => fold(one) === fold(cause ?? "")),
  );
  const filters = named === undefined ? {} : { cause: named.id };
  for (const { filter, asked, near } of unknownValues({ cause, country, ...filters })) {
    const nearest = near.length > 0 ? `The nearest: ${near.join(", ")}.` : "";
    const message = `${filter} "${asked}" is not known here. ${nearest || howToName[filter as "cause"]}`;
    wrongs.push({ path: filter, message });
  }
  return filters;
}
