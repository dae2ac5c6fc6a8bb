import { changeMark, newestSequence } from "#content/nonprofit/changes-store.ts";
import { beginEpoch, findEpoch } from "#content/feed/store.ts";
import type { PublisherContext } from "./context.ts";

/**
 * Looks whether the bundle was made of another store, or of another past of this one: somebody restored a backup, which
 * may have grown since. Then what is published is wrong, changes that are still to come would be taken for published,
 * and their numbers stand for others. All is made stale, the feed begins a new epoch, and the releases before are good
 * for a rollback only.
 */
export async function detectRestoredStore({
  manifest,
  source: { store },
  clock,
  log,
}: PublisherContext): Promise<void> {
  const { current_release, fast_sequence, epoch, known_change } = manifest.state();
  if (current_release === 0) return;
  const newest = await newestSequence(store);
  const mark = await changeMark(store, Number.parseInt(known_change || `${fast_sequence}`, 10));
  const isAnother = epoch !== "" && (await findEpoch(store)) !== epoch;
  if (!isAnother && newest >= fast_sequence && (known_change || mark) === mark) {
    return manifest.setState({ known_change: mark });
  }
  log(
    "the store is another one, or has another past, than what is published: rendering everything again",
    { error: "restored", published_to: fast_sequence, newest_change: newest },
  );
  const numbers = manifest
    .under("changes/")
    .map(({ path }) => Number(/\/(\d+)\.json$/.exec(path)?.[1] ?? 0));
  const published = Math.max(0, ...numbers);
  const begun = await beginEpoch(store, { published, now: clock() });
  const newestMark = await changeMark(store, newest);
  const forgetting = manifest.db.transaction(() => {
    manifest.db.run("UPDATE files SET as_of = 0");
    manifest.db.run("UPDATE releases SET fast_sequence = 0, slow_sequence = 0, inputs_digest = ''");
    manifest.setState({
      fast_sequence: newest,
      slow_sequence: newest,
      known_change: newestMark,
      search_sequence: 0,
      inputs_digest: "",
      epoch: begun,
    });
  });
  forgetting.immediate();
}
