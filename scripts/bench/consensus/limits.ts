import { agentWindows, requestsPerMinute } from "#api/http/rate-limit.ts";
import { openWindows, type Window } from "#api/http/sliding-window.ts";

const enrichWindow: Window = {
  policy: "enrich",
  limit: requestsPerMinute.enrich,
  windowMs: 60_000,
  grainMs: 1,
};

/** The service's own limits, run on the simulation's clock. */
export type SimulatedLimits = {
  /** Counts a request with so many submissions; 0 when it may pass, else how long to wait. */
  take(address: string, agentId: string, submissions: number): number;
  close(): void;
};

export function simulateLimits(nowMs: () => number): SimulatedLimits {
  const windows = openWindows(":memory:", nowMs);
  return {
    take: (address, agentId, submissions) => {
      const request = windows.take([enrichWindow], [address]);
      if (!request.allowed) return Math.max(1, request.resetMs);
      const agent = windows.take(agentWindows, [agentId], submissions);
      return agent.allowed ? 0 : Math.max(1, agent.resetMs);
    },
    close: () => windows.close(),
  };
}
