import type { Config } from "#api/config.ts";
import { type LimitName, type Room, writeLimits } from "#content/contract/addresses.ts";
import { dayMs, hourMs, minuteMs } from "#content/contract/base/time.ts";
import type { Log } from "#api/log.ts";
import type { Secrets } from "#api/secrets.ts";
import { atMostEvery } from "#content/runtime/timing.ts";
import { isDamaged, openDisposable, setAside } from "#content/runtime/files.ts";
import { batcher } from "#content/runtime/concurrency.ts";
import { keyedHash, networkHash, networkOf } from "./client.ts";
import {
  type Allowance,
  type Hits,
  openWindows,
  type Window,
  type Windows,
} from "./sliding-window.ts";
import { type Refusal, Refused } from "./problem.ts";
import { storageRooms } from "./storage-rooms.ts";

/** A window of a minute, unless it says how long and how exactly it is kept. */
const windowOf = (policy: string, limit: number, windowMs = minuteMs, grainMs = 1): Window => ({
  policy,
  limit,
  windowMs,
  grainMs,
});

/** What a client reads whose window is full. */
export const rateLimited = ({ limit, windowMs, resetMs, policy }: Allowance): Refusal => ({
  status: 429,
  code: "rate_limited",
  detail: `At most ${limit} requests of this kind (${policy}) in ${windowMs / 1_000} seconds. Retry-After says when to send the next.`,
  headers: { "retry-after": String(Math.max(1, Math.ceil(resetMs / 1_000))) },
});

/** Whether a limit is one on what may be stored. */
export const isStorageQuota = ({ policy }: Allowance): boolean => policy.startsWith("stored-");

/** The refusal of what there is no room for: nothing that anyone may send without a key grows without bound. */
export function storageQuota({ policy, limit, resetMs }: Allowance): Refusal {
  const whose = policy.endsWith("-network") ? "your network" : "all senders together";
  return {
    status: 429,
    code: "storage_quota",
    detail: `Nothing was stored: ${whose} may store ${(limit / 1e6).toLocaleString("en")} MB in 24 hours, and that is used up. Retry-After says when there is room again.`,
    headers: { "retry-after": String(Math.max(1, Math.ceil(resetMs / 1_000))) },
  };
}

/** Ids that one client may bind, so that it cannot take many for others to miss. */
const bindingsPerDay = windowOf("bind-day", 20, dayMs, 600_000);

/** Submissions that one agent may make. Source: the decisions of the spec, "Limits". */
export const agentWindows: readonly Window[] = [
  windowOf("agent-minute", 120),
  windowOf("agent-day", 5_000, dayMs, 600_000),
];

/**
 * Failed attempts to be an operator before there is no further look: of one client (source: the promises of the spec, 10),
 * under one operator's name, and of all clients together, for who has many addresses.
 */
const failures = {
  client: windowOf("admin-failure-client", 5),
  name: windowOf("admin-failure-name", 10),
  all: windowOf("admin-failure-all", 60),
} as const;
/** An attacker fills the log, but not the audit log. */
const auditedWindow = windowOf("admin-audited", 1, hourMs);
/** From where an operator was let in, that operator is let in again whatever others do. Each time counts, it has no limit. */
const knownWindow = windowOf("admin-known", Number.MAX_SAFE_INTEGER, 30 * dayMs, dayMs);

const hit = (windows: Hits["windows"], clients: Hits["clients"], count = 1): Hits => {
  return { windows, clients, count };
};

export type Limits = {
  /** Counts a request of the client, unless its room to store is used up; null when nothing limits it. */
  request(limit: LimitName, request: Request): Promise<Allowance | null>;
  /**
   * Gives back what a request with a payment was counted; one that is not `taken` counts toward asking instead. Null for
   * a request without one, and where nothing limits it.
   */
  paid(request: Request, taken: boolean): Promise<Allowance | null>;
  /** Counts submissions of a sender, an agent with its secret or on its network, in its minute and its day. */
  agent(sender: string, submissions?: number): Promise<Allowance>;
  /** Counts bytes that were stored, in the day of the client's network and in that of everyone. */
  stored(room: Room, request: Request, bytes: number): void;
  /**
   * Counts failed attempts to be an operator, for the client, under the name given and for all; 0 only looks. Answers the
   * tightest; none remaining means: locked out.
   */
  adminFailures(request: Request, name: string, count: 0 | 1): Allowance;
  /** Counts a failed attempt for the audit log: how many an entry tells of now, those that this process left out with it; 0 for none. */
  auditsFailures(): number;
  /** Whether this operator was let in from the client's network in the last 30 days; 1 remembers it. */
  knowsOperator(request: Request, name: string, count: 0 | 1): boolean;
  close(): void;
};

/**
 * The limits of this machine, kept in a file that its processes share. When the file cannot be written (a full
 * disk) each process counts for itself in memory, and tries the file again once a minute.
 */
export function openLimits(
  path: string,
  { config, secrets, log }: { config: Config; secrets: Secrets; log: Log },
  uptimeMs?: () => number,
): Limits {
  const onDamaged = (file: string) =>
    log.warn({ file }, "a damaged file of rate limits was moved away: all windows begin again");
  const openShared = () => openDisposable(path, () => openWindows(path, uptimeMs), onDamaged);
  let shared = openShared();
  let alone: Windows | null = null;
  /** Reading a file that cannot be written would find room in it again and again. */
  let aloneUntilMs = -Infinity;
  const isLogged = atMostEvery(minuteMs);
  const ask = <Value>(question: (windows: Windows) => Value): Value => {
    if (alone !== null && performance.now() < aloneUntilMs) return question(alone);
    try {
      const answer = question(shared);
      alone?.close();
      alone = null;
      return answer;
    } catch (error) {
      if (isDamaged(error)) {
        shared.close();
        setAside(path);
        onDamaged(path);
        shared = openShared();
        return question(shared);
      }
      if (isLogged())
        log.warn({ err: error }, "rate limits are not shared: each process counts its own");
      alone ??= openWindows(":memory:", uptimeMs);
      if (!isLocked(error)) aloneUntilMs = performance.now() + minuteMs;
      return question(alone);
    }
  };
  const take: Windows["take"] = (windows, clients, count) =>
    ask((asked) => asked.take(windows, clients, count));
  const now = () => shared.now();
  const storage = storageRooms(
    { look: (window, clients) => ask((asked) => asked.look(window, clients)), now },
    config.storedPerDay,
  );
  // Those that come together share a transaction: it costs several times what is counted in it.
  // No transaction is made for what was stored alone.
  const taking = batcher((hits: readonly Hits[]) => {
    const stored = storage.takeStored();
    return ask((asked) => asked.takeAll([...stored, ...hits])).slice(stored.length);
  });
  const record: Windows["record"] = (window, hits) => ask((asked) => asked.record(window, hits));
  let unaudited = 0;
  const reads = countReads({ take, record, now }, config.readsPerMinute);
  /**
   * The names under which a client is counted: a keyed hash that changes daily, and the one that it had so long ago, so that
   * midnight resets no window. The day is of the windows' own time, which no one can set.
   */
  const namesOf = (network: string, agoMs = 2 * minuteMs): readonly [string, string] => {
    const dayOf = (atMs: number) => Math.floor(atMs / dayMs);
    const onDay = (day: number) => keyedHash(secrets.dailyHashKey, `limit ${day} ${network}`);
    const [today, before] = [dayOf(now()), dayOf(now() - agoMs)];
    const name = onDay(today);
    return [name, before === today ? name : onDay(before)];
  };
  const clientOf = (request: Request) => networkOf(request, config);
  const storerOf = (request: Request) => networkHash(request, { config, secrets }) ?? "";
  const countGiving = async (policy: "donate" | "pay", client: string, hits = 1) => {
    const window = windowOf(policy, config.donatePerMinute);
    return window.limit === 0 ? null : taking.ask(hit([window], namesOf(client), hits));
  };
  return {
    request: async (policy, request) => {
      if (policy === "none") return null;
      const client = clientOf(request);
      if (policy === "read") {
        return config.readsPerMinute === 0 ? null : reads.take(namesOf(client));
      }
      if (policy === "donate" || policy === "pay") {
        const asked = policy === "pay" && bringsPayment(request) ? "pay" : "donate";
        return countGiving(asked, client);
      }
      const { perMinute, room } = writeLimits[policy];
      const isBounded = room !== null && config.storedPerDay > 0;
      const full = isBounded ? storage.full(room, storerOf(request)) : null;
      if (full !== null) return full;
      const window = windowOf(policy, perMinute);
      if (policy !== "bind") return taking.ask(hit([window], namesOf(client)));
      return taking.ask(hit([window, bindingsPerDay], namesOf(client, dayMs)));
    },
    paid: async (request, taken) => {
      if (!bringsPayment(request)) return null;
      const client = clientOf(request);
      return taken ? countGiving("pay", client, -1) : countGiving("donate", client);
    },
    agent: (sender, submissions = 1) => taking.ask(hit(agentWindows, [sender], submissions)),
    stored: (room, request, bytes) => {
      if (config.storedPerDay > 0 && bytes > 0) storage.stored(room, storerOf(request), bytes);
    },
    adminFailures: (request, name, count) =>
      [
        take([failures.client], namesOf(clientOf(request)), count),
        take([failures.name], [name], name === "" ? 0 : count),
        take([failures.all], ["all"], count),
      ].reduce((one, other) => (other.remaining < one.remaining ? other : one)),
    auditsFailures: () => {
      unaudited += 1;
      if (!take([auditedWindow], ["all"]).allowed) return 0;
      const told = unaudited;
      unaudited = 0;
      return told;
    },
    knowsOperator: (request, name, count) => {
      const client = keyedHash(secrets.deskKey, `known ${name} ${clientOf(request)}`);
      return take([knownWindow], [client], count).remaining < knownWindow.limit;
    },
    close: () => {
      taking.flush();
      const stored = storage.takeStored();
      if (stored.length > 0) ask((asked) => asked.takeAll(stored));
      reads.close();
      shared.close();
      alone?.close();
    },
  };
}

/** Whether a request may bring a payment, or the proof of one: those are let in though others have asked much. */
const bringsPayment = ({ method, headers }: Request): boolean =>
  method === "POST" || headers.has("payment-signature") || headers.has("x-payment");

/** Another process writes: the next question finds the file free. */
const isLocked = (error: unknown): boolean =>
  error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");

/** Counts what a request costs that is worth several reads, beyond the one it was counted as. Throws Refused. */
export async function countMoreReads(limits: Limits, request: Request, reads: number) {
  for (let more = 1; more < reads; more++) {
    const allowance = await limits.request("read", request);
    if (allowance?.allowed === false) throw new Refused(rateLimited(allowance));
  }
}

const recordEveryMs = 100;
const clientsMax = 50_000;

/** What this process knows of one client. */
type ClientWindow = {
  clients: readonly string[];
  /** Hits in the window, of all processes, when last asked. */
  used: number;
  askedAtMs: number;
  /** Hits let through since, not yet in the file. */
  pending: number;
  /** Full until then: nothing comes free earlier. */
  fullUntilMs: number;
};

/**
 * The window of the service's reads, cheap enough for every request. While a client is known to have used less than
 * half of it, its hits are let through and recorded together every 100 ms, at most a sixteenth of the limit in
 * between; after that every hit asks the file. So up to eight processes together never exceed the limit. A write for
 * each read would keep processes waiting for each other, and a limit that cannot be written in time is counted alone.
 */
export function countReads(windows: Pick<Windows, "take" | "record" | "now">, limit: number) {
  const window = windowOf("read", limit, minuteMs, recordEveryMs);
  const pendingMax = Math.floor(limit / 16);
  const known = new Map<string, ClientWindow>();
  const waiting = new Set<ClientWindow>();
  let timer: ReturnType<typeof setTimeout> | null = null;

  const record = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (waiting.size === 0) return;
    const clients = [...waiting];
    waiting.clear();
    const used = windows.record(
      window,
      clients.map(({ clients: names, pending }) => ({ clients: names, count: pending })),
    );
    const askedAtMs = windows.now();
    for (const [at, client] of clients.entries()) {
      Object.assign(client, { used: used[at] ?? 0, askedAtMs, pending: 0 });
    }
  };

  const ask = (client: ClientWindow, atMs: number): Allowance => {
    if (client.pending > 0) record();
    const taken = windows.take([window], client.clients);
    client.used = limit - taken.remaining;
    client.askedAtMs = atMs;
    if (!taken.allowed) client.fullUntilMs = atMs + taken.resetMs;
    return taken;
  };

  return {
    take: (clients: readonly string[]): Allowance => {
      const [name = ""] = clients;
      const atMs = windows.now();
      const client = known.get(name) ?? unknownClient(clients);
      if (!known.has(name)) {
        // Anyone who is forgotten is asked about again.
        if (known.size >= clientsMax) known.clear();
        known.set(name, client);
      }
      if (atMs < client.fullUntilMs) {
        return { ...window, allowed: false, remaining: 0, resetMs: client.fullUntilMs - atMs };
      }
      const isFar = client.used + client.pending < limit / 2 && client.pending < pendingMax;
      if (!isFar || atMs - client.askedAtMs > minuteMs) return ask(client, atMs);
      client.pending += 1;
      waiting.add(client);
      timer ??= setTimeout(record, recordEveryMs).unref();
      const remaining = limit - client.used - client.pending;
      return { ...window, allowed: true, remaining, resetMs: minuteMs };
    },
    /** Writes what is pending. */
    close: record,
  };
}

const unknownClient = (clients: readonly string[]): ClientWindow => ({
  clients,
  used: 0,
  askedAtMs: -Infinity,
  pending: 0,
  fullUntilMs: 0,
});
