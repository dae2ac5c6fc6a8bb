import { type Change, changesAfter, newestSequence } from "#content/nonprofit/changes-store.ts";
import type { Store } from "#content/store/open.ts";

/** Hears of every change of public data, whichever process made it. */
export type Watch = ReturnType<typeof watchChanges>;
type Listener = (changes: readonly Change[] | null) => void;

const changesToldMax = 500;

/**
 * Watches `changes`. Writes of this handle are heard of at the next look; those of other processes within
 * `pollMs` (20 for a file, 200 for a server, where each look is a request).
 */
export function watchChanges(store: Store, pollMs = store.embedded ? 20 : 200) {
  const listeners: Listener[] = [];
  let sequence = -1;
  let committedSeen = -1;
  let lookedAtMs = -Infinity;
  let looking: Promise<void> | null = null;
  const look = async () => {
    const committed = store.committed();
    const startedAtMs = performance.now();
    if (sequence === -1) sequence = await newestSequence(store);
    else {
      const newChanges = await changesAfter(store, sequence, changesToldMax + 1);
      const tooMany = newChanges.length > changesToldMax;
      sequence = tooMany ? await newestSequence(store) : (newChanges.at(-1)?.sequence ?? sequence);
      if (newChanges.length > 0)
        for (const listener of listeners) listener(tooMany ? null : newChanges);
    }
    committedSeen = committed;
    lookedAtMs = startedAtMs;
  };
  const isFresh = () =>
    committedSeen === store.committed() && performance.now() - lookedAtMs < pollMs;
  return {
    /** The newest change heard of. */
    sequence: (): number => sequence,
    /** Whether all that this process wrote, and others up to a moment ago, has been heard of. */
    isFresh,
    /** Reads what is new and tells the listeners before it answers; also when that was just read and did not reach `atLeast`. */
    refresh: async (atLeast = -1): Promise<void> => {
      // A look under way may have begun before the newest write: then one more is needed.
      await looking?.catch(() => undefined);
      if (isFresh() && sequence >= atLeast) return;
      looking ??= look().finally(() => {
        looking = null;
      });
      await looking;
    },
    /** Calls `listener` with new changes, oldest first, or with null when there were too many to tell. */
    listen: (listener: Listener): void => {
      listeners.push(listener);
    },
  };
}
