import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CommandDef, parseArgs, type ArgsDef } from "citty";
import { refusalOf, withValues } from "#scripts/support/command.ts";

// A process that says what is wrong with command lines of scripts/ and test/bench/, without running them. Reads a JSON list of
// { script, words, whole } on standard input and answers with a list of faults, null for none. `whole`: what a command
// requires has to be there, too.
type Asked = { script: string; words: string[]; whole: boolean };
const asked = (await Bun.stdin.json()) as Asked[];
const root = join(import.meta.dirname, "../..");

// A script, or the harness of benches, ends by running its command; here it gives the command away instead.
const run = /(?:if \(import\.meta\.main\) )?await runCommand\((command)\b.*\);/;
Bun.plugin({
  name: "commands without running them",
  setup: (build) => {
    build.onLoad({ filter: /\/(?:scripts|test\/bench)\/.*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace(run, "globalThis.given = $1;"),
      loader: "ts",
    }));
  },
});
const shared = globalThis as { given?: CommandDef };
const commands = new Map<string, CommandDef | undefined>();
for (const { script } of asked) {
  if (commands.has(script)) continue;
  delete shared.given;
  await import(join(root, script));
  commands.set(script, shared.given);
}
const faults = asked.map(({ script, words, whole }) => {
  const command = commands.get(script);
  return command === undefined ? `${script} has no command` : faultOf(command, words, whole);
});
process.stdout.write(JSON.stringify(faults));

function faultOf(command: CommandDef, words: string[], whole: boolean): string | null {
  const subCommands = command.subCommands as Record<string, CommandDef> | undefined;
  const [first, ...rest] = words;
  if (subCommands !== undefined && first !== undefined) {
    const sub = subCommands[first];
    return sub === undefined ? `there is no ${first}` : faultOf(sub, rest, whole);
  }
  const refusal = refusalOf(command, withValues(command, words));
  if (refusal !== null) return refusal;
  if (!whole) return null;
  try {
    parseArgs(withValues(command, words), (command.args ?? {}) as ArgsDef);
    return null;
  } catch (error) {
    return String(error);
  }
}
