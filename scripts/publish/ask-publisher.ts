import type { Config } from "#api/config.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { msSinceMoment } from "#content/runtime/timing.ts";
import { type BuildFindings, buildFindings } from "#site/publisher/full-build.ts";
import {
  type Manifest,
  openManifest,
  type PublisherState,
  publisherFolders,
} from "#site/bundle/manifest.ts";
import { isPublisherAlive } from "#site/publisher/lock.ts";
import {
  leaveRequest,
  type PublishRequest,
  requestText,
  withdrawRequest,
} from "#site/publisher/requests.ts";
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

type PublishFlags = {
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
  flags: PublishFlags,
  { json, heldToo }: { json: boolean; heldToo: boolean },
): Promise<void> {
  const manifest = openManifest(publisherFolders(config.dataDir).bundle);
  await untilResident(manifest);
  const request = requestOf(flags, manifest);
  const verb = request?.verb ?? null;
  const { held_at: heldBefore } = manifest.state();
  if (verb === "full" && heldBefore > 0) stopWith(heldMessage(heldBefore));
  const newest = await newestChange(config);
  if (request !== null && !leaveRequest(manifest, request)) {
    stopWith("The publisher is busy with another request. Try again later.");
  }
  await untilDone(manifest, request, newest);
  stopWhereHeld(manifest, request, heldToo);
  report(manifest, verb, json);
  manifest.close();
}

/** Stops where a rollback did not come about, or holds what was to be published. */
function stopWhereHeld(
  manifest: Manifest,
  request: ReturnType<typeof requestOf>,
  heldToo: boolean,
): void {
  const { held_at } = manifest.state();
  if (request?.verb === "rollback" && held_at !== request.release) {
    stopWith(notKeptMessage(request.release, manifest));
  }
  if (request === null && held_at > 0 && !heldToo) stopWith(heldMessage(held_at));
}

function report(manifest: Manifest, verb: PublishRequest["verb"] | null, json: boolean): void {
  const { current_release, held_at } = manifest.state();
  const findings: Partial<BuildFindings> = verb === "full" ? buildFindings(manifest) : {};
  const failed = failuresOf(manifest);
  if (failed.length > 0) process.exitCode = 1;
  if (verb === null && held_at > 0) console.error(heldMessage(held_at));
  if (json) {
    console.log(JSON.stringify({ release: current_release, held_at, ...findings, failed }));
  } else {
    console.log(`The running publisher is at release ${current_release}.`);
    if (verb === "rollback") console.log(heldMessage(held_at));
    showFindings(findings);
  }
  showFailed(failed);
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

async function untilDone(
  manifest: Manifest,
  request: PublishRequest | null,
  newest: number,
): Promise<void> {
  const text = request === null ? null : requestText(request);
  const progress = startProgress(`Asked the running publisher (${text ?? "publish"}), waiting`, 0);
  const startedMs = performance.now();
  const giveUp = (message: string): never => {
    if (request !== null) withdrawRequest(manifest, request);
    return stopWith(message);
  };
  for (let toList: number | null = null; ; await Bun.sleep(lookEveryMs)) {
    const state = manifest.state();
    if (toList === null && isTaken(state, text, newest)) toList = state.current_release;
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
function isTaken(state: PublisherState, request: string | null, newest: number): boolean {
  if (state.request === request) return false;
  if (state.held_at > 0) return true;
  const reached = Math.min(state.fast_sequence, state.slow_sequence);
  return state.current_release > 0 && reached >= newest;
}

function requestOf(flags: PublishFlags, manifest: Manifest): PublishRequest | null {
  if (flags.rollback !== undefined) {
    return { verb: "rollback", release: targetOf(flags.rollback, manifest) };
  }
  if (flags.full === true) return { verb: "full" };
  return flags.resume === true ? { verb: "resume" } : null;
}
