import type { Config } from "#api/config.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { msSinceMoment } from "#content/runtime/machine-uptime.ts";
import { type BuildFindings, buildFindings } from "#site/publisher/full-build.ts";
import { type Manifest, openManifest } from "#site/bundle/manifest.ts";
import { publisherFolders } from "#site/publisher/open-publisher.ts";
import { isPublisherAlive } from "#site/publisher/lock.ts";
import { openExistingStore, stopWith } from "#scripts/support/config.ts";
import { startProgress } from "#scripts/support/progress.ts";
import {
  failuresOf,
  heldMessage,
  notKeptMessage,
  showFindings,
  showFailed,
  targetOf,
} from "./once.ts";

const waitMaxMs = 30 * 60_000;
const lookEveryMs = 100;
/** A publisher that has just started compiles the site before it says that it lives. */
const startMaxMs = 15_000;
/** A publisher that was killed is started again by the service, and takes the request up. */
const silentMaxMs = 60_000;

type PublishRequest = {
  full?: boolean | undefined;
  resume?: boolean | undefined;
  rollback?: string | undefined;
};

/**
 * Hands a request to the process that publishes already, and waits until it is done and announced to mirrors. `heldToo`: it
 * is well when a rollback holds publishing.
 */
export async function askPublisher(
  config: Config,
  given: PublishRequest,
  { json, heldToo }: { json: boolean; heldToo: boolean },
): Promise<void> {
  const manifest = openManifest(publisherFolders(config.dataDir).bundle);
  await untilResident(manifest);
  const request = requestOf(given, manifest);
  const { held_at: heldBefore } = manifest.state();
  if (request === "full" && heldBefore > 0) stopWith(heldMessage(heldBefore));
  const newest = await newestChange(config);
  claim(manifest, request);
  await untilDone(manifest, request, newest);
  const { current_release, held_at } = manifest.state();
  const [verb, target] = request.split(" ");
  if (verb === "rollback" && held_at !== Number(target)) {
    stopWith(notKeptMessage(Number(target), manifest));
  }
  if (verb === "" && held_at > 0) {
    if (!heldToo) stopWith(heldMessage(held_at));
    console.error(heldMessage(held_at));
  }
  const found: Partial<BuildFindings> = verb === "full" ? buildFindings(manifest) : {};
  const failed = failuresOf(manifest);
  if (failed.length > 0) process.exitCode = 1;
  if (json) {
    console.log(JSON.stringify({ release: current_release, held_at, ...found, failed }));
  } else {
    console.log(`The running publisher is at release ${current_release}.`);
    if (verb === "rollback") console.log(heldMessage(held_at));
    showFindings(found);
  }
  showFailed(failed);
  manifest.close();
}

/** The publisher's place may also be taken by another command, which hears no requests. */
async function untilResident(manifest: Manifest): Promise<void> {
  const deadlineMs = performance.now() + startMaxMs;
  while (!isPublisherAlive(manifest.state())) {
    if (performance.now() > deadlineMs) {
      stopWith("Another command is publishing into this data folder. Try again when it has ended.");
    }
    await Bun.sleep(lookEveryMs);
  }
}

async function newestChange(config: Config): Promise<number> {
  using store = await openExistingStore(config, { migrated: true });
  return await newestSequence(store);
}

/** Leaves a request for the running publisher, unless it has one. */
function claim({ db }: Manifest, request: string): void {
  if (request === "") return;
  const left = db
    .query<{ value: string }, [string]>(
      `INSERT INTO state (name, value) VALUES ('request', ?)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE state.value = ''
       RETURNING value`,
    )
    .get(request);
  if (left === null) stopWith("The publisher is busy with another request. Try again later.");
}

async function untilDone(manifest: Manifest, request: string, newest: number): Promise<void> {
  const progress = startProgress(
    `Asked the running publisher (${request || "publish"}), waiting`,
    0,
  );
  const startedMs = performance.now();
  const giveUp = (message: string): never => {
    manifest.db
      .query("UPDATE state SET value = '' WHERE name = 'request' AND value = ?")
      .run(request);
    return stopWith(message);
  };
  for (let toList: number | null = null; ; await Bun.sleep(lookEveryMs)) {
    const state = manifest.state();
    if (toList === null && isTaken(state, request, newest)) toList = state.current_release;
    // The signed list tells of a release last.
    if (toList !== null && state.listed_release >= toList) break;
    const waitedMs = performance.now() - startedMs;
    if (waitedMs > waitMaxMs) giveUp("The running publisher did not finish in 30 minutes.");
    if ((msSinceMoment(state.heartbeat_at) ?? Infinity) > silentMaxMs)
      giveUp("The running publisher has ended.");
    progress.at(Math.round(waitedMs / 1_000));
  }
  progress.end();
}

/** Whether the request was taken, and unless a rollback holds, all that had changed is published. */
function isTaken(state: ReturnType<Manifest["state"]>, request: string, newest: number): boolean {
  if (request !== "" && state.request === request) return false;
  if (state.held_at > 0) return true;
  const reached = Math.min(state.fast_sequence, state.slow_sequence);
  return state.current_release > 0 && reached >= newest;
}

function requestOf(given: PublishRequest, manifest: Manifest): string {
  if (given.rollback !== undefined) return `rollback ${targetOf(given.rollback, manifest)}`;
  if (given.full === true) return "full";
  return given.resume === true ? "resume" : "";
}
