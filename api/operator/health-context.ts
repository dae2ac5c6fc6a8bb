import type { HealthContext } from "./operator-health.ts";
import type { Context } from "#api/context.ts";

/** What the service can tell of its health. */
export const healthContext = ({
  store,
  clock,
  publication,
  chain,
  config,
}: Context): HealthContext => ({
  store,
  clock,
  publication: publication ?? null,
  chain,
  dataDir: config.dataDir,
  webhookUrls: config.webhookUrls,
});
