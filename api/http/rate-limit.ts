import type { Config } from "#api/config.ts";
import type { Log } from "#api/log.ts";
import type { Secrets } from "#api/secrets.ts";
import { batcher } from "./batcher.ts";
import { keyedHash, networkOf } from "./client.ts";
import {
  type Allowance,
  type Hits,
  openWindows,
  type Window,
  type Windows,
} from "./sliding-window.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Reads are many: they are counted by the second, which is at most 61 rows for a client. */
const readGrainMs = 1_000;

/** Requests that one client (an IPv4 address or an IPv6 /64) may make in a minute. Source: the decisions of the spec, "Limits". */
export const requestsPerMinute = { enrich: 30, onboard: 10, donate: 60 } as const;
export type Policy = keyof typeof requestsPerMinute | "read";

/** Submissions that one agent may make. Source: the decisions of the spec, "Limits". */
export const agentWindows: readonly Window[] = [
  { policy: "agent-minute", limit: 120, windowMs: minuteMs, grainMs: 1 },
  { policy: "agent-day", limit: 5_000, windowMs: dayMs, grainMs: 600_000 },
];

/** Failed attempts to be an operator before a client is locked out. Source: the promises of the spec, 10. */
const adminWindow: Window = { policy: "admin-failure", limit: 5, windowMs: minuteMs, grainMs: 1 };

export type Limits = {
  /** Counts a request of the client; null when its kind is not limited. */
  request(policy: Policy, request: Request): Promise<Allowance | null>;
  /** Counts submissions of an agent, by its folded id, in its minute and its day. */
  agent(agentId: string, submissions?: number): Promise<Allowance>;
  /** Counts failed attempts of a client to be an operator; 0 only looks. None remaining means: locked out. */
  adminFailures(request: Request, count: 0 | 1): Allowance;
  close(): void;
};

/**
 * The limits of this machine, kept in a file that its processes share. When the file cannot be written (a full
 * disk) each process counts for itself until it can.
 */
export function openLimits(
  path: string,
  { config, secrets, log }: { config: Config; secrets: Secrets; log: Log },
  uptimeMs?: () => number,
): Limits {
  const shared = openWindows(path, uptimeMs);
  let alone: Windows | null = null;
  const ask = <Value>(question: (windows: Windows) => Value): Value => {
    try {
      const answer = question(shared);
      alone?.close();
      alone = null;
      return answer;
    } catch (error) {
      if (alone === null)
        log.warn({ err: error }, "rate limits are not shared: each process counts its own");
      alone ??= openWindows(":memory:", uptimeMs);
      return question(alone);
    }
  };
  // Those that come together share a transaction: it costs several times what is counted in it.
  const taking = batcher((hits: readonly Hits[]) => ask((asked) => asked.takeAll(hits)));
  /**
   * The names under which a client is counted: a keyed hash that changes daily, and that of a minute ago, so that
   * midnight resets no window. The day is of the windows' own time, which no one can set.
   */
  const namesOf = (request: Request): readonly [string, string] => {
    const network = networkOf(request, config);
    const onDayOf = (atMs: number) =>
      keyedHash(secrets.dailyHashKey, `limit ${Math.floor(atMs / dayMs)} ${network}`);
    return [onDayOf(shared.now()), onDayOf(shared.now() - 2 * minuteMs)];
  };
  return {
    request: async (policy, request) => {
      const limit = policy === "read" ? config.readsPerMinute : requestsPerMinute[policy];
      if (limit === 0) return null;
      const grainMs = policy === "read" ? readGrainMs : 1;
      const window = { policy, limit, windowMs: minuteMs, grainMs };
      return taking.ask({ windows: [window], clients: namesOf(request), count: 1 });
    },
    agent: (agentId, submissions = 1) =>
      taking.ask({ windows: agentWindows, clients: [agentId], count: submissions }),
    adminFailures: (request, count) =>
      ask((windows) => windows.take([adminWindow], namesOf(request), count)),
    close: () => {
      taking.flush();
      shared.close();
      alone?.close();
    },
  };
}
