import { join } from "node:path";
import { defineCommand } from "citty";
import { listen } from "#api/http/listen.ts";
import { openDonationChain, refuseSample } from "#api/donation/donation-chain.ts";
import { openLog } from "#api/log.ts";
import { announceService } from "#api/operator/running-service.ts";
import { openService } from "#api/open-service.ts";
import { loadSecrets } from "#api/secrets.ts";
import { superviseChild } from "#content/runtime/supervised-child.ts";
import { systemClock } from "#content/contract/time.ts";
import { changedProfile } from "#content/nonprofit/changes-store.ts";
import { idsInList } from "#content/nonprofit/list-store.ts";
import { openStore, servingStore, type Store } from "#content/store/open.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { publisherFolders } from "#site/publisher/open-publisher.ts";
import {
  openBundleReader,
  publicationOf,
  waitForPublication,
} from "#site/delivery/bundle-reader.ts";
import { openFrontDoor } from "./start/front-door.ts";
import { startLocalChain } from "./start/local-chain.ts";
import { fillEmptyStore } from "./start/sample.ts";
import { showAddresses } from "./start/addresses.ts";
import { configOrExit, orBadSetting, stopSignal } from "./support/config.ts";
import { runCommand } from "./support/command.ts";

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
    const given = configOrExit();
    const stop = stopSignal();
    const log = openLog(given);
    const starting = startLocalChain(given, (message) => log.warn(message));
    let publisher: ReturnType<typeof startPublisher> | null = null;
    const store = await openStore({
      url: given.databaseUrl,
      authToken: given.databaseToken,
      ...servingStore,
      onCommit: () => publisher?.send("written"),
    });
    await fillEmptyStore(store, args.profiles, given);
    await orBadSetting(refuseSample(given, store));
    const localChain = await starting;
    const config = localChain === null ? given : { ...given, solanaRpcUrls: [localChain.url] };
    publisher = startPublisher((message) => log.warn(message));
    const reader = openBundleReader(publisherFolders(config.dataDir).bundle);
    const profileOf = (sequence: number) => changedProfile(store, sequence);
    const secrets = loadSecrets(config);
    const chain = await orBadSetting(
      openDonationChain(config, { secrets, log, clock: systemClock }),
    );
    const service = await openService(config, {
      store,
      log,
      secrets,
      chain: localChain?.withAccounts(chain) ?? chain,
      waitForPublication: waitForPublication(reader, profileOf, config.publishWaitMs),
      publication: () => publicationOf(reader),
      bundleHolds: (urlPath) => reader.find(urlPath) !== null,
    });
    const frontDoor = await openFrontDoor(service.context, reader);
    const listening = listen(service.app, config, { before: frontDoor });
    const leave = announceService(config.dataDir, listening.url);
    showAddresses(config, secrets, {
      example: await exampleSlug(store),
      localChain: localChain?.url ?? null,
    });
    void publisher.ready.then(() => console.log("The bundle is complete. Ctrl-C stops."));
    if (!stop.aborted) await new Promise((resolve) => stop.addEventListener("abort", resolve));
    leave();
    await Promise.all([listening.stop(), publisher.stop()]);
    await service.close();
    await localChain?.stop();
    reader.close();
    store.close();
    process.exit(0);
  },
});

/**
 * Keeps the publisher running beside the service. One that dies is started again and catches up by itself. Ready once
 * the first release is there to be served.
 */
const startPublisher = (onTrouble: (message: string) => void) =>
  superviseChild<{ release: number }>({
    script: join(import.meta.dirname, "publish.ts"),
    args: () => ["--watch"],
    onEnd: ({ cause, againInMs }) =>
      onTrouble(
        `The publisher ended (${cause}) and is started again in ${againInMs / 1_000} s. What is published goes on being served.`,
      ),
  });

/** The first of the whole list, for an address that shows something. */
async function exampleSlug(store: Store): Promise<string | null> {
  const [first] = await recordsById(store, await idsInList(store, "all", { limit: 1, offset: 0 }));
  return first?.slug ?? null;
}

await runCommand(command);
