import { setTimeout } from "node:timers/promises";
import { defineCommand } from "citty";
import { codeOf } from "#site/bundle/blobs.ts";
import { PublisherBusy, takePublisherLock } from "#site/publisher/lock.ts";
import { publicKeyOf } from "#content/feed/keys.ts";
import { type DiskFailure, describeFailure, describeReport } from "./mirror/describe.ts";
import { OriginUnreachable } from "./mirror/gather.ts";
import { type MirrorFolder, openMirrorFolder } from "./mirror/mirror-folder.ts";
import { type FetchFailure, openOrigin } from "./mirror/origin.ts";
import { type SyncOptions, syncMirror } from "./mirror/sync.ts";
import { stopSignal, stopWith } from "./support/config.ts";
import { startProgress } from "./support/progress.ts";
import { runCommand } from "./support/command.ts";

const args = {
  url: { type: "positional", required: true, description: "Where the directory is published" },
  folder: { type: "positional", required: true, description: "The folder to keep in step with it" },
  key: {
    type: "string",
    description: "The public key (x of its JWK) that must have signed; default: the first one seen",
  },
  check: { type: "boolean", description: "Check every file in the folder, and repair it" },
  watch: { type: "string", description: "Stay, and look again every N seconds (1 to 86400)" },
  patience: {
    type: "string",
    default: "60",
    description: "Seconds in which files and signed list of the origin must come to agree",
  },
  json: { type: "boolean", description: "One JSON object per run on standard output" },
} as const;

const command = defineCommand({
  meta: {
    name: "mirror",
    description:
      "Keeps a folder byte-identical to a published directory, by its change feed and its signed list of files. " +
      "What the mirror remembers is kept beside the folder, in <folder>.mirror. Exit code 1: the folder is not in step.",
  },
  args,
  run: async ({ args: asked }) => {
    const patienceMs = secondsOf("--patience", asked.patience, 0) * 1_000;
    const watchMs = asked.watch === undefined ? 0 : secondsOf("--watch", asked.watch, 1) * 1_000;
    if (!/^https?:\/\/./.test(asked.url)) stopWith("Give an http or https URL to mirror.", 2);
    const key = asked.key === undefined ? null : await publicKeyOf(asked.key).catch(() => null);
    if (asked.key !== undefined && key === null) {
      stopWith("--key: give the x of an Ed25519 JWK: 43 characters of base64url.", 2);
    }
    const signal = stopSignal();
    const mirror = openMirrorFolder(asked.folder);
    const lock = lockOrStop(mirror);
    const common = { origin: openOrigin(asked.url, { signal }), mirror, key, patienceMs };
    try {
      for (let check = asked.check === true; ; check = false) {
        process.exitCode = (await runOnce({ ...common, check }, asked.json === true)) ? 0 : 1;
        if (watchMs === 0 || signal.aborted) break;
        // Being told to stop ends the pause.
        await setTimeout(watchMs, undefined, { signal }).catch(() => undefined);
        if (signal.aborted) break;
      }
    } finally {
      lock.release();
    }
  },
});

/** One look at the origin; answers whether the folder is in step now. */
async function runOnce(
  options: Omit<SyncOptions, "onFile" | "pauseMs">,
  json: boolean,
): Promise<boolean> {
  const startedMs = performance.now();
  const progress = startProgress("Files fetched", 0);
  let fetched = 0;
  try {
    const outcome = await syncMirror({
      ...options,
      pauseMs: 500,
      onFile: () => progress.at(++fetched),
    });
    progress.end();
    const seconds = Number(((performance.now() - startedMs) / 1_000).toFixed(2));
    if (outcome.ok) {
      console.log(
        json
          ? JSON.stringify({ ok: true, ...outcome.value, seconds })
          : describeReport(outcome.value, seconds),
      );
      return true;
    }
    if (json) console.log(JSON.stringify({ ok: false, ...outcome.failure, seconds }));
    else console.error(describeFailure(outcome.failure));
    return false;
  } catch (error) {
    progress.end();
    const failure = failureOf(error);
    if (failure === null) throw error;
    if (json) console.log(JSON.stringify({ ok: false, ...failure }));
    else console.error(describeFailure(failure));
    return false;
  }
}

/** What another run may find better: an origin that was away, a disk without room. Null for anything else. */
function failureOf(error: unknown): FetchFailure | DiskFailure | null {
  if (error instanceof OriginUnreachable) return error.failure;
  if (!(error instanceof Error) || !diskTroubles.has(codeOf(error))) return null;
  return { kind: "disk", reason: error.message };
}

const diskTroubles: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EACCES", "EROFS"]);

function secondsOf(name: string, given: string, least: number): number {
  const seconds = Number(given);
  if (given.trim() !== "" && seconds >= least && seconds <= 86_400) return seconds;
  return stopWith(`${name}: give seconds from ${least} to 86400.`, 2);
}

function lockOrStop(mirror: MirrorFolder): { release(): void } {
  try {
    return takePublisherLock(mirror.side);
  } catch (error) {
    if (!(error instanceof PublisherBusy)) throw error;
    return stopWith("Another process is mirroring into this folder.");
  }
}

await runCommand(command);
