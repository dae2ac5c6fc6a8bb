import { defineCommand, runMain } from "citty";
import { openLog } from "#api/log.ts";
import { signingKeyOf } from "#api/secrets.ts";
import { PublisherBusy } from "#site/publisher/lock.ts";
import { openPublisher, publisherFolders } from "#site/publisher/open-publisher.ts";
import { askResident } from "./publish/ask-resident.ts";
import { drainOnce, goBack, publishFull } from "./publish/once.ts";
import { showStatus } from "./publish/status.ts";
import { watch } from "./publish/watch.ts";
import { configOrExit, stopWith } from "./support/config.ts";

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
  to: { type: "string", description: "Afterwards bring what changed to s3://bucket[/prefix]" },
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
    const folders = publisherFolders(config.dataDir);
    const json = asked.json === true;
    if (asked.status === true) return showStatus(folders.bundle, json);
    const processes = Number(asked.processes);
    if (!Number.isInteger(processes) || processes < 1 || processes > 64) {
      stopWith("--processes: give a whole number from 1 to 64.", 2);
    }
    const publisher = await openPublisher({
      ...config,
      signingKey: signingKeyOf(config),
      log: (event, detail) => log.info(detail ?? {}, event),
    }).catch((error: unknown) => {
      if (error instanceof PublisherBusy) return null;
      throw error;
    });
    if (publisher === null) {
      if (asked.watch === true)
        stopWith("Another process publishes into this data folder already.");
      return askResident(folders.bundle, asked, json);
    }
    if (asked.watch === true) return watch(publisher, config, log);
    try {
      if (asked.rollback !== undefined) return await goBack(publisher, asked.rollback, json);
      if (asked.resume === true) publisher.parts.manifest.setState({ held_at: 0 });
      const full = asked.full === true || publisher.isOutdated();
      const failed = full
        ? await publishFull(publisher, processes, json)
        : await drainOnce(publisher, json);
      if (failed > 0) process.exitCode = 1;
    } finally {
      publisher.close();
    }
  },
});

await runMain(command);
