import type { CallToolResult } from "@modelcontextprotocol/server";
import words from "#content/editorial/mcp-tools.json";
import {
  dataNotice,
  type Door,
  knownAt,
  type McpTool,
  mcpTools,
} from "#content/openapi/mcp-tools.ts";

type Value = Readonly<Record<string, unknown>>;

const { doubled, on_request, whole, kept } = words.answers;
const never: ReadonlySet<string> = new Set(doubled);
const leftOf: Readonly<Record<string, readonly string[]>> = words.answers.left;
const selfEvident: ReadonlySet<string> = new Set(words.answers.bare);
const saysNothing: Value = words.answers.silent;
const itemsOf: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> =
  words.answers.items;

/** Puts the notice of how to read the data first; the object delimits the data that it is about. */
const marked = (value: Value) => ({ data_notice: dataNotice, ...value });

/**
 * An answer as text that is enough to continue with, and as an object. Both omit empty and repeated members and, unless
 * the full answer is requested, members that few clients need.
 */
export function resultOf(
  tool: McpTool,
  answer: Value,
  { isFull, door }: { isFull: boolean; door: Door },
): CallToolResult {
  const value =
    isFull || whole.includes(tool.name) ? compact(answer, never) : shortened(tool, answer);
  // Steps that name tools hidden at this door are omitted.
  const hidden = mcpTools.filter((mcpTool) => !knownAt(door).includes(mcpTool));
  const steps = tool.next
    .split("; ")
    .filter((step) => !hidden.some(({ name }) => step.includes(name)));
  const text = [dataNotice, ...linesOf(value), `Next: ${steps.join("; ")}.`].join("\n");
  return { content: [{ type: "text", text }], structuredContent: marked(value) };
}

/** Members of a refusal that only HTTP needs. */
const ofHttp: ReadonlySet<string> = new Set(["type", "title", "status"]);

/** A refusal with the same content as over HTTP. */
export function refused(problem: Value): CallToolResult {
  const members = { ...compact(problem, ofHttp), error: problem["detail"] };
  return { content: [{ type: "text", text: JSON.stringify(marked(members)) }], isError: true };
}

function shortened({ name }: McpTool, answer: Value): Value {
  const left = leftOf[name] ?? [];
  const all = compact(answer, new Set([...doubled, ...left]));
  const items = Object.entries(itemsOf[name] ?? {}).filter(([member]) => member in all);
  return {
    ...compact(answer, new Set([...doubled, ...on_request, ...left])),
    ...Object.fromEntries(items.map(([member, names]) => [member, picked(all[member], names)])),
  };
}

/** The members with these names, of an item or of each item in a list. A wallet appears only as `accepts: "usdc"`. */
function picked(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => picked(item, names));
  const { give_url, ...item } = value as Value;
  const all: Value = give_url === undefined ? item : { ...item, accepts: "usdc" };
  return Object.fromEntries(names.flatMap((name) => (name in all ? [[name, all[name]]] : [])));
}

/** Removes the members in `without`, and empty ones: null, "", empty lists and objects. */
function compact(value: Value, without: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const text =
        without.has(name) || member === saysNothing[name] ? null : filled(member, without);
      return isEmpty(text) && !kept.includes(name) ? [] : [[name, text]];
    }),
  );
}

function filled(value: unknown, without: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => filled(item, without));
  return typeof value === "object" && value !== null ? compact(value as Value, without) : value;
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);

/** A line for each member, and for each item of a list. A line break in a text would let its author add lines. */
const linesOf = (value: Value): string[] =>
  Object.entries(value).flatMap(([name, member]) =>
    Array.isArray(member) && typeof member[0] === "object"
      ? [`${name}:`, ...member.map((item) => `- ${textOf(item)}`)]
      : [`${name}: ${textOf(member)}`],
  );

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(", ") || "none";
  if (typeof value !== "object" || value === null)
    return String(value).replaceAll(/[\n\r]\s*/g, " ");
  return Object.entries(value)
    .map(([name, member]) =>
      selfEvident.has(name) ? textOf(member) : `${name}: ${textOf(member)}`,
    )
    .join(" · ");
}
