import { fail, type Result } from "#content/contract/base/result.ts";
import { unknownName, usualName } from "#content/contract/other-names.ts";
import { fitted, type Wrong, wrongsMax } from "#content/contract/problem.ts";
import type { FilterParameters } from "#content/contract/browse.ts";
import { unknownValues } from "#content/find/unknown-values.ts";
import { fold } from "#content/nonprofit/text.ts";
import type { ArgumentSchema, McpTool } from "#content/openapi/mcp-tools.ts";
import { toolsNamed } from "./call.ts";

/** Arguments as clients send them. */
export type ToolArguments = Readonly<Record<string, unknown>>;

/**
 * What a tool was asked, by its own names. Nothing is dropped: what has no meaning here is refused, with the name or
 * the value that has.
 */
export function readArguments(
  { input, listed }: McpTool,
  given: ToolArguments,
): Result<ToolArguments, Wrong[]> {
  const { properties } = listed.inputSchema;
  const wrongs: Wrong[] = [];
  const named = membersOf(properties, given, "", wrongs);
  if (wrongs.length > 0) return fail(wrongs.slice(0, wrongsMax));
  const read = fitted(input, named);
  if (read.ok) {
    const unknown = "cause" in properties ? unknownFilters(read.value) : [];
    return unknown.length > 0 ? fail(unknown) : read;
  }
  return fail(
    read.failure.map(({ path, message }) => {
      // With what the description says of the argument: it has an example.
      const { description } = properties[path.split(/[.[]/)[0] ?? ""] ?? {};
      return { path, message: description === undefined ? message : `${message} (${description})` };
    }),
  );
}

type Members = Readonly<Record<string, ArgumentSchema>>;

/** Members by the names that are known here, without null; what is unknown or there twice is added to `wrongs`. */
function membersOf(known: Members, given: object, path: string, wrongs: Wrong[]): ToolArguments {
  const names = Object.keys(known);
  const read: Record<string, unknown> = {};
  for (const [sent, value] of Object.entries(given)) {
    const name = usualName(sent, names);
    const at = path === "" ? sent : `${path}.${sent}`;
    if (name === null) wrongs.push({ path: at, message: unknownName("argument", sent, names) });
    if (name === null || (value === null && name !== "amount")) continue;
    const meant = valueOf(known[name] ?? {}, value, at, wrongs);
    if (name in read && read[name] !== meant)
      wrongs.push({ path: at, message: `${name} is there twice: send ${name} alone.` });
    // An empty amount is none that was left out.
    read[name] = name === "amount" && meant === "" ? null : meant;
  }
  return read;
}

/** A value in the form that its schema has, where it can be meant in one way alone; else as it came. */
function valueOf(schema: ArgumentSchema, value: unknown, path: string, wrongs: Wrong[]): unknown {
  const { type, items = {}, properties } = schema;
  if (Array.isArray(value))
    return value.map((item, at) => valueOf(items, item, `${path}[${at}]`, wrongs));
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

/** An unknown cause or country would match nothing. */
const unknownFilters = ({ cause, country }: FilterParameters): Wrong[] =>
  unknownValues({ cause, country }).map(({ filter, message }) => ({
    path: filter,
    message: toolsNamed(message),
  }));
