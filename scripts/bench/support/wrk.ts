import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Throws when one of these commands is not installed. */
export function needTools(...tools: readonly string[]): void {
  for (const tool of tools) {
    if (Bun.which(tool) === null)
      throw new Error(`${tool} is missing (Debian: apt-get install ${tool})`);
  }
}

/** A script by which wrk asks for these paths in turn; answers the file's path. */
export function writePaths(folder: string, paths: readonly string[]): string {
  const script = join(folder, "paths.lua");
  const quoted = paths.map((path) => JSON.stringify(path)).join(",");
  writeFileSync(
    script,
    `local paths = {${quoted}}\nlocal at = 0\nrequest = function() at = at % #paths + 1; return wrk.format("GET", paths[at]) end\n`,
  );
  return script;
}

/** Requests in a second over 32 connections, by wrk; every answer must be of the 200s or 300s. */
export async function wrk(
  origin: string,
  { script, seconds }: { script: string; seconds: number },
): Promise<number> {
  const child = Bun.spawn(["wrk", "-t1", "-c32", `-d${seconds}s`, "-s", script, origin], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const told = await new Response(child.stdout).text();
  if (told.includes("Non-2xx")) throw new Error(`a request was refused: ${told}`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(told)?.[1] ?? 0);
}
