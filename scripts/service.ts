import { join } from "node:path";
import { listen } from "#api/http/listen.ts";
import { openService } from "#api/open-service.ts";
import { announceService } from "#api/operator/running-service.ts";
import { adminTokenFile } from "#api/secrets.ts";
import { reportToSystemd } from "#content/runtime/systemd.ts";
import { flag, runCommand, wordedCommand } from "./support/command.ts";
import { listeningConfigOrExit } from "./support/config.ts";

/** The service alone, without a bundle, for use behind a CDN or web server (`npm start` runs scripts/start.ts). */
export const command = wordedCommand("service", {
  args: { "share-port": flag },
  run: async ({ args }) => {
    const config = listeningConfigOrExit();
    const stopping = new AbortController();
    const service = await openService(config, { stopping: stopping.signal });
    const { log, secrets } = service.context;
    const listening = listen(service.app, config, {
      reusePort: args["share-port"] === true,
    });
    const leave = announceService(config.dataDir, listening.url);
    reportToSystemd(process.env, (error) => log.warn({ err: error }, "systemd was not told"));
    log.info({ url: listening.url }, "listening");
    if (secrets.newAdminToken !== null) {
      // Not the token itself, because others may read the log.
      log.info(
        { file: join(config.dataDir, "secrets", adminTokenFile) },
        "made the operator's token",
      );
    }
    const stop = async (signal: string) => {
      if (stopping.signal.aborted) return;
      stopping.abort();
      log.info({ signal }, "stopping");
      leave();
      await listening.stop({ drainMs: config.drainMs });
      await service.close();
      process.exit(0);
    };
    for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => void stop(signal));
  },
});

if (import.meta.main) await runCommand(command);
