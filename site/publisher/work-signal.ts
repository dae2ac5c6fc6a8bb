import { withTimeout } from "#content/runtime/timing.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import type { PublisherContext } from "./context.ts";

/** How the publisher hears that there may be something to do. */
export type WorkSignal = ReturnType<typeof openWorkSignal>;

/** While no one tells of changes, an embedded store is asked for its version, which costs microseconds. */
const embeddedEveryMs = 100;
/** A server over the network is spared. */
const remoteEveryMs = 250;

/**
 * Hears of work by `notify`, and where no process tells of it, by looking every so often at the versions of the store
 * and of the manifest, in which commands leave their requests. What is written during a job is heard of in the wait
 * after it.
 */
export function openWorkSignal(
  { source: { store }, manifest }: Pick<PublisherContext, "source" | "manifest">,
  everyMs = store.embedded ? embeddedEveryMs : remoteEveryMs,
) {
  const manifestVersion = manifest.db.query<{ data_version: number }, []>("PRAGMA data_version");
  let noticed = false;
  let woken = false;
  let ring = () => {};
  let newestVersion = "";
  const version = async (): Promise<string> => {
    const own = manifestVersion.get()?.data_version ?? 0;
    return `${own} ${(await store.version()) ?? (await newestSequence(store))}`;
  };
  /** A store that cannot be read is no news: the next job tells of it. */
  const look = async () => {
    const now = await version().catch(() => newestVersion);
    if (now !== newestVersion) noticed = true;
    newestVersion = now;
  };
  const pause = (ms: number) => {
    const rung = Promise.withResolvers<void>();
    ring = rung.resolve;
    if (noticed || woken) ring();
    return withTimeout(rung.promise, ms);
  };
  return {
    /** Says that something was written. Returns at once. */
    notify: (): void => {
      noticed = true;
      ring();
    },
    /** Ends the wait that is going on, or the next one, although nothing was written. */
    wake: (): void => {
      woken = true;
      ring();
    },
    /** Waits for news or for a time; answers whether something may have been written since the wait before. */
    wait: async (untilMs: number): Promise<boolean> => {
      while (!noticed && !woken) {
        await look();
        const leftMs = untilMs - performance.now();
        if (noticed || leftMs <= 0) break;
        await pause(Math.min(everyMs, leftMs));
      }
      const answer = noticed;
      [noticed, woken] = [false, false];
      return answer;
    },
  };
}
