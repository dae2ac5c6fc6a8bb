import type { ArgDef, ArgsDef } from "citty";
import { z } from "zod";
import { paramsIn, typedValue, typeOf } from "#api/operator/actions.ts";
import words from "#content/editorial/commands.json";
import {
  flag,
  positional,
  textOption,
  textOrEmpty,
  wordedCommand,
} from "#scripts/support/command.ts";
import { stopWith } from "#scripts/support/config.ts";
import {
  type Args,
  type AdminOperation,
  change,
  operator,
  type OperationCall,
  show,
} from "#scripts/support/operator-api.ts";

/** Options with names other than those of the members that they fill. */
const optionNames: Readonly<Record<string, string>> = {
  agent_id: "agent",
  recommended_for: "for",
  why_recommended: "why",
  take_back_values: "values",
  review: "id",
};
const optionOf = (member: string): string => optionNames[member] ?? member;

type Members = readonly (readonly [string, z.ZodType])[];
const membersOf = (shape: z.ZodObject | undefined): Members => Object.entries(shape?.shape ?? {});

/**
 * The options of a command for this operation: parameters of its path are positional, and each member of its query or body
 * has an option. `own` replaces or adds options.
 */
export const argsOf = ({ method, path, query, body }: AdminOperation, own: ArgsDef): ArgsDef => ({
  ...Object.fromEntries(paramsIn(path).map((name) => [name, positional])),
  ...Object.fromEntries(
    [...membersOf(query), ...membersOf(body?.shape)].flatMap(([member, shape]) =>
      typeOf(shape) instanceof z.ZodObject ? [] : [[optionOf(member), argOf(member, shape)]],
    ),
  ),
  ...own,
  ...(method === "get" ? {} : { operator }),
  json: flag,
});

function argOf(member: string, shape: z.ZodType): ArgDef {
  if (member === "limit") return { ...textOption, default: "50" };
  return typeOf(shape) instanceof z.ZodBoolean ? flag : textOrEmpty;
}

/**
 * The input of an operation from these options. A missing option, or one that the command reads in its own way, ends the
 * process with code 2 and a hint; for others the operation says what is wrong.
 */
export function inputOf({ path, query, body }: AdminOperation, args: Args, own: object = {}) {
  const params = Object.fromEntries(
    paramsIn(path).map((name) => [name, neededText(name, args[name])]),
  );
  return {
    params,
    query: query && (fitting(query, args, null) as OperationCall["query"]),
    body: body && fitting(body.shape, args, own),
  };
}

/** The members that the options fill; `own` is null for a query. */
function fitting(shape: z.ZodObject, args: Args, own: object | null): Record<string, unknown> {
  const typed = Object.fromEntries(
    membersOf(shape).flatMap(([member, type]) => {
      const value = args[optionOf(member)];
      const isAbsent = own !== null && value === "" && type.safeParse(undefined).success;
      if (value !== undefined && !isAbsent)
        return [[member, typeof value === "string" ? optionValue(member, type, value) : value]];
      const isNull = !type.safeParse(undefined).success && type.safeParse(null).success;
      return isNull ? [[member, null]] : [];
    }),
  );
  const members = { ...typed, ...own };
  const [issue] = shape.safeParse(members).error?.issues ?? [];
  if (issue === undefined) return members;
  const [member = "", entry] = issue.path.map(String);
  if (member === "") return stopWith(issue.message, 2);
  const option = optionOf(member);
  neededText(option, typed[member]);
  const message = wrong[option] ?? (own === null ? issue.message : null);
  if (message === null) return members;
  const list: unknown = typed[member];
  const item: unknown = Array.isArray(list) ? list[Number(entry)] : undefined;
  const which = typeof item === "string" ? `there is no ${JSON.stringify(item)}: ` : "";
  // Messages about a query's member begin with its name.
  const name = message.startsWith(`${option} `) ? "" : `${option}: `;
  return stopWith(`--${name}${which}${message}`, 2);
}

const needed: Readonly<Record<string, string>> = words.needed;
const wrong: Readonly<Record<string, string>> = words.wrong;

/** The text of a required option; without it the process ends with a hint. */
function neededText(option: string, value: unknown): string {
  const isMissing = value === undefined || (typeof value === "string" && value.trim() === "");
  if (isMissing && needed[option] !== undefined) stopWith(`--${option}: ${needed[option]}`, 2);
  return String(value);
}

/** A text, or the entries of a list (texts or numbers) separated by commas; `all` stands for no list. */
function optionValue(member: string, shape: z.ZodType, text: string): unknown {
  const isList = typeOf(shape) instanceof z.ZodArray;
  if (isList && text.trim() === "all" && shape.safeParse(null).success) return null;
  return typedValue(shape, text, member === "recommended_for" ? ";" : ",");
}

/** How a command differs from its operation. */
type Special<Answer extends z.ZodObject> = {
  args?: ArgsDef;
  /** Members of the body besides those of the options. */
  bodyOf?: (args: Args) => object;
  /** The lines to print for an answer; for a change, by default its message. */
  linesOf?: (answer: z.output<Answer>) => readonly string[];
};

export const operated = <Answer extends z.ZodObject>(
  name: Parameters<typeof wordedCommand>[0],
  operation: AdminOperation<Answer>,
  { args: own = {}, bodyOf = () => ({}), linesOf }: Special<Answer> = {},
) =>
  wordedCommand(name, {
    args: argsOf(operation, own),
    run: async ({ args }) => {
      const input = inputOf(operation, args, bodyOf(args));
      if (operation.method === "get") await show(args, operation, input, linesOf ?? (() => []));
      else {
        const subject = args._[0] ?? args["slug"] ?? name.slice("review ".length);
        await change(args, subject, operation, input, linesOf);
      }
    },
  });

/** The lines of a page of a list: its items, or that it is empty, and how to see more. */
export const pageLines = (
  items: readonly string[],
  empty: string,
  [option, next]: readonly [string, string | number | null],
): string[] => [
  ...items,
  ...(items.length === 0 ? [empty] : []),
  ...(next === null ? [] : [`More: ${option} ${next}`]),
];
