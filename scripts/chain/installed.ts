import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "#api/config.ts";

// Apart from the chain itself, so that the service does not load its library, a development dependency.

/** The files of a data folder's local chain: its journal, and its address while it runs. */
export const chainFiles = ({ dataDir }: Pick<Config, "dataDir">) => ({
  journal: join(dataDir, "chain", "journal.db"),
  address: join(dataDir, "chain", "address"),
});

/** The last known address of the data folder's chain; null when none is noted. */
export function notedAddress(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim() || null;
  } catch {
    return null;
  }
}

/** The message when `npm ci --omit=dev` left out the local chain; null when it is installed. */
export function whyNoChain(resolve = (name: string) => Bun.resolveSync(name, import.meta.dir)) {
  try {
    resolve("litesvm");
    return null;
  } catch {
    return "The local chain is for development, and this installation leaves it out: run npm ci without --omit=dev, or set ALMONER_NETWORK and ALMONER_SOLANA_RPC_URLS.";
  }
}
