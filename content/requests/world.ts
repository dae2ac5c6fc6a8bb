import type { Clock } from "#content/contract/base/time.ts";
import type { Store } from "#content/store/open.ts";

export type OperatorWorld = {
  readonly store: Store;
  readonly clock: Clock;
  /** The recommended profiles in memory: to be read again after a change. */
  readonly curated: { lookAgain: () => void };
  /** Waits, bounded, until a change is published; absent where nothing is published beside the service. */
  readonly waitForPublication?: (sequence: number) => Promise<{ release: string } | null>;
};

/** Whether the published profile shows a change by now; null when nothing that is public changed. */
export async function isLive(
  { waitForPublication }: Pick<OperatorWorld, "waitForPublication">,
  sequence: number | null,
): Promise<boolean | null> {
  if (sequence === null) return null;
  return waitForPublication === undefined ? false : (await waitForPublication(sequence)) !== null;
}
