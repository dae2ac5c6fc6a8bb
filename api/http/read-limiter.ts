import type { Taken, Window, Windows } from "./sliding-window.ts";

const minuteMs = 60_000;
const recordEveryMs = 100;
const clientsMax = 50_000;

/** What this process knows of one client. */
type Known = {
  clients: readonly string[];
  /** Hits in the window, of all processes, when last asked. */
  used: number;
  askedAtMs: number;
  /** Hits let through since, not yet in the file. */
  pending: number;
  /** Full until then: nothing comes free earlier. */
  fullUntilMs: number;
};

export type ReadWindow = {
  take(clients: readonly string[]): Taken;
  /** Writes what is pending. */
  close(): void;
};

/**
 * The window of the service's reads, cheap enough for every request. While a client is known to have used less than
 * half of it, its hits are let through and recorded together every 100 ms, at most a sixteenth of the limit in
 * between; after that every hit asks the file. So up to eight processes together never exceed the limit.
 */
export function countReads(
  windows: Pick<Windows, "take" | "record" | "now">,
  limit: number,
): ReadWindow {
  const window: Window = { policy: "read", limit, windowMs: minuteMs, grainMs: recordEveryMs };
  const pendingMax = Math.floor(limit / 16);
  const known = new Map<string, Known>();
  const waiting = new Set<Known>();
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

  const ask = (client: Known, atMs: number): Taken => {
    if (client.pending > 0) record();
    const taken = windows.take([window], client.clients);
    client.used = limit - taken.remaining;
    client.askedAtMs = atMs;
    if (!taken.allowed) client.fullUntilMs = atMs + taken.resetMs;
    return taken;
  };

  return {
    take: (clients) => {
      const [name = ""] = clients;
      const atMs = windows.now();
      const client = known.get(name) ?? unknownClient(clients);
      if (!known.has(name)) {
        // Whoever is forgotten is asked about again.
        if (known.size >= clientsMax) known.clear();
        known.set(name, client);
      }
      if (atMs < client.fullUntilMs) {
        return { allowed: false, policy: "read", remaining: 0, resetMs: client.fullUntilMs - atMs };
      }
      const isFar = client.used + client.pending < limit / 2 && client.pending < pendingMax;
      if (!isFar || atMs - client.askedAtMs > minuteMs) return ask(client, atMs);
      client.pending += 1;
      waiting.add(client);
      timer ??= setTimeout(record, recordEveryMs).unref();
      const remaining = limit - client.used - client.pending;
      return { allowed: true, policy: "read", remaining, resetMs: minuteMs };
    },
    close: record,
  };
}

const unknownClient = (clients: readonly string[]): Known => ({
  clients,
  used: 0,
  askedAtMs: -Infinity,
  pending: 0,
  fullUntilMs: 0,
});
