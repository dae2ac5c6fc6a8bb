import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "#api/config.ts";

/** Where a data folder keeps its local chain. */
export const chainFiles = ({ dataDir }: Pick<Config, "dataDir">) => ({
  journal: join(dataDir, "chain", "journal.db"),
  address: join(dataDir, "chain", "address"),
});

export const portDefault = 8_899;

/** Notes where the running chain listens, so that commands beside it find it. Answers what takes the note away. */
export function noteAddress(path: string, url: string): () => void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${url}\n`);
  return () => rmSync(path, { force: true });
}

/** Where the data folder's chain was last seen; null when none runs. */
export function notedAddress(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return null;
  }
}
