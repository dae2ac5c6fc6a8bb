import { join } from "node:path";
import { reportToSystemd } from "#content/runtime/systemd.ts";
import { BadSetting, readConfig, unknownSettings } from "./config.ts";
import { listen } from "./http/listen.ts";
import { announceService } from "./operator/running-service.ts";
import { openService } from "./open-service.ts";
import { adminTokenFile, closeDataFolder } from "./secrets.ts";

/** The service alone, without a bundle, for use behind a CDN or web server (`npm start` runs scripts/start.ts). */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const closed = closeDataFolder(config);
  const stopping = new AbortController();
  const service = await openService(config, { stopping: stopping.signal });
  const { log, secrets } = service.context;
  for (const name of unknownSettings(process.env)) log.warn({ name }, "unknown setting, ignored");
  if (closed !== null) log.warn(closed);
  const listening = listen(service.app, config, {
    reusePort: process.argv.includes("--share-port"),
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
}

main().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${message}\n`);
  process.exit(error instanceof BadSetting ? 2 : 1);
});
