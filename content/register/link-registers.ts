import type { Clock } from "#content/contract/base/time.ts";
import type { Store } from "#content/store/open.ts";
import { type FoundLink, linkableIds } from "./found-links-store.ts";
import { linkProfiles } from "./links-store.ts";

type Linking = {
  store: Store;
  clock: Clock;
  signal: AbortSignal;
  /** Only report what could be linked. */
  checkOnly?: boolean;
};

const idsAtOnce = 2_000;

/**
 * Merges profiles that registers list under several numbers: these ids with profiles of the same organisations, or all
 * (null). Returns the pairs that were linked or queued. Can be stopped between two batches.
 */
export async function linkRegisters(
  { store, clock, signal, checkOnly = false }: Linking,
  ids: readonly number[] | null,
  onProgress: (done: number, total: number) => void,
): Promise<FoundLink[]> {
  const links: FoundLink[] = [];
  const all = ids ?? (await linkableIds(store));
  for (let at = 0; at < all.length && !signal.aborted; at += idsAtOnce) {
    onProgress(at, all.length);
    // A signal to stop arrives only in a pause.
    await Bun.sleep(0);
    const part = all.slice(at, at + idsAtOnce);
    links.push(...(await linkProfiles(store, part, { now: clock(), checkOnly })));
  }
  return distinct(links);
}

/** With checkOnly a pair is found from both sides. */
const distinct = (links: readonly FoundLink[]): FoundLink[] => [
  ...new Map(links.map((link) => [`${link.kept.id} ${link.gone.id}`, link])).values(),
];
