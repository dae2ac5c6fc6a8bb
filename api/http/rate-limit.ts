import type { Config } from "#api/config.ts";
import type { Log } from "#api/log.ts";
import type { Secrets } from "#api/secrets.ts";
import {
  agentLimits,
  type LimitName,
  type Room,
  writeLimits,
} from "#content/contract/addresses.ts";
import { dayMs, hourMs, minuteMs } from "#content/contract/base/time.ts";
import type { Allowance, Counter, Hits, Window } from "#content/operation/limit-store.ts";
import { countedCache } from "#content/runtime/cache.ts";
import { batcher } from "#content/runtime/concurrency.ts";
import type { Store } from "#content/store/open.ts";
import { openUncountedHits, recordEveryMs, type PendingHits } from "./uncounted-hits.ts";
import { keyedHash, networkHash, networkOf } from "./client.ts";
import { openSharedWindows } from "./sliding-windows.ts";
import { rateLimited, type Refusal, RefusalError, retryAfter } from "./problem.ts";

/** A window of a minute by default; `grainMs` is the precision at which hits expire. */
const windowOf = (policy: string, limit: number, windowMs = minuteMs, grainMs = 1): Window => ({
  policy,
  limit,
  windowMs,
  grainMs,
});

export const isStorageQuota = ({ policy }: Allowance): boolean => policy.startsWith("stored-");

/** The refusal when storage is used up: nothing that can be sent without a key may grow without bound. */
export function storageQuota({ policy, limit, resetMs }: Allowance): Refusal {
  const whose = policy.endsWith("-network") ? "your network" : "all senders together";
  return {
    status: 429,
    code: "storage_quota",
    detail: `Nothing was stored: ${whose} may store ${(limit / 1e6).toLocaleString("en")} MB in 24 hours, and that is used up. Retry-After says when there is room again.`,
    headers: { "retry-after": retryAfter(resetMs) },
  };
}

/** A client may bind this many ids a day, so that it cannot take many away from others. */
const bindingsPerDay = windowOf("bind-day", 20, dayMs, 600_000);

export const agentWindows: readonly Window[] = [
  windowOf("agent-minute", agentLimits.perMinute),
  windowOf("agent-day", agentLimits.perDay, dayMs, 600_000),
];

/**
 * Failed attempts to log in as an operator before no further one is checked: per client, per operator's name, and for all
 * clients together, against attackers with many addresses (docs/desk.md).
 */
const failures = {
  client: windowOf("admin-failure-client", 5),
  name: windowOf("admin-failure-name", 10),
  all: windowOf("admin-failure-all", 60),
} as const;
/** At most one entry an hour, so that an attacker can fill the log, but not the audit log. */
const auditedWindow = windowOf("admin-audited", 1, hourMs);
/** Logins by operator and network. They have no limit: they let a known operator in whatever others do. */
const knownWindow = windowOf("admin-known", Number.MAX_SAFE_INTEGER, 30 * dayMs, dayMs);

const hit = (windows: readonly Window[], clients: Counter["clients"], count = 1): Hits => ({
  counters: windows.map((window) => ({ window, clients })),
  count,
});

export type Limits = ReturnType<typeof openLimits>;

/** The limits of a directory: in a file beside an embedded store, else in the store on its server. */
export function openLimits(
  place: string | Store,
  { config, secrets, log }: { config: Config; secrets: Secrets; log: Log },
  clockMs?: () => number,
) {
  const windows = openSharedWindows(place, log, clockMs);
  const { now } = windows;
  const isFile = typeof place === "string";
  // Hits that were let through uncounted, and stored bytes, are counted together with the next request.
  const takeAll = async (hits: readonly Hits[]): Promise<Allowance[]> => {
    const before = [...storage.takeStored(), ...uncounted.takePending()];
    const all = [...before.map((pending) => pending.hits), ...hits];
    const answers = all.length === 0 ? [] : await windows.takeAll(all);
    for (const [at, { onAnswer }] of before.entries()) onAnswer(answers[at] as Allowance);
    return answers.slice(before.length);
  };
  // Requests that arrive together share a transaction, which costs several times as much as the counting in it.
  const batch = batcher(takeAll);
  let timer: ReturnType<typeof setTimeout> | null = null;
  const onPending = () => {
    timer ??= setTimeout(() => {
      timer = null;
      void takeAll([]);
    }, recordEveryMs).unref();
  };
  const { ask } = batch;
  const flush = async () => {
    batch.flush();
    await takeAll([]);
  };
  const uncounted = openUncountedHits({ ask, onPending, now, trustsUnknown: !isFile });
  const take = async (hits: Hits): Promise<Allowance> =>
    isFile ? ask(hits) : uncounted.take(hits);
  const storage = storageRooms({
    look: (counter) => ask({ counters: [counter], count: 0 }),
    now,
    bytesPerDay: config.storedPerDay,
    onPending: isFile ? null : onPending,
  });
  let unauditedCount = 0;
  /**
   * The names under which a client is counted: a keyed hash that changes daily, and the hash of `agoMs` ago, so that
   * midnight resets no window. The day is that of the windows' own time, which no one can set.
   */
  const namesOf = (network: string, agoMs = 2 * minuteMs): readonly [string, string] => {
    const dayOf = (atMs: number) => Math.floor(atMs / dayMs);
    const onDay = (day: number) => keyedHash(secrets.clientHashKey, `limit ${day} ${network}`);
    const today = dayOf(now());
    const before = dayOf(now() - agoMs);
    const name = onDay(today);
    return [name, before === today ? name : onDay(before)];
  };
  const clientOf = (request: Request) => networkOf(request, config);
  const storerOf = (request: Request) => networkHash(request, { config, secrets }) ?? "";
  const countGiving = async (policy: "donate" | "pay", client: string, hits = 1) => {
    const window = windowOf(policy, config.donatePerMinute);
    const countedHit = hit([window], namesOf(client), hits);
    return window.limit === 0
      ? null
      : hits > 0
        ? take(countedHit)
        : ask({ ...countedHit, always: true });
  };
  return {
    /** Counts a request of the client, unless its storage quota is used up. Null when no limit applies. */
    request: async (policy: LimitName, request: Request): Promise<Allowance | null> => {
      if (policy === "none") return null;
      const client = clientOf(request);
      if (policy === "read") {
        const window = windowOf("read", config.readsPerMinute, minuteMs, recordEveryMs);
        return window.limit === 0 ? null : uncounted.take(hit([window], namesOf(client)));
      }
      if (policy === "donate" || policy === "pay") {
        const chosenPolicy = policy === "pay" && bringsPayment(request) ? "pay" : "donate";
        return countGiving(chosenPolicy, client);
      }
      const { perMinute, room } = writeLimits[policy];
      const isBounded = config.storedPerDay > 0;
      const full = isBounded ? await storage.full(room, storerOf(request)) : null;
      if (full !== null) return full;
      const window = windowOf(policy, perMinute);
      if (policy !== "bind") return take(hit([window], namesOf(client)));
      return take(hit([window, bindingsPerDay], namesOf(client, dayMs)));
    },
    /**
     * Corrects the count of a request that may bring a payment. `isTaken`: the hit is given back; else the request also
     * counts as one that asks to pay. Null for a request that brings nothing, and where no limit applies.
     */
    paid: async (request: Request, isTaken: boolean): Promise<Allowance | null> => {
      if (!bringsPayment(request)) return null;
      const client = clientOf(request);
      return isTaken ? countGiving("pay", client, -1) : countGiving("donate", client);
    },
    /** Counts submissions of a sender (an agent with its secret, or on its network) per minute and per day. */
    agent: (sender: string, submissions = 1) => take(hit(agentWindows, [sender], submissions)),
    /** Counts stored bytes, for the client's network and for everyone, per day. */
    stored: (room: Room, request: Request, bytes: number): void => {
      if (config.storedPerDay > 0 && bytes > 0) storage.stored(room, storerOf(request), bytes);
    },
    /**
     * Counts a failed operator login for the client, for the name and for all, unless one of these windows is full: then
     * it is not allowed. A count of 0 only reads. Returns the tightest window; nothing remaining means locked out.
     */
    adminFailures: (request: Request, name: string, count: 0 | 1): Promise<Allowance> => {
      const counters = [
        { window: failures.client, clients: namesOf(clientOf(request)) },
        { window: failures.all, clients: ["all"] },
        ...(name === "" ? [] : [{ window: failures.name, clients: [name] }]),
      ];
      return ask({ counters, count });
    },
    /** Counts a failed login. Returns how many failures an audit entry now stands for; 0 when none is due. */
    auditsFailures: async (): Promise<number> => {
      unauditedCount += 1;
      if (!(await ask(hit([auditedWindow], ["all"]))).allowed) return 0;
      const count = unauditedCount;
      unauditedCount = 0;
      return count;
    },
    /** Whether this operator logged in from the client's network in the last 30 days. A count of 1 also records a login. */
    knowsOperator: async (request: Request, name: string, count: 0 | 1): Promise<boolean> => {
      const client = keyedHash(secrets.deskKey, `known ${name} ${clientOf(request)}`);
      const { remaining } = await ask(hit([knownWindow], [client], count));
      return remaining < knownWindow.limit;
    },
    /** Whether this process counts only for itself, because the shared windows cannot be reached. */
    alone: windows.isAlone,
    /** Counts the hits that were let through but not counted yet. */
    flush,
    close: (): void => {
      // With a file, `flush` counts before it returns.
      void flush();
      windows.close();
    },
  };
}

/** Whether a request may carry a payment or its proof: such requests pass even when many others have asked for payments. */
const bringsPayment = ({ method, headers }: Request): boolean =>
  method === "POST" || headers.has("payment-signature") || headers.has("x-payment");

/** Counts the further reads that a request costs beyond the one already counted. Throws RefusalError. */
export async function countMoreReads(limits: Limits, request: Request, reads: number) {
  for (let more = 1; more < reads; more++) {
    const allowance = await limits.request("read", request);
    if (allowance?.allowed === false) throw new RefusalError(rateLimited(allowance));
  }
}

/** A network (a /24 or /48) may use a tenth of what all together may store in a day. */
const networksToFill = 10;
/** The result of a look at a quota is used for so long, less what this process stored since. */
const lookEveryMs = 1_000;
const looksMax = 10_000;

type Look = Allowance & { lookedAtMs: number };

type RoomOptions = {
  bytesPerDay: number;
  look: (counter: Counter) => Promise<Allowance>;
  now: () => number;
  /**
   * Arranges that stored bytes are counted soon; the last count then tells, and only a full quota is read again. Null: a
   * quota is read before each request, and bytes are counted with the next one.
   */
  onPending: (() => void) | null;
};

/**
 * Limits how many bytes senders without a key may store in a day: those of one network, and all together. It does not see
 * requests under way and sees what other processes store a second late; the request limits bound by how much a quota is
 * exceeded.
 */
export function storageRooms({ bytesPerDay, look, now, onPending }: RoomOptions) {
  const looks = countedCache<Look>(looksMax);
  let storedHits = new Map<string, PendingHits>();
  const windowsOf = (room: Room): readonly [Window, Window] => {
    const window = { windowMs: dayMs, grainMs: 600_000 };
    const share = Math.floor(bytesPerDay / networksToFill);
    return [
      { ...window, policy: `stored-${room}-network`, limit: share },
      { ...window, policy: `stored-${room}`, limit: bytesPerDay },
    ];
  };
  const countersOf = (room: Room, network: string) => {
    const [networkWindow, all] = windowsOf(room);
    return [
      { key: `${networkWindow.policy} ${network}`, window: networkWindow, clients: [network] },
      { key: all.policy, window: all, clients: [""] },
    ];
  };
  type RoomCounter = ReturnType<typeof countersOf>[number];
  const note = ({ key }: RoomCounter, { remaining, ...allowance }: Allowance): Look => {
    const remainingNow = remaining - (storedHits.get(key)?.hits.count ?? 0);
    const next = { ...allowance, remaining: remainingNow, lookedAtMs: now() };
    looks.set(key, next);
    return next;
  };
  const lookAt = async (counter: RoomCounter): Promise<Look | null> => {
    const last = looks.get(counter.key) ?? null;
    const isRecent = last !== null && now() - last.lookedAtMs < lookEveryMs;
    const isRoomy = last === null || last.remaining >= 1;
    if (isRecent || (onPending !== null && isRoomy)) return last;
    return note(counter, await look(counter));
  };
  return {
    /** The full quota that refuses a request of this network: its own or that of all. Null when there is room. */
    full: async (room: Room, network: string): Promise<Allowance | null> => {
      const allowances = await Promise.all(countersOf(room, network).map(lookAt));
      const full = allowances.find((last) => last !== null && last.remaining < 1) ?? null;
      return full === null ? null : { ...full, allowed: false, remaining: 0 };
    },
    stored: (room: Room, network: string, bytes: number): void => {
      for (const counter of countersOf(room, network)) {
        const last = looks.get(counter.key);
        if (last !== undefined) last.remaining -= bytes;
        const count = (storedHits.get(counter.key)?.hits.count ?? 0) + bytes;
        // The bytes are already stored, so they count even above the quota.
        const hits = { counters: [counter], count, always: true };
        storedHits.set(counter.key, {
          hits,
          onAnswer: (allowance) => void note(counter, allowance),
        });
      }
      onPending?.();
    },
    /** The bytes stored since the last call, to be written together with other hits. */
    takeStored: (): PendingHits[] => {
      const pendingHits = [...storedHits.values()];
      storedHits = new Map();
      return pendingHits;
    },
  };
}
