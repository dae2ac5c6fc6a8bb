import { minuteMs } from "#content/contract/base/time.ts";
import type { Log } from "#api/log.ts";
import { type Allowance, type Hits, countHits } from "#content/operation/limit-store.ts";
import { isDamaged, openDisposable, setAside } from "#content/runtime/files.ts";
import { atMostEvery, withTimeout } from "#content/runtime/timing.ts";
import { StoreAway } from "#content/store/busy.ts";
import type { Store } from "#content/store/open.ts";
import { openWindows, type Windows } from "./sliding-window.ts";

/** Where windows are counted that others count in, too. */
export type LimitPlace = Windows & {
  /** Never throws: what cannot be counted there is counted here. */
  takeAll(hits: readonly Hits[]): Promise<Allowance[]>;
  /** Whether this process counts for itself at present. */
  isAlone: () => boolean;
};

/** No request waits longer for a server before it is counted here. */
const answerWaitMs = 500;
const sweepEveryMs = 1_000;
/** A server that is away is asked again sooner than a file that could not be written. */
const [fileAgainMs, serverAgainMs] = [minuteMs, 5_000];

/**
 * A file, which the processes of this machine share, or a store on a server, which all services of a directory share. While it
 * cannot be written (a full disk, a server that is away or answers late) this process counts for itself, in memory.
 */
export function openLimitPlace(
  place: string | Store,
  log: Log,
  clockMs?: () => number,
): LimitPlace {
  const onDamaged = (file: string) =>
    log.warn({ file }, "a damaged file of rate limits was moved away: all windows begin again");
  const open = (): Windows =>
    typeof place === "string"
      ? openDisposable(place, () => openWindows(place, clockMs), onDamaged)
      : openStoreWindows(place, clockMs);
  let shared = open();
  let own: Windows | null = null;
  /** Reading a file that cannot be written would find room in it again and again. */
  let aloneUntilMs = -Infinity;
  const isLogged = atMostEvery(minuteMs);
  const isAlone = () => own !== null && performance.now() < aloneUntilMs;
  const countHere = (error: unknown): Windows => {
    if (isLogged())
      log.warn({ err: error }, "rate limits are not shared: each process counts its own");
    const againMs = typeof place === "string" ? fileAgainMs : serverAgainMs;
    if (!isLocked(error)) aloneUntilMs = performance.now() + againMs;
    return (own ??= openWindows(":memory:", clockMs));
  };
  return {
    takeAll: async (hits) => {
      if (own !== null && isAlone()) return own.takeAll(hits);
      try {
        const answers = await shared.takeAll(hits);
        own?.close();
        own = null;
        return answers;
      } catch (error) {
        if (typeof place !== "string" || !isDamaged(error)) return countHere(error).takeAll(hits);
        shared.close();
        setAside(place);
        onDamaged(place);
        shared = open();
        return shared.takeAll(hits);
      }
    },
    isAlone,
    now: () => shared.now(),
    close: () => {
      shared.close();
      own?.close();
    },
  };
}

/** Another process writes: the next question finds the file free. */
const isLocked = (error: unknown): boolean =>
  error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");

/** Windows in a store on a server. Their time is the server's; `clockMs` stands in for it in tests. */
function openStoreWindows(store: Store, clockMs?: () => number): Windows {
  let aheadMs = Date.now() - performance.now();
  const isSweepDue = atMostEvery(sweepEveryMs);
  return {
    takeAll: async (hits) => {
      const counting = countHits(store, hits, { sweeps: isSweepDue(), nowMs: clockMs?.() });
      const answer = await withTimeout(counting, answerWaitMs);
      if (answer === null) throw new StoreAway("the database server answers late");
      aheadMs = answer.atMs - performance.now();
      return answer.left;
    },
    now: clockMs ?? (() => Math.floor(performance.now() + aheadMs)),
    close: () => {},
  };
}
