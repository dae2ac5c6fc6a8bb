import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "#api/config.ts";

// Apart from the chain itself, whose library is a development dependency and stays out of the service's process.

/** Where a data folder keeps its local chain, and notes where that listens. */
export const chainFiles = ({ dataDir }: Pick<Config, "dataDir">) => ({
  journal: join(dataDir, "chain", "journal.db"),
  address: join(dataDir, "chain", "address"),
});

/** Where the data folder's chain was last seen; null when none runs, or it is about to write where it does. */
export function notedAddress(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim() || null;
  } catch {
    return null;
  }
}

/** What to say when `npm ci --omit=dev` left the local chain out; null when it is installed. */
export function whyNoChain(resolve = (name: string) => Bun.resolveSync(name, import.meta.dir)) {
  try {
    resolve("litesvm");
    return null;
  } catch {
    return "The local chain is for development, and this installation leaves it out: run npm ci without --omit=dev, or set ALMONER_NETWORK and ALMONER_SOLANA_RPC_URLS.";
  }
}
