import { cpSync } from "node:fs";
import { tmpdir } from "node:os";
import { createServer } from "node:net";
import { basename, join } from "node:path";
import { format } from "node:util";
import type { CommandDef } from "citty";
import type { runCommand as RunCommand } from "#scripts/support/command.ts";
import { publisherFolders } from "#site/bundle/manifest.ts";
import { compileSite } from "#site/renderer/compile.ts";

const root = join(import.meta.dirname, "../..");

/** Sites compiled by tests, kept from run to run by their digest. */
export const compiledSites = join(tmpdir(), "almoner-compiled-for-tests");

/** Puts the compiled site where processes with this data folder look for it: each would compile one of its own. */
export async function putCompiledSite(dataDir: string): Promise<void> {
  const { folder } = await compileSite(compiledSites);
  const place = join(publisherFolders(dataDir).compiled, basename(folder));
  cpSync(folder, place, { recursive: true });
}

/** What a process said, and how it ended. */
export type Ended = { code: number; out: string; err: string };

/** Runs a program to its end. `env` comes on top of this process's own; standard input is `input`, else empty. */
export async function runProgram(
  words: string[],
  {
    env = {},
    input = "",
    cwd = root,
  }: { env?: Record<string, string>; input?: string; cwd?: string } = {},
): Promise<Ended> {
  const child = Bun.spawn(words, {
    cwd,
    env: { ...process.env, ...env },
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, err };
}

/** Runs a command of ours, such as `publish`, in a process of its own. */
export const runApart = (
  name: string,
  words: string[],
  env: Record<string, string> = {},
  input = "",
): Promise<Ended> =>
  runProgram([process.execPath, join(root, `scripts/${name}.ts`), ...words], { env, input });

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command of ours in this process, one after the other: one of its own takes a second to start, and tests call hundreds.
 * `env` comes on top of this process's own; `code` is the folder of another version of ours.
 */
export function runScript(
  name: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  code = root,
): Promise<Ended> {
  const ended = last.then(async () => {
    const load = (file: string) => import(join(code, "scripts", file));
    const { command }: { command: CommandDef } = await load(`${name}.ts`);
    const { runCommand }: { runCommand: typeof RunCommand } = await load("support/command.ts");
    return runHere(() => runCommand(command), words, env);
  });
  last = ended.catch(() => null);
  return ended;
}

async function runHere(
  run: () => Promise<void>,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  const { argv, env: envBefore } = process;
  const exit = process.exit.bind(process);
  const { log, error } = console;
  const said = { out: "", err: "" };
  /** Once it has ended it says nothing more, however what stopped it is caught. */
  let code: number | null = null;
  const saying =
    (to: "out" | "err") =>
    (...values: unknown[]) => {
      if (code === null) said[to] += `${format(...values)}\n`;
    };
  Object.assign(console, { log: saying("out"), error: saying("err") });
  process.argv = [...argv.slice(0, 2), ...words];
  process.env = { ...envBefore, ...env };
  process.exit = (wanted) => {
    code ??= Number(wanted ?? 0);
    throw new Error("the command has ended");
  };
  try {
    await run();
  } catch (thrown) {
    if (code === null) throw thrown;
  } finally {
    code ??= Number(process.exitCode ?? 0);
    Object.assign(process, { argv, exit, env: envBefore, exitCode: 0 });
    Object.assign(console, { log, error });
  }
  return { code, ...said };
}

/** Starts the service in a process of its own, with a chain on a free port, silent unless `env` says otherwise. */
export const startService = (
  env: Record<string, string>,
  stderr: "ignore" | "inherit" | "pipe" = "ignore",
  words: string[] = [],
) =>
  Bun.spawn([process.execPath, join(root, "scripts/service.ts"), ...words], {
    env: { ...process.env, ALMONER_CHAIN_PORT: "0", ALMONER_LOG_LEVEL: "silent", ...env },
    stdio: ["ignore", "ignore", stderr],
  });

/** Below those that the system gives away by itself: nobody else is given such a port before it is used. */
const firstPort = 10_000;
const portsOfProcess = 100;
let portsGiven = 0;

/** A port on which nothing listens. Each test process gives away a hundred of its own, in turn. */
export async function freePort(): Promise<number> {
  for (let look = 0; look < portsOfProcess; look++) {
    const ownFirst = firstPort + (process.pid % 220) * portsOfProcess;
    const port = ownFirst + (portsGiven++ % portsOfProcess);
    if (await isFree(port)) return port;
  }
  throw new Error(`none of ${portsOfProcess} ports is free`);
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

const lookEveryMs = 20;

/** Waits until something answers HTTP there. */
export async function untilAnswers(url: string, process: Bun.Subprocess): Promise<void> {
  while (process.exitCode === null) {
    const answer = await fetch(url, { method: "HEAD", redirect: "manual" }).catch(() => null);
    if (answer !== null) return;
    await Bun.sleep(lookEveryMs);
  }
  throw new Error(`nothing answers at ${url}`);
}
