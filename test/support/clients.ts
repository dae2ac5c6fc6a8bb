import { existsSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../clients");

/** Stock clients weigh more than all else that tests need, so they are installed apart, and tests that need them are skipped where they are not. */
export const clientsInstalled = existsSync(join(folder, "node_modules/.package-lock.json"));

if (!clientsInstalled)
  process.stderr.write("skipped: stock clients are not installed (npm ci --prefix test/clients)\n");

/** A program of test/clients or of a package installed there. */
export const clientFile = (path: string): string => join(folder, path);

/** Runs a program of test/clients on Node with one JSON argument, and gives the JSON that it prints. */
export async function runClient(file: string, argument: object): Promise<unknown> {
  const child = Bun.spawn(["node", clientFile(file), JSON.stringify(argument)], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (out === "") throw new Error(`${file} printed nothing: ${err}`);
  return JSON.parse(out);
}
