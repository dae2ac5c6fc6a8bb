import { waitingOfNetworkMax } from "#content/requests/quota.ts";
import type { WaitingRequest } from "./store.ts";

/** So many requests wait for one profile, 5 of them from one network. */
const waitingForProfileMax = 50;

/**
 * The request that gives up its place to one more from this network; null where there is room. It is the oldest of the
 * network's own where that has its share, else of the network that has most: a newcomer is never refused. A request
 * whose sender has proven a host, or that one operator has approved, is not counted and never gives way.
 */
export function placeGivenUp(
  waiting: readonly WaitingRequest[],
  network: string | null,
): string | null {
  const unproven = waiting
    .filter((one) => one.proven_host === null && one.first_approved_by === null)
    .toSorted((a, b) => a.created_at - b.created_at);
  const byNetwork = Map.groupBy(unproven, (one) => one.network);
  const own = byNetwork.get(network) ?? [];
  if (own.length >= waitingOfNetworkMax) return own[0]?.id ?? null;
  if (unproven.length < waitingForProfileMax) return null;
  const [most] = [...byNetwork.values()].toSorted((a, b) => b.length - a.length);
  return most?.[0]?.id ?? null;
}
