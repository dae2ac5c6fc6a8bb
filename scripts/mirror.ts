import { setTimeout } from "node:timers/promises";
import { defineCommand } from "citty";
import { systemClock } from "#content/contract/base/time.ts";
import { type PublicKey, publicKeyOf } from "#content/feed/signing-keys.ts";
import { PublisherBusy, takePublisherLock } from "#site/publisher/lock.ts";
import { openMirrorFolder } from "./mirror/folder.ts";
import { openOrigin, type SyncFailure } from "./mirror/origin.ts";
import { syncMirror, type SyncOptions, type SyncReport } from "./mirror/sync.ts";
import { runCommand } from "./support/command.ts";
import { stopSignal, stopWith } from "./support/config.ts";
import { startProgress } from "./support/progress.ts";

const args = {
  url: { type: "positional", required: true, description: "Where the directory is published" },
  folder: { type: "positional", required: true, description: "The folder to keep identical to it" },
  key: {
    type: "string",
    description: "Public key (x of its JWK) to verify signatures with; default: the first one seen",
  },
  "accept-new-key": {
    type: "boolean",
    description:
      "Take the key that the directory shows now instead of the one seen first: check its id first",
  },
  "max-gb": {
    type: "string",
    default: "50",
    description: "The most that the folder may hold, in GB",
  },
  "max-files": {
    type: "string",
    default: "5000000",
    description: "The most files that the folder may hold",
  },
  check: { type: "boolean", description: "Check every file in the folder, and repair it" },
  watch: {
    type: "string",
    description: "Keep running, and check again every N seconds (1 to 86400)",
  },
  patience: {
    type: "string",
    default: "60",
    description: "How many seconds to wait for the origin's files to match its signed list",
  },
  json: { type: "boolean", description: "One JSON object per run on standard output" },
} as const;

const command = defineCommand({
  meta: {
    name: "mirror",
    description:
      "Keeps a folder byte-identical to a published directory, using its change feed and its signed list of files. " +
      "The mirror's state is stored beside the folder, in <folder>.mirror. Exit code 1: the folder is not up to date.",
  },
  args,
  run: async ({ args: asked }) => {
    const patienceMs = secondsOf("--patience", asked.patience, 0) * 1_000;
    const watchMs = asked.watch === undefined ? 0 : secondsOf("--watch", asked.watch, 1) * 1_000;
    if (!/^https?:\/\/./.test(asked.url)) stopWith("Give an http or https URL to mirror.", 2);
    const key = asked.key === undefined ? null : await keyOf(asked.key);
    const limits = {
      bytesMax: 1e9 * numberOf("--max-gb", asked["max-gb"]),
      filesMax: numberOf("--max-files", asked["max-files"]),
    };
    const signal = stopSignal();
    const mirror = openMirrorFolder(asked.folder);
    const lock = lockOrStop(mirror.side);
    const origin = openOrigin(asked.url, { signal });
    const common = { origin, mirror, key, patienceMs, limits, clock: systemClock };
    try {
      for (let first = true; ; first = false) {
        const check = first && asked.check === true;
        const acceptNewKey = first && asked["accept-new-key"] === true;
        const inStep = await runOnce({ ...common, check, acceptNewKey }, asked.json === true);
        process.exitCode = inStep ? 0 : 1;
        if (watchMs === 0 || signal.aborted) break;
        // Being asked to stop ends the pause.
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
  const onFile = () => progress.at(++fetched);
  const outcome = await syncMirror({ ...options, pauseMs: 500, onFile }).finally(progress.end);
  const seconds = Number(((performance.now() - startedMs) / 1_000).toFixed(2));
  if (json) {
    const result = outcome.ok ? outcome.value : outcome.failure;
    console.log(JSON.stringify({ ok: outcome.ok, ...result, seconds }));
  } else if (outcome.ok) console.log(describeReport(outcome.value, seconds));
  else console.error(describeFailure(outcome.failure));
  return outcome.ok;
}

function secondsOf(name: string, given: string, least: number): number {
  const seconds = Number(given);
  if (given.trim() !== "" && seconds >= least && seconds <= 86_400) return seconds;
  return stopWith(`${name}: give seconds from ${least} to 86400.`, 2);
}

const keyOf = (x: string): Promise<PublicKey> =>
  publicKeyOf(x).catch(() =>
    stopWith("--key: give the x of an Ed25519 JWK: 43 characters of base64url.", 2),
  );

function numberOf(name: string, given: string): number {
  const number = Number(given);
  return number > 0 && number <= 1e9 ? number : stopWith(`${name}: give a number above 0.`, 2);
}

function lockOrStop(side: string): { release(): void } {
  try {
    return takePublisherLock(side);
  } catch (error) {
    if (!(error instanceof PublisherBusy)) throw error;
    return stopWith("Another process is mirroring into this folder.");
  }
}

const pathsShownMax = 5;

/** What a finished run did, in a line or two. */
function describeReport(report: SyncReport, seconds: number): string {
  const { changed, removed, files, fetched_bytes, sequence, behind, nonprofits } = report;
  if (changed + removed === 0 && behind.length === 0) {
    return `Nothing new: ${files.toLocaleString("en")} files, feed ${sequence}.`;
  }
  const counts = Object.entries(nonprofits ?? {}).map(([kind, count]) => `${count} ${kind}`);
  return [
    `${changed.toLocaleString("en")} files written, ${removed.toLocaleString("en")} removed, ` +
      `${(fetched_bytes / 1e6).toFixed(1)} MB fetched in ${seconds} s; now ${files.toLocaleString("en")} files, feed ${sequence}.`,
    ...(counts.length > 0 ? [`Nonprofits: ${counts.join(", ")}.`] : []),
    ...(behind.length > 0
      ? [`Changed while being fetched, to be fetched next time: ${listed(behind)}`]
      : []),
    `Signed by key ${report.kid}.`,
  ].join("\n");
}

/** Failures that another run may not have; the others are refusals. */
const troubles = ["disk", "not_found", "unreachable", "restless", "no_directory"] as const;
type Trouble = Extract<SyncFailure, { kind: (typeof troubles)[number] }>;
const isTrouble = (failure: SyncFailure): failure is Trouble =>
  troubles.some((kind) => kind === failure.kind);

/** Why a run left the folder as it was. */
const describeFailure = (failure: SyncFailure): string =>
  isTrouble(failure) ? describeTrouble(failure) : describeRefusal(failure);

function describeTrouble(failure: Trouble): string {
  switch (failure.kind) {
    case "disk":
      return `The folder could not be written: ${failure.reason}. The next run continues from here.`;
    case "not_found":
      return `The origin has no ${failure.path}: is this the address of a published directory?`;
    case "unreachable":
      return `${failure.path} could not be fetched: ${failure.reason}. The next run continues from here.`;
    case "restless":
      return "The origin changes faster than its list of files can be fetched. Nothing was replaced; what was fetched is kept for the next run.";
    case "no_directory":
    default:
      return `This is not a published directory: ${failure.reason}.`;
  }
}

/** Why nothing of what the origin shows was taken. */
function describeRefusal(failure: Exclude<SyncFailure, Trouble>): string {
  switch (failure.kind) {
    case "tampered":
      return `REFUSED: the origin's files differ from its signed list, and still do after waiting: ${listed(failure.paths)}\nNothing was replaced.`;
    case "not_signed_by":
      return (
        `REFUSED: the list of files is not signed by the key of this mirror (${failure.kid}); it names ${failure.signedBy}.\n` +
        "Nothing was replaced. If the directory has a new key, ask its operator for the key's id, and take it with --accept-new-key."
      );
    case "rolled_back":
      return (
        `REFUSED: the list of files (${failure.sequence}) is older than the one taken before (${failure.taken}): somebody may be showing an old state. Nothing was replaced.\n` +
        "A directory that was restored from a backup issues a newer list within a day."
      );
    case "expired":
      return (
        `REFUSED: the list of files expired at ${failure.expires_at}: the directory's publisher stands still, or somebody holds newer lists back. Nothing was replaced.\n` +
        "Check that this machine's clock is right, and ask the directory's operator."
      );
    case "bad_list":
      return `REFUSED: the signed list of files cannot be followed: ${failure.reason}. Nothing was replaced.`;
    case "too_large":
      return `REFUSED: the directory has ${failure.reason}, more than this mirror takes. Nothing was replaced. --max-gb and --max-files say how much it takes.`;
    case "damaged":
      return `REFUSED: ${failure.path} is damaged. Nothing was replaced. Restore it, or remove the folder and the one beside it (.mirror) and mirror from scratch with --key.`;
    case "not_a_mirror":
    default:
      return "REFUSED: the folder is not empty and is not a mirror. Name an empty folder, or remove its contents.";
  }
}

const listed = (paths: readonly string[]): string =>
  paths.length <= pathsShownMax
    ? paths.join(", ")
    : `${paths.slice(0, pathsShownMax).join(", ")} and ${paths.length - pathsShownMax} more`;

await runCommand(command);
