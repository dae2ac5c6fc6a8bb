import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { beginEpoch, findEpoch } from "#content/feed/store.ts";
import type { PublisherContext } from "./context.ts";

/**
 * Looks whether the bundle was made of another store, or of a newer state of this one: somebody restored a backup, say.
 * Then what is published is wrong, changes that are still to come would be taken for published, and their numbers stand
 * for others. All is made stale, the feed begins a new epoch, and the releases before are good for a rollback only.
 */
export async function detectRestoredStore({
  manifest,
  source,
  clock,
  log,
}: PublisherContext): Promise<void> {
  const { current_release, fast_sequence, epoch } = manifest.state();
  if (current_release === 0) return;
  const own = await findEpoch(source.store);
  const newest = await newestSequence(source.store);
  const isAnother = epoch !== "" && own !== epoch;
  if (!isAnother && newest >= fast_sequence) return;
  log(
    "the store is another one, or an older state of it, than what is published: rendering everything again",
    { error: "restored", published_to: fast_sequence, newest_change: newest },
  );
  const numbers = manifest
    .under("changes/")
    .map(({ path }) => Number(/\/(\d+)\.json$/.exec(path)?.[1] ?? 0));
  const published = Math.max(0, ...numbers);
  const next = isAnother ? own : await beginEpoch(source.store, { published, now: clock() });
  const forgetting = manifest.db.transaction(() => {
    manifest.db.run("UPDATE files SET as_of = 0");
    manifest.db.run("UPDATE releases SET fast_sequence = 0, slow_sequence = 0, inputs_digest = ''");
    manifest.setState({
      fast_sequence: newest,
      slow_sequence: newest,
      search_sequence: 0,
      snapshot_number: 0,
      inputs_digest: "",
      epoch: next ?? "",
    });
  });
  forgetting.immediate();
}
