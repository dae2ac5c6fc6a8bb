import { type Manifest, openManifest, type PublisherState } from "#site/publisher/manifest.ts";
import { stopWith } from "../support/config.ts";
import { startProgress } from "../support/progress.ts";
import { showDiffering } from "./differing.ts";
import { heldMessage, targetOf } from "./target.ts";

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
  const request = requestOf(asked, manifest);
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
  const [verb, target] = request.split(" ");
  if (verb === "rollback" && held_at !== Number(target)) {
    stopWith(`Release ${target} is not kept. \`publish --status\` tells which are.`);
  }
  if (verb === "" && held_at > 0) stopWith(heldMessage(held_at));
  const differing = verb === "full" ? differingSince(manifest, before.current_release) : null;
  const failed = manifest.db
    .query<{ key: string; error: string }, []>("SELECT key, error FROM failures")
    .all();
  if (failed.length > 0) process.exitCode = 1;
  if (json) {
    const told = differing === null ? {} : { differing };
    console.log(JSON.stringify({ release: current_release, held_at, ...told, failed }));
  } else {
    console.log(`The running publisher is at release ${current_release}.`);
    if (differing !== null) showDiffering(differing);
  }
  for (const { key, error } of failed) console.error(`failed: ${key}: ${error}`);
  manifest.close();
}

/** What a full build after this release changed: files that were not what the store and the code make of them. */
const differingSince = ({ db }: Manifest, release: number): string[] =>
  db
    .query<{ path: string }, [number]>(
      `SELECT DISTINCT path FROM history JOIN releases ON releases.id = history.release
       WHERE history.release > ? AND releases.reason = 'full build' ORDER BY path`,
    )
    .all(release)
    .map(({ path }) => path);

const isDone = (
  state: Pick<
    PublisherState,
    "request" | "fast_sequence" | "slow_sequence" | "held_at" | "current_release"
  >,
  request: string,
): boolean =>
  request === ""
    ? state.held_at > 0 || (state.current_release > 0 && state.slow_sequence >= state.fast_sequence)
    : state.request !== request;

function requestOf(asked: Asked, manifest: Manifest): string {
  if (asked.rollback !== undefined) return `rollback ${targetOf(asked.rollback, manifest)}`;
  if (asked.full === true) return "full";
  return asked.resume === true ? "resume" : "";
}
