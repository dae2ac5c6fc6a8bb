import { openManifest } from "#site/publisher/manifest.ts";
import { stopWith } from "../support/config.ts";
import { startProgress } from "../support/progress.ts";
import { targetOf } from "./once.ts";

const waitMaxMs = 30 * 60_000;
const lookEveryMs = 200;

type Asked = {
  full?: boolean | undefined;
  resume?: boolean | undefined;
  rollback?: string | undefined;
};

/** Hands a request to the process that publishes already, and waits until it is done. */
export async function askResident(
  bundleFolder: string,
  asked: Asked,
  json: boolean,
): Promise<void> {
  const manifest = openManifest(bundleFolder);
  const before = manifest.state();
  const request = requestOf(asked, before.current_release);
  if (before.request !== "")
    stopWith(`The publisher is busy with another request: ${before.request}.`);
  if (request !== "") manifest.setState({ request });
  const progress = startProgress(
    `Asked the running publisher (${request || "publish"}), waiting`,
    0,
  );
  const deadlineMs = performance.now() + waitMaxMs;
  let seconds = 0;
  while (!isDone(manifest.state(), request)) {
    if (performance.now() > deadlineMs)
      stopWith("The running publisher did not finish in 30 minutes.");
    await Bun.sleep(lookEveryMs);
    seconds += lookEveryMs / 1_000;
    progress.at(Math.round(seconds));
  }
  progress.end();
  const { current_release, held_at } = manifest.state();
  const failed = manifest.db
    .query<{ key: string; error: string }, []>("SELECT key, error FROM failures")
    .all();
  if (failed.length > 0) process.exitCode = 1;
  if (json) console.log(JSON.stringify({ release: current_release, held_at, failed }));
  else console.log(`The running publisher is at release ${current_release}.`);
  for (const { key, error } of failed) console.error(`failed: ${key}: ${error}`);
  manifest.close();
}

const isDone = (
  state: { request: string; fast_sequence: number; slow_sequence: number; held_at: number },
  request: string,
): boolean =>
  request === ""
    ? state.held_at > 0 || state.slow_sequence >= state.fast_sequence
    : state.request !== request;

function requestOf(asked: Asked, current: number): string {
  if (asked.rollback !== undefined) return `rollback ${targetOf(asked.rollback, current)}`;
  if (asked.full === true) return "full";
  return asked.resume === true ? "resume" : "";
}
