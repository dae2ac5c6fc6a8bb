import { defineCommand, runMain } from "citty";
import { createApp } from "#api/app.ts";
import { listen } from "#api/listen.ts";
import { loadSecrets } from "#api/secrets.ts";
import { countActivity } from "#content/store/activity.ts";
import { changedProfile } from "#content/store/changes.ts";
import { idsInList } from "#content/store/lists.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { recordsById } from "#content/store/records.ts";
import { systemClock } from "#content/rules/time.ts";
import { publisherFolders } from "#site/publisher/open-publisher.ts";
import { openBundleReader } from "#site/server/bundle-reader.ts";
import { waitForPublication } from "#site/server/publication.ts";
import { openFrontDoor } from "./start/front-door.ts";
import { startPublisherChild } from "./start/publisher-child.ts";
import { fillEmptyStore } from "./start/sample.ts";
import { showAddresses } from "./start/addresses.ts";
import { configOrExit, openLog, stopSignal } from "./support/config.ts";

const command = defineCommand({
  meta: {
    name: "start",
    description:
      "Serves directory and service on one port. An empty data folder is filled with a sample directory first.",
  },
  args: {
    profiles: {
      type: "string",
      description: "Profiles of the sample directory, when the store is empty (41000)",
    },
  },
  run: async ({ args }) => {
    const config = configOrExit();
    const stop = stopSignal();
    const log = openLog(config);
    const store = await openStore({ url: config.databaseUrl, authToken: config.databaseToken });
    await fillEmptyStore(store, args.profiles);
    const secrets = loadSecrets(config);
    const publisher = startPublisherChild((message) => log.warn(message));
    const reader = openBundleReader(publisherFolders(config.dataDir).bundle);
    const activity = countActivity(store, systemClock);
    const app = createApp({
      store,
      config,
      secrets,
      log,
      activity,
      clock: systemClock,
      waitForPublication: waitForPublication(
        reader,
        (sequence) => changedProfile(store.raw, sequence),
        config.publishWaitMs,
      ),
    });
    const frontDoor = await openFrontDoor({ config, store, reader, activity });
    const server = listen(app, config, { before: frontDoor });
    showAddresses(config, secrets, await exampleSlug(store));
    void publisher.ready.then(() => console.log("The bundle is complete. Ctrl-C stops."));
    const flushing = setInterval(() => {
      activity.flush().catch((error: unknown) => log.warn({ err: error }, "counters not written"));
    }, 1_000);
    await new Promise((resolve) => stop.addEventListener("abort", resolve));
    clearInterval(flushing);
    await Promise.all([server.stop(), publisher.stop()]);
    await activity.flush();
    reader.close();
    store.close();
  },
});

/** The first of the whole list, for an address that shows something. */
async function exampleSlug(store: Store): Promise<string | null> {
  const [first] = await recordsById(
    store.raw,
    await idsInList(store.raw, "all", { limit: 1, offset: 0 }),
  );
  return first?.slug ?? null;
}

await runMain(command);
