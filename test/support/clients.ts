import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { runProgram } from "#test/support/processes.ts";

const folder = join(import.meta.dirname, "../clients");

/** Stock clients weigh more than all else that tests need, so they are installed apart, and tests that need them are skipped where they are not. */
export const clientsInstalled = existsSync(join(folder, "node_modules/.bin"));

if (!clientsInstalled)
  process.stderr.write("skipped: stock clients are not installed (npm run clients)\n");

/** A program of test/clients or of a package installed there. */
export const clientFile = (path: string): string => join(folder, path);

/** How many tokens a text takes in the vocabulary of GPT-4o. */
export async function countTokens(text: string): Promise<number> {
  const encoding = clientFile("node_modules/gpt-tokenizer/cjs/encoding/o200k_base.js");
  const tokenizer = (await import(encoding)) as { countTokens: (text: string) => number };
  return tokenizer.countTokens(text);
}

/** Runs a program of test/clients on Node with one JSON argument, and gives the JSON that it prints. */
export async function runClient(file: string, argument: object): Promise<unknown> {
  const { out, err } = await runProgram(["node", clientFile(file), JSON.stringify(argument)]);
  if (out === "") throw new Error(`${file} printed nothing: ${err}`);
  return JSON.parse(out);
}

/** Starts a program of test/clients on Node that answers each line of JSON with one: its libraries take a second to load. */
export function openClient(file: string) {
  const child = spawn("node", [clientFile(file)], { stdio: ["pipe", "pipe", "inherit"] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    ask: async (argument: object): Promise<unknown> => {
      child.stdin.write(`${JSON.stringify(argument)}\n`);
      const { value } = await answers.next();
      return JSON.parse(value ?? "");
    },
    close: () => child.stdin.end(),
  };
}
