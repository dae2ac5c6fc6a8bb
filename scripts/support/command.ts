import { parseArgs, stripVTControlCharacters } from "node:util";
import {
  type ArgDef,
  type ArgsDef,
  type CommandDef,
  renderUsage,
  runCommand as run,
  runMain,
  type showUsage as ShowUsage,
} from "citty";
import words from "#content/editorial/commands.json";
import { softwareVersion } from "#content/store/software.ts";
import { stopWith, wordsOf } from "./config.ts";

/** Kinds of options; content/editorial/commands.json describes each option. */
export const textOption = { type: "string" } as const;
/** Scripts pass an empty text for such an option, which then counts as absent. */
export const textOrEmpty = { ...textOption, maybeEmpty: true } as const;
export const flag = { type: "boolean" } as const;
/** An option that may stand without a value, and the value that it has then. */
export const optionAlone = (value: string) => ({ ...textOption, alone: value });
export const positional = { type: "positional", required: true } as const;
/** One word or more. */
export const positionals = { ...positional, many: true } as const;

/** Prints a value as JSON, with --json, or in lines. */
export function print<Value>(
  args: Readonly<Record<string, unknown>>,
  value: Value,
  linesOf: (value: Value) => readonly string[],
): void {
  const lines = args["json"] === true ? [JSON.stringify(value)] : linesOf(value);
  for (const line of lines) console.log(line);
}

/** The number that an option gives, from 1 to `max`. Ends the process with exit code 2 if it is none. */
export function wholeNumber(option: string, text: string, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= max) return value;
  return stopWith(`${option}: give a whole number from 1 to ${max}.`, 2);
}

type CommandWords = { does: string; options?: Readonly<Record<string, string>> };

/**
 * A command with its words from content/editorial/commands.json; `name` is how it is called, for example `review log`. A
 * description given here overrides the command's words, which override the general words of an option; `about` adds lines.
 */
export function wordedCommand<const Args extends ArgsDef>(
  name: keyof typeof words.commands,
  {
    args,
    about = [],
    ...rest
  }: { args?: Args; about?: readonly string[] } & Pick<
    CommandDef<Args>,
    "default" | "subCommands" | "run"
  >,
): CommandDef<Args> {
  const { does, options = {} }: CommandWords = words.commands[name];
  const meanings: Readonly<Record<string, string>> = { ...words.options, ...options };
  const worded = Object.entries<ArgsDef[string]>(args ?? {}).map(([option, shape]) => {
    const negativeDescription = options[`no-${option}`];
    const negative = negativeDescription === undefined ? {} : { negativeDescription };
    return [option, { description: meanings[option], ...negative, ...shape }];
  });
  return {
    meta: { name: name.slice(name.lastIndexOf(" ") + 1), description: [does, ...about].join("\n") },
    args: Object.fromEntries(worded),
    ...rest,
  };
}

/**
 * Runs a command with citty, but refuses what it does not take with exit code 2, because a mistyped --check must not write.
 * A failure that an operator can fix prints two lines that say how, without a stack. `alone`: options that may come without
 * a value, and their value then.
 */
export async function runCommand<Args extends ArgsDef>(command: CommandDef<Args>): Promise<void> {
  const rawArgs = withValues(command, process.argv.slice(2));
  const refusal = refusalOf(command, rawArgs);
  if (refusal !== null) stopWith(refusal, 2);
  if (rawArgs.some((word) => /^(?:--version|-v)$/.test(word)))
    return console.log(softwareVersion());
  if (rawArgs.some((word) => /^(?:--help|-h)$/.test(word)))
    return runMain(command, { rawArgs, showUsage });
  try {
    await run(command, { rawArgs });
  } catch (error) {
    const { message, code } = wordsOf(error) ?? { message: error, code: 1 };
    // Citty's own errors are about the arguments, before anything runs.
    const isUsage = error instanceof Error && error.name === "CLIError";
    if (isUsage) stopWith(refusalWith(command, rawArgs, error.message), 2);
    stopWith(message, code);
  }
}

/** Citty colours its help wherever it goes. */
const showUsage: typeof ShowUsage = async (command, parent) => {
  const usage = await renderUsage(command, parent);
  const isPlain = !(process.stdout.isTTY && process.stdout.hasColors());
  console.log(isPlain ? stripVTControlCharacters(usage) : usage);
};

/** Gives options without a value their default, because the parser would take the next option as the value. */
export function withValues(command: CommandShape, rawArgs: readonly string[]): string[] {
  const shapes = shapesOf(command);
  return rawArgs.map((word, at) => {
    const value = word.startsWith("--") ? shapes[word.slice(2)]?.alone : undefined;
    const isAlone = rawArgs[at + 1]?.startsWith("--") ?? true;
    return value !== undefined && isAlone ? `${word}=${value}` : word;
  });
}

/** What a command takes; citty's own types are bound to the values of its options. */
type CommandShape = { meta?: unknown; args?: unknown; subCommands?: unknown; default?: unknown };
type Shape = ArgDef & { alone?: string; many?: true; maybeEmpty?: true };
type Shapes = Readonly<Record<string, Shape>>;

const shapesOf = ({ args = {} }: CommandShape): Shapes => args as Shapes;

/** The command, or the subcommand that the first words name, and the words for it. */
function commandIn(command: CommandShape, rawArgs: readonly string[]): [CommandShape, string[]] {
  const [first = "", ...rest] = rawArgs;
  const sub = ((command.subCommands ?? {}) as Readonly<Record<string, CommandShape>>)[first];
  return sub === undefined ? [command, [...rawArgs]] : commandIn(sub, rest);
}

/** What is wrong with these words, and what the command takes. */
function refusalWith(root: CommandShape, rawArgs: readonly string[], fault: string): string {
  const [command] = commandIn(root, rawArgs);
  const { name = "It" } = (command.meta ?? {}) as { name?: string };
  const options = Object.entries(shapesOf(command)).map(([option, { type }]) =>
    type === "positional" ? option.toUpperCase() : `--${option}`,
  );
  const all = [...Object.keys(command.subCommands ?? {}), ...options];
  return `${fault.replace(/\.?$/, ".")} ${name} takes ${all.join(", ") || "nothing"}; --help says more.`;
}

/** Why the command, or the subcommand that is named, does not take these words; null if it takes them. */
export function refusalOf(root: CommandShape, rawArgs: readonly string[]): string | null {
  const [command, args] = commandIn(root, rawArgs);
  const shapes = shapesOf(command);
  const places = Object.values(shapes).filter(({ type }) => type === "positional");
  let placesLeft = places.some(({ many }) => many === true) ? Infinity : places.length;
  for (const token of tokensOf(shapes, args)) {
    const word = args[token.index] ?? "";
    const isSurplus = token.kind === "positional" && --placesLeft < 0;
    const faultOfOption = token.kind === "option" ? optionFault(shapes, token, word) : null;
    const fault = isSurplus ? `Unknown word ${word}` : faultOfOption;
    if (fault !== null) return refusalWith(root, rawArgs, fault);
  }
  return null;
}

const isText = (type: ArgDef["type"]): boolean => type === "string" || type === "enum";

/** Options and words as citty reads them. */
function tokensOf(shapes: Shapes, args: string[]) {
  const options = Object.fromEntries(
    Object.entries(shapes).map(
      ([name, { type }]) => [name, { type: isText(type) ? "string" : "boolean" }] as const,
    ),
  );
  return parseArgs({ args, options, allowPositionals: true, strict: false, tokens: true }).tokens;
}

/** The fault of an option that the command does not have, or that lacks its value. The parser reads -check as five options. */
function optionFault(
  shapes: Shapes,
  {
    name,
    value = "",
    inlineValue,
  }: { name: string; value: string | undefined; inlineValue: boolean | undefined },
  word: string,
): string | null {
  const shape = shapes[name];
  const typed = word.replace(/=.*$/s, "");
  const isNegated = shapes[name.replace(/^no-/, "")]?.type === "boolean";
  const isCommon = /^(?:--help|--version|-h|-v)$/.test(word);
  if (shape === undefined) return isNegated || isCommon ? null : `Unknown option ${typed}`;
  const isNext = inlineValue !== true && value.startsWith("--");
  const isMissing = isNext || (value === "" && shape.maybeEmpty !== true);
  return isText(shape.type) && isMissing ? `${typed} needs a value` : null;
}
