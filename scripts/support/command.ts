import { type ArgsDef, type CommandDef, runCommand as run, runMain } from "citty";
import words from "#content/editorial/commands.json";
import { softwareVersion } from "#content/store/software.ts";
import { stopWith, wordsOf } from "./config.ts";

/** Kinds of options; content/editorial/commands.json describes each option. */
export const textOption = { type: "string" } as const;
export const flag = { type: "boolean" } as const;
/** An option that may stand without a value, and the value that it has then. */
export const optionAlone = (value: string) => ({ ...textOption, alone: value });
export const positional = { type: "positional", required: true } as const;

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
 * Runs a command with citty, but refuses unknown options with exit code 2, because a mistyped --check must not write. A
 * failure that an operator can fix prints two lines that say how, without a stack. `alone`: options that may come without
 * a value, and their value then.
 */
export async function runCommand<Args extends ArgsDef>(command: CommandDef<Args>): Promise<void> {
  const rawArgs = withValues(command, process.argv.slice(2));
  const unknown = unknownOption(command, rawArgs);
  if (unknown !== null) stopWith(`Unknown option ${unknown}. --help lists the options.`, 2);
  const usage = () => runMain(command, { rawArgs });
  if (rawArgs.some((word) => /^(?:--version|-v)$/.test(word)))
    return console.log(softwareVersion());
  if (rawArgs.some((word) => /^(?:--help|-h)$/.test(word))) return usage();
  try {
    await run(command, { rawArgs });
  } catch (error) {
    const { message, code } = wordsOf(error) ?? { message: error, code: 1 };
    // Citty's own errors are about the arguments, before anything runs.
    if (error instanceof Error && error.name === "CLIError") await usage();
    else stopWith(message, code);
  }
}

/** Gives options without a value their default, because the parser would take the next option as the value. */
export function withValues({ args = {} }: CommandShape, rawArgs: readonly string[]): string[] {
  const options = args as Readonly<Record<string, { alone?: string }>>;
  return rawArgs.map((word, at) => {
    const value = word.startsWith("--") ? options[word.slice(2)]?.alone : undefined;
    const isAlone = rawArgs[at + 1]?.startsWith("--") ?? true;
    return value !== undefined && isAlone ? `${word}=${value}` : word;
  });
}

/** The options of a command; citty's own type is bound to their values. */
type CommandShape = { args?: unknown; subCommands?: unknown; default?: unknown };

/** The first option that the command, or the named subcommand, does not know; null for none. */
export function unknownOption(command: CommandShape, rawArgs: readonly string[]): string | null {
  const [first = "", ...rest] = rawArgs;
  const subCommands = (command.subCommands ?? {}) as Record<string, CommandShape>;
  const sub = subCommands[first];
  if (sub !== undefined) return unknownOption(sub, rest);
  const knownNames = new Set(["help", "version", ...Object.keys((command.args ?? {}) as ArgsDef)]);
  for (const word of rawArgs) {
    if (word === "--") return null;
    const name = /^--([^=]+)/.exec(word)?.[1];
    if (name !== undefined && !knownNames.has(name) && !knownNames.has(name.replace(/^no-/, ""))) {
      return `--${name}`;
    }
  }
  return null;
}
