import type { HealthParts } from "./operator-health.ts";
import type { Parts } from "#api/context.ts";

/** What the service can tell of its health. */
export const healthParts = ({ store, clock, publication, chain, config }: Parts): HealthParts => ({
  store,
  clock,
  publication: publication ?? null,
  chain,
  dataDir: config.dataDir,
  webhookUrls: config.webhookUrls,
});
