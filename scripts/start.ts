import { join } from "node:path";
import type { OpenChain } from "#api/chain/open-chain.ts";
import type { Config } from "#api/config.ts";
import { openDonationChain, refuseSample } from "#api/giving/start-giving.ts";
import { listen } from "#api/http/listen.ts";
import { answerError } from "#api/http/problem.ts";
import { isJsonLog, openLog } from "#api/log.ts";
import { openService } from "#api/open-service.ts";
import { announceService } from "#api/operator/running-service.ts";
import { isUsed, openSecrets, type Secrets } from "#api/secrets.ts";
import { isoDay, systemClock } from "#content/contract/base/time.ts";
import { changedProfile } from "#content/nonprofit/changes-store.ts";
import { firstSlug } from "#content/nonprofit/list-store.ts";
import { holdsSample, nonprofitCount } from "#content/operation/directory-facts-store.ts";
import { isNeverFilled } from "#content/register/import-store.ts";
import { CannotStart } from "#content/runtime/start-error.ts";
import { superviseChild } from "#content/runtime/supervised-child.ts";
import { reportToSystemd } from "#content/runtime/systemd.ts";
import { openStore, storeAddress, type Store } from "#content/store/open.ts";
import { chainFiles, notedAddress, whyNoChain } from "#scripts/chain/installed.ts";
import { openExport } from "#site/bundle/export-folder.ts";
import { publisherFolders } from "#site/bundle/manifest.ts";
import {
  openBundleReader,
  publicationState,
  openPublicationWait,
} from "#site/delivery/bundle-reader.ts";
import { compileSite } from "#site/renderer/compile.ts";
import {
  profilesDefault,
  profilesMax,
  seedDirectory,
  unfinishedSample,
} from "./seed/seed-directory.ts";
import { openDrawing } from "./start/drawing.ts";
import { openFrontDoor } from "./start/front-door.ts";
import { flag, runCommand, textOption, wholeNumber, wordedCommand } from "./support/command.ts";
import { freePort, listeningConfigOrExit, stopSignal, stopWith } from "./support/config.ts";
import { startProgress } from "./support/progress.ts";

/** The data folder of a real directory when the settings name none; it differs from that of a sample. */
const realFolder = ".almoner-real";

export const command = wordedCommand("start", {
  args: {
    profiles: { ...textOption, default: String(profilesDefault) },
    sample: flag,
    publisher: { ...flag, default: true },
    real: {
      type: "boolean",
      description: `Serve real nonprofits, from a register that ships with the project, in ${realFolder} (or ALMONER_DATA_DIR)`,
    },
  },
  run: async ({ args }) => {
    const profiles = wholeNumber("--profiles", args.profiles, profilesMax);
    if (args.real === true) process.env["ALMONER_DATA_DIR"] ||= realFolder;
    const settings = settingsFor(args.publisher);
    const stop = stopSignal();
    const log = openLog(settings);
    const starting = startLocalChain(settings, (message) => log.warn(message));
    let publisher: ReturnType<typeof startPublisher> | null = null;
    const isNewFolder = !isUsed(settings);
    const store = await openStore({
      create: isNewFolder || [args.sample, args.real].includes(true),
      url: settings.databaseUrl,
      authToken: settings.databaseToken,
      serves: true,
      onCommit: () => publisher?.send("written"),
    });
    // The site compiles while the store is filled. Whoever needs it waits for it and reports a failure.
    void compileSite(publisherFolders(settings.dataDir).compiled).catch(() => null);
    const tell = isJsonLog(settings) ? (line: string) => log.info(line) : undefined;
    // Until it listens, ending at once is safe: finished parts of the sample are committed, and the next start continues.
    const leaveAtOnce = () => process.exit(0);
    stop.addEventListener("abort", leaveAtOnce);
    // The readers of registers are many files that few starts need.
    const fill =
      args.real === true
        ? (await import("./start/real-directory.ts")).fillFromRegister
        : fillWithSample;
    await fill(store, { ...settings, profiles, isNewFolder, sample: args.sample === true, tell });
    await refuseSample(settings, store);
    const localChain = await starting;
    const config = { ...settings, solanaRpcUrls: nodesOf(settings, localChain) };
    const secrets = await openSecrets(config, store, systemClock(), log);
    const reader = openBundleReader(publisherFolders(config.dataDir).bundle, () =>
      publisher?.send("damaged"),
    );
    const profileOf = (sequence: number) => changedProfile(store, sequence);
    const chain = await openDonationChain(config, { secrets, log, clock: systemClock });
    const service = await openService(config, {
      store,
      log,
      secrets,
      chain: localChain?.withAccounts(chain) ?? chain,
      stopping: stop,
      waitForPublication: openPublicationWait(reader, profileOf, config.publishWaitMs),
      publication: () => publicationState(reader),
      bundleHolds: (urlPath) => reader.find(urlPath) !== null,
      draw: openDrawing({ ...config, isSample: await holdsSample(store) }),
    });
    const frontDoor = await openFrontDoor(service.context, reader, (lost) =>
      publisher?.send({ lost }),
    );
    const onError = (error: unknown) => answerError(log, error, "UNKNOWN");
    const listening = listen(service.app, config, { before: frontDoor, onError });
    // What fails before would leave a publisher behind.
    publisher = startPublisher(args.publisher, (message) => log.warn(message));
    stop.removeEventListener("abort", leaveAtOnce);
    const leave = announceService(config.dataDir, listening.url);
    reportToSystemd(process.env, (error) => log.warn({ err: error }, "systemd was not told"));
    showAddresses(config, secrets, {
      example: await firstSlug(store),
      localChain: localChain?.url ?? null,
    });
    void publisher.ready.then(() => console.log("The bundle is complete. Ctrl-C stops."));
    if (!stop.aborted) await new Promise((resolve) => stop.addEventListener("abort", resolve));
    leave();
    await Promise.all([listening.stop({ drainMs: config.drainMs }), publisher.stop()]);
    await service.close();
    await localChain?.stop();
    reader.close();
    store.close();
    process.exit(0);
  },
});

/** A publisher that cannot make the folder of plain files would be started again and again. */
function settingsFor(isPublisherOurs: boolean): Config {
  const config = listeningConfigOrExit();
  if (isPublisherOurs && config.publicDir !== null) openExport(config.publicDir);
  return config;
}

/** No nodes if this installation has no local chain, so that nothing waits for it. */
const nodesOf = ({ localChainPort, solanaRpcUrls }: Config, localChain: RunningChain | null) =>
  localChain === null ? (localChainPort === null ? solanaRpcUrls : []) : [localChain.url];

const noPublisher = { send: () => {}, ready: new Promise(() => {}), stop: async () => {} };

/**
 * Keeps the publisher running beside the service, unless another process publishes. A publisher that dies is restarted and
 * catches up by itself. Ready once there is a first release to serve.
 */
const startPublisher = (isOurs: boolean, onTrouble: (message: string) => void) =>
  isOurs
    ? superviseChild<{ release: number }>({
        script: join(import.meta.dirname, "publish.ts"),
        args: () => ["--watch"],
        // Committing a million files takes tens of seconds, during which it reports nothing.
        silentMaxMs: 120_000,
        onEnd: ({ cause, againInMs }) =>
          onTrouble(
            `The publisher ended (${cause}) and is started again in ${againInMs / 1_000} s. What is published goes on being served.`,
          ),
      })
    : noPublisher;

/** Prints the addresses worth opening, and a new operator's token. */
function showAddresses(
  { baseUrl, publicDir }: Config,
  { newAdminToken }: Secrets,
  { example, localChain }: { example: string | null; localChain: string | null },
): void {
  const lines = [
    "",
    `Almoner is answering at ${baseUrl}`,
    "",
    `  people         ${baseUrl}/`,
    ...(example === null ? [] : [`  a profile      ${baseUrl}/nonprofits/${example}`]),
    ...(example === null ? [] : [`  as JSON        ${baseUrl}/api/nonprofits/${example}`]),
    `  causes         ${baseUrl}/causes`,
    `  statistics     ${baseUrl}/api/stats`,
    `  operators      ${baseUrl}/desk`,
    ...(publicDir === null ? [] : [`  plain files    ${publicDir}`]),
    ...(localChain === null
      ? []
      : [`  local Solana   ${localChain} (no real money; bun run chain --help)`]),
    "",
  ];
  if (newAdminToken !== null) {
    lines.push(
      `The operator's token, shown this once: ${newAdminToken}`,
      `Sign in with it at ${baseUrl}/desk`,
      "",
    );
  }
  console.log(lines.join("\n"));
}

const noSample =
  "The data folder is empty, and a sample of invented nonprofits is nothing for ALMONER_NETWORK=solana, where money is real. Fill it first: bun run import --help";

/** Everyone who starts with an empty folder gets this sample. */
const seedNumber = 1;

/** Fills an empty store with the sample directory, and completes a sample that was interrupted. */
async function fillWithSample(
  store: Store,
  {
    network,
    databaseUrl,
    profiles,
    isNewFolder,
    sample,
    tell,
  }: Pick<Config, "network" | "databaseUrl"> & {
    profiles: number;
    isNewFolder: boolean;
    sample: boolean;
    tell: ((line: string) => void) | undefined;
  },
): Promise<void> {
  const unfinished = await unfinishedSample(store);
  if (network === "solana" && (await nonprofitCount(store)) === 0) stopWith(noSample, 2);
  if (unfinished === null && (await nonprofitCount(store)) > 0) return;
  // An import that was killed has begun a directory of real nonprofits.
  const isNew = sample || (isNewFolder && (await isNeverFilled(store)));
  if (unfinished === null && !isNew) {
    throw new CannotStart(
      `The store ${storeAddress(databaseUrl)} holds no nonprofit, and the data folder was used before.`,
      "Restore a backup, or fill it with `bun run import`; with --sample it gets invented nonprofits.",
    );
  }
  const outline = unfinished ?? { profiles, seed_number: seedNumber };
  console.log(`An empty data folder: making a sample directory of ${outline.profiles} nonprofits.`);
  const progress = startProgress("Sample nonprofits", outline.profiles, tell);
  await seedDirectory(store, {
    profiles: outline.profiles,
    seedNumber: outline.seed_number,
    asOf: isoDay(systemClock().getTime()),
    onProgress: progress.at,
  });
  progress.end();
  await store.emptyLog();
}

export type RunningChain = NonNullable<Awaited<ReturnType<typeof startLocalChain>>>;

const readyWithinMs = 5_000;

/**
 * Starts the local chain in its own process, or takes the one that already runs for this data folder. A slow chain, or one
 * that ends, does not end the service, which waits for it. Null when the settings name other RPC nodes, or when this
 * installation has no local chain: the directory then runs without donations.
 */
export async function startLocalChain(config: Config, onTrouble: (message: string) => void) {
  const { localChainPort } = config;
  if (localChainPort === null) return null;
  const running = await runningAlready(config);
  // Nothing else is known about a chain that someone else started.
  if (running !== null) return { ...chainAt(running), pid: () => null, stop: async () => {} };
  const missing = whyNoChain();
  if (missing !== null) {
    onTrouble(`${missing} Until then no one can give.`);
    return null;
  }
  // Chosen here, so that the service knows the address even if the chain comes up late.
  const port = freePort(localChainPort);
  const child = superviseChild<{ url: string }>({
    script: join(import.meta.dirname, "chain.ts"),
    env: { ...process.env, ALMONER_DATA_DIR: config.dataDir },
    args: () => ["--port", String(port)],
    onEnd: ({ cause, againInMs }) =>
      onTrouble(
        `The local chain ended (${cause}) and is started again in ${againInMs / 1_000} s. Donations wait for it.`,
      ),
  });
  const first = await Promise.race([child.ready, Bun.sleep(readyWithinMs).then(() => null)]);
  if (first === null) {
    onTrouble("The local chain takes longer to come up. Donations wait for it.");
  }
  return { ...child, ...chainAt(`http://127.0.0.1:${port}`) };
}

const lookAgainAfterMs = 500;
/** A missing chain fails at once; a busy one gets time, because a second one beside it could not start. */
const answersWithinMs = 5_000;

/** A chain that was started by hand. The chain of a killed service ends by the second look. */
async function runningAlready(config: Config): Promise<string | null> {
  const url = notedAddress(chainFiles(config).address);
  if (url === null) return null;
  const answers = () => isOk(`${url}/health`, answersWithinMs);
  if (!(await answers())) return null;
  await Bun.sleep(lookAgainAfterMs);
  return (await answers()) ? url : null;
}

const isOk = (url: string, withinMs: number, init: RequestInit = {}): Promise<boolean> =>
  fetch(url, { ...init, signal: AbortSignal.timeout(withinMs) }).then(
    ({ ok }) => ok,
    () => false,
  );

const ensureWithinMs = 1_000;

function chainAt(url: string) {
  const wallets = new Set<string>();
  return {
    url,
    /** Creates the token account of each wallet that is asked about: on this chain no one else would. */
    withAccounts: (chain: OpenChain): OpenChain => ({
      ...chain,
      canReceive: async (wallet) => {
        const init = { method: "POST", body: JSON.stringify({ wallets: [wallet] }) };
        if (!wallets.has(wallet) && (await isOk(`${url}/ensure`, ensureWithinMs, init)))
          wallets.add(wallet);
        return chain.canReceive(wallet);
      },
    }),
  };
}

if (import.meta.main) await runCommand(command);
