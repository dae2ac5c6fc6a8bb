import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { replaceFile } from "#content/runtime/files.ts";
import { every } from "#content/runtime/timing.ts";

const RunningService = z.object({ pid: z.int().positive(), url: z.url() });

const pathIn = (dataDir: string) => join(dataDir, "service.json");

/**
 * Writes the service's URL and process id into the data folder, so that commands find it. Returns a function that removes
 * them. Of several processes that share a port, the last one is named. The file is written again when it is missing or
 * names a process that has ended.
 */
export function announceService(
  dataDir: string,
  url: string,
  { everyMs = 5_000 } = {},
): () => void {
  const path = pathIn(dataDir);
  const text = `${JSON.stringify({ pid: process.pid, url })}\n`;
  const announce = () => replaceFile(path, (draft) => writeFileSync(draft, text, { mode: 0o600 }));
  announce();
  const announceAgain = async () => {
    const service = announced(dataDir);
    if (service === null || !isAlive(service.pid)) announce();
  };
  const looking = every(announceAgain, { everyMs, onFailure: () => {} });
  return () => {
    void looking.stop();
    if (announced(dataDir)?.pid === process.pid) rmSync(path, { force: true });
  };
}

/** The URL of the service of this data folder; null when none runs. Waits at most 2 s for an answer. */
export async function findService(dataDir: string): Promise<string | null> {
  const service = announced(dataDir);
  if (service === null || !isAlive(service.pid)) return null;
  try {
    const answer = await fetch(`${service.url}/healthz`, { signal: AbortSignal.timeout(2_000) });
    return answer.ok ? service.url : null;
  } catch {
    return null;
  }
}

function announced(dataDir: string): z.infer<typeof RunningService> | null {
  try {
    return RunningService.parse(JSON.parse(readFileSync(pathIn(dataDir), "utf8")));
  } catch {
    return null; // No service was started here, or its file is a remnant.
  }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
