import { defineCommand } from "citty";
import { openLog } from "#api/log.ts";
import { signingKeyOf } from "#api/secrets.ts";
import type { Logger } from "pino";
import type { Config } from "#api/config.ts";
import { PublisherBusy } from "#site/publisher/lock.ts";
import { openPublisher, type Publisher, publisherFolders } from "#site/publisher/open-publisher.ts";
import { askResident } from "./publish/ask-resident.ts";
import { drainOnce, goBack, publishFull } from "./publish/once.ts";
import { showStatus } from "./publish/status.ts";
import { heldMessage } from "./publish/target.ts";
import { bringToBucket, targetOrExit } from "./publish/to-bucket.ts";
import { watch } from "./publish/watch.ts";
import { configOrExit, stopWith } from "./support/config.ts";
import { runCommand } from "./support/command.ts";

const args = {
  full: { type: "boolean", description: "Render everything anew and say which files differed" },
  watch: { type: "boolean", description: "Stay, and publish every change within milliseconds" },
  rollback: {
    type: "string",
    description: "Go back to release N (or -1: the one before) and hold there; --resume goes on",
  },
  resume: { type: "boolean", description: "Publish again after a rollback" },
  status: { type: "boolean", description: "How far publishing is, kept releases, failed pages" },
  processes: { type: "string", default: "2", description: "Rendering processes of a full build" },
  to: {
    type: "string",
    description:
      "Afterwards (with --watch: after each release) bring what changed to s3://bucket[/prefix]",
  },
  extensionless: {
    type: "boolean",
    description: "With --to: store pages also under keys without extension",
  },
  json: { type: "boolean", description: "Answer as JSON on standard output" },
} as const;

const command = defineCommand({
  meta: {
    name: "publish",
    description:
      "Brings the published bundle in step with the store. Exit code 1: a page failed to render or nothing could be done.",
  },
  args,
  run: async ({ args: asked }) => {
    const config = configOrExit();
    const log = openLog(config);
    const json = asked.json === true;
    const { bundle } = publisherFolders(config.dataDir);
    if (asked.status === true) return showStatus(bundle, json);
    // A target that cannot be used is told before the work, not after it.
    if (asked.to !== undefined) targetOrExit(asked.to);
    const stayed = await publish(asked, config, log);
    if (asked.to === undefined || stayed) return;
    const whole = await bringToBucket(
      bundle,
      { to: asked.to, extensionless: asked.extensionless === true, json },
      config,
      (event, detail) => log.warn(detail ?? {}, event),
    );
    if (!whole) process.exitCode = 1;
  },
});

type Asked = {
  full?: boolean | undefined;
  watch?: boolean | undefined;
  rollback?: string | undefined;
  resume?: boolean | undefined;
  processes: string;
  to?: string | undefined;
  extensionless?: boolean | undefined;
  json?: boolean | undefined;
};

/** Brings the bundle in step; answers whether it stayed to publish until it was stopped. */
async function publish(asked: Asked, config: Config, log: Logger): Promise<boolean> {
  const { bundle } = publisherFolders(config.dataDir);
  const json = asked.json === true;
  const processes = Number(asked.processes);
  if (!Number.isInteger(processes) || processes < 1 || processes > 64) {
    stopWith("--processes: give a whole number from 1 to 64.", 2);
  }
  const publisher = await openPublisher({
    ...config,
    signingKey: signingKeyOf(config),
    apart: asked.watch === true,
    // What went wrong must be seen at whatever level is logged.
    log: (event, detail = {}) =>
      ("error" in detail ? log.error : log.info).call(log, detail, event),
  }).catch((error: unknown) => {
    if (error instanceof PublisherBusy) return null;
    throw error;
  });
  if (publisher === null) {
    if (asked.watch === true) stopWith("Another process publishes into this data folder already.");
    await askResident(bundle, asked, json);
    return false;
  }
  if (asked.watch === true) {
    await watch(publisher, config, log, asked);
    return true;
  }
  try {
    await publishOnce(publisher, asked, { processes, releasesKept: config.releasesKept });
  } finally {
    publisher.close();
  }
  return false;
}

async function publishOnce(
  publisher: Publisher,
  asked: Asked,
  { processes, releasesKept }: { processes: number; releasesKept: number },
): Promise<void> {
  const json = asked.json === true;
  const { manifest } = publisher.parts;
  if (asked.rollback !== undefined) return goBack(publisher, asked.rollback, json);
  const { held_at } = manifest.state();
  if (asked.resume === true || asked.full === true) manifest.setState({ held_at: 0 });
  else if (held_at > 0) stopWith(heldMessage(held_at));
  const full = asked.full === true || publisher.isOutdated();
  const failed = full
    ? await publishFull(publisher, processes, json)
    : await drainOnce(publisher, { json, releasesKept });
  if (failed > 0) process.exitCode = 1;
}

await runCommand(command);
