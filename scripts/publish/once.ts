import { runFastLane } from "#site/publisher/fast-lane.ts";
import type { Publisher } from "#site/publisher/open-publisher.ts";
import { defaultKeeping, prune } from "#site/publisher/prune.ts";
import { releases } from "#site/publisher/release.ts";
import { rollBackTo } from "#site/publisher/resident.ts";
import { runSecondLane } from "#site/publisher/second-lane.ts";
import { startProgress } from "../support/progress.ts";
import { stopWith } from "../support/config.ts";

const differingShownMax = 20;

/** Renders everything anew; answers how many documents failed. */
export async function publishFull(publisher: Publisher, processes: number, json: boolean) {
  const startedMs = performance.now();
  const progress = startProgress("Rendering documents", 0);
  const outcome = await publisher.buildAll({ processes, onProgress: progress.at });
  progress.end();
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  if (json) {
    console.log(JSON.stringify({ ...outcome, seconds: Number(seconds) }));
    return outcome.failed.length;
  }
  console.log(`Release ${outcome.release}: ${outcome.files} files in ${seconds} s.`);
  if (outcome.differing.length === 0) console.log("Nothing differed from the bundle before.");
  else {
    console.log(`${outcome.differing.length} files differed from the bundle before:`);
    for (const path of outcome.differing.slice(0, differingShownMax)) console.log(`  ${path}`);
    if (outcome.differing.length > differingShownMax) console.log("  … (--json lists them all)");
  }
  for (const { key, error } of outcome.failed) console.error(`failed: ${key}: ${error}`);
  return outcome.failed.length;
}

/** Publishes what has changed; answers how many documents could not be rendered. */
export async function drainOnce({ parts, feedLane }: Publisher, json: boolean) {
  const { manifest } = parts;
  const { held_at, current_release } = manifest.state();
  if (held_at > 0) {
    stopWith(
      `Publishing is held at release ${held_at} by a rollback. \`publish --resume\` goes on.`,
    );
  }
  while ((await runFastLane(parts)) > 0);
  while ((await runSecondLane(parts, async () => {})) > 0);
  await feedLane.run({});
  prune(parts, defaultKeeping);
  const state = manifest.state();
  const failed = manifest.db
    .query<{ key: string; error: string }, []>("SELECT key, error FROM failures")
    .all();
  const made = state.current_release - current_release;
  if (json) console.log(JSON.stringify({ release: state.current_release, made, failed }));
  else {
    console.log(
      made === 0
        ? `Nothing to publish: release ${state.current_release} holds everything.`
        : `Release ${state.current_release} is current (${made} new).`,
    );
    for (const { key, error } of failed) console.error(`failed: ${key}: ${error}`);
  }
  return failed.length;
}

/** Goes back to an older release; "-1" is the one before the current. */
export async function goBack(
  { parts, feedLane }: Publisher,
  asked: string,
  json: boolean,
): Promise<void> {
  const target = targetOf(asked, parts.manifest.state().current_release);
  const committed = rollBackTo(parts, target);
  if (committed === null) {
    const kept = releases(parts.manifest, 10_000).map(({ id }) => id);
    stopWith(
      `Release ${target} is not kept. Kept: ${kept.at(-1) ?? "none"} to ${kept[1] ?? "none"}.`,
    );
  }
  await feedLane.run({});
  const files = committed.changed.length + committed.removed.length;
  console.log(
    json
      ? JSON.stringify({ release: committed.release, held_at: target, files })
      : `Release ${committed.release} shows what release ${target} showed (${files} files). Publishing is held; \`publish --resume\` goes on.`,
  );
}

/** The release that was asked for: a number, or -N counted back from the current one. */
export function targetOf(asked: string, current: number): number {
  const number = Number(asked === "" ? "-1" : asked);
  if (!Number.isInteger(number) || number === 0) {
    stopWith("--rollback: give the number of a release, or -1 for the one before.", 2);
  }
  return number < 0 ? current + number : number;
}
