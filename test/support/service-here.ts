import { readConfig } from "#api/config.ts";
import { listen } from "#api/http/listen.ts";
import { openService } from "#api/open-service.ts";
import { announceService } from "#api/operator/running-service.ts";
import { freePort } from "./processes.ts";

/** `aRunningService` in this process, for tests that neither kill nor signal it: a start of its own takes two seconds of processor time. */
export async function aServiceHere(dataDir: string, env: Record<string, string> = {}) {
  const config = readConfig({
    ALMONER_DATA_DIR: dataDir,
    ALMONER_PORT: String(await freePort()),
    ALMONER_CHAIN_PORT: "0",
    ALMONER_LOG_LEVEL: "silent",
    ...env,
  });
  const service = await openService(config);
  const listening = listen(service.app, config);
  const leave = announceService(dataDir, listening.url);
  return {
    url: listening.url,
    stop: async () => {
      leave();
      await listening.stop({ graceMs: 100 });
      await service.close();
    },
  };
}
