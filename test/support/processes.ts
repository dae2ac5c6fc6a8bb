import { createServer } from "node:net";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

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
export const runScript = (
  name: string,
  words: string[],
  env: Record<string, string> = {},
  input = "",
): Promise<Ended> =>
  runProgram([process.execPath, join(root, `scripts/${name}.ts`), ...words], { env, input });

/** Starts the service in a process of its own, with a chain on a free port, silent unless `env` says otherwise. */
export const startService = (
  env: Record<string, string>,
  stderr: "ignore" | "inherit" | "pipe" = "ignore",
  words: string[] = [],
) =>
  Bun.spawn([process.execPath, join(root, "api/main.ts"), ...words], {
    env: { ...process.env, ALMONER_CHAIN_PORT: "0", ALMONER_LOG_LEVEL: "silent", ...env },
    stdio: ["ignore", "ignore", stderr],
  });

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

const lookEveryMs = 20;

/** Waits until something answers HTTP there. */
export async function untilAnswers(
  url: string,
  process: Bun.Subprocess,
  withinMs = 10_000,
): Promise<void> {
  for (let look = 0; look < withinMs / lookEveryMs && process.exitCode === null; look++) {
    const answer = await fetch(url, { method: "HEAD", redirect: "manual" }).catch(() => null);
    if (answer !== null) return;
    await Bun.sleep(lookEveryMs);
  }
  throw new Error(`nothing answers at ${url}`);
}
