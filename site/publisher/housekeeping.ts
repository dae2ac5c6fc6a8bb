import { makeDurable } from "#site/bundle/durable.ts";
import { mendExport } from "#site/bundle/export-step.ts";
import { type Keeping, prune } from "#site/bundle/prune.ts";
import type { PublisherParts } from "./publisher-parts.ts";
import { retryFailures } from "./retry-failures.ts";

const durableEveryMs = 2_000;
/** While changes keep coming, the disk is left to them for longer. */
const durableWhileBusyEveryMs = 30_000;
const mendEveryMs = 500;
const pruneEveryMs = 60_000;

type Moment = {
  /** A rollback holds publishing: nothing may be rendered. */
  held: boolean;
  /** No change is waiting for anything. */
  quiet: boolean;
};

/** What is done between lanes: nothing that is rendered waits to be published then. */
export function housekeeping(
  parts: PublisherParts,
  { keeping, signal }: { keeping: Keeping; signal: AbortSignal },
) {
  let pruneAfterMs = performance.now() + pruneEveryMs;
  let mendAfterMs = 0;
  let durableAtMs = 0;
  let syncing = false;
  const makeThemDurable = (): void => {
    syncing = true;
    // A busy disk takes its time, and no change waits for it.
    makeDurable(parts)
      .catch((error: unknown) => {
        if (!signal.aborted) parts.log("releases are not durable yet", { error: String(error) });
      })
      .finally(() => {
        syncing = false;
        durableAtMs = performance.now();
      });
  };
  return async (nowMs: number, { held, quiet }: Moment): Promise<void> => {
    if (nowMs >= mendAfterMs) {
      mendAfterMs = nowMs + mendEveryMs;
      mendExport(parts);
    }
    const everyMs = quiet ? durableEveryMs : durableWhileBusyEveryMs;
    if (!syncing && nowMs - durableAtMs >= everyMs) makeThemDurable();
    if (held || nowMs < pruneAfterMs) return;
    if (prune(parts, keeping)) return;
    pruneAfterMs = nowMs + pruneEveryMs;
    await retryFailures(parts);
  };
}
