import { existsSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "#test/support/processes.ts";

const folder = join(import.meta.dirname, "../clients");

/** Stock clients weigh more than all else that tests need, so they are installed apart, and tests that need them are skipped where they are not. */
export const clientsInstalled = existsSync(join(folder, "node_modules/.package-lock.json"));

if (!clientsInstalled)
  process.stderr.write("skipped: stock clients are not installed (npm ci --prefix test/clients)\n");

/** A program of test/clients or of a package installed there. */
export const clientFile = (path: string): string => join(folder, path);

/** Runs a program of test/clients on Node with one JSON argument, and gives the JSON that it prints. */
export async function runClient(file: string, argument: object): Promise<unknown> {
  const { out, err } = await runProgram(["node", clientFile(file), JSON.stringify(argument)]);
  if (out === "") throw new Error(`${file} printed nothing: ${err}`);
  return JSON.parse(out);
}
