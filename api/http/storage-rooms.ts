import type { Room } from "#content/contract/addresses.ts";
import type { Allowance, Hits, Window, Windows } from "./sliding-window.ts";

/** No network, a /24 or /48, takes more than this part of what all may store in a day. */
const networksToFill = 10;
/** A look at a room is believed for so long, less what this process stored since. */
const lookEveryMs = 1_000;
const looksMax = 10_000;

type Look = Allowance & { lookedAtMs: number };

/**
 * How many bytes senders without a key may store in a day: those of one network, and all together. Requests that are under
 * way are not seen, nor is for a second what other processes store: the limits on requests bound by how much a room is
 * overdrawn.
 */
export function storageRooms(windows: Pick<Windows, "look" | "now">, bytesPerDay: number) {
  const looks = new Map<string, Look>();
  let stored = new Map<string, Hits>();
  const windowsOf = (room: Room): readonly [Window, Window] => {
    const window = { windowMs: 86_400_000, grainMs: 600_000 };
    const own = Math.floor(bytesPerDay / networksToFill);
    return [
      { ...window, policy: `stored-${room}-network`, limit: own },
      { ...window, policy: `stored-${room}`, limit: bytesPerDay },
    ];
  };
  const roomWindows: Readonly<Record<Room, readonly [Window, Window]>> = {
    agents: windowsOf("agents"),
    organisations: windowsOf("organisations"),
    readers: windowsOf("readers"),
  };
  const countersOf = (room: Room, network: string) => {
    const [own, all] = roomWindows[room];
    return [
      { key: `${own.policy} ${network}`, window: own, clients: [network] },
      { key: all.policy, window: all, clients: [""] },
    ];
  };
  const look = ({ key, window, clients }: ReturnType<typeof countersOf>[number]): Look => {
    const lookedAtMs = windows.now();
    const last = looks.get(key);
    if (last !== undefined && lookedAtMs - last.lookedAtMs < lookEveryMs) return last;
    const { remaining, ...allowance } = windows.look(window, clients);
    const left = remaining - (stored.get(key)?.count ?? 0);
    const next = { ...allowance, remaining: left, lookedAtMs };
    if (looks.size >= looksMax) looks.clear();
    looks.set(key, next);
    return next;
  };
  return {
    /** What refuses a request of the network with this hash: its room, or that of all, is used up. Null: there is room. */
    full: (room: Room, network: string): Allowance | null => {
      const full = countersOf(room, network)
        .map(look)
        .find(({ remaining }) => remaining < 1);
      return full === undefined ? null : { ...full, allowed: false, remaining: 0 };
    },
    /** Counts what was stored. */
    stored: (room: Room, network: string, bytes: number): void => {
      for (const { key, window, clients } of countersOf(room, network)) {
        const last = looks.get(key);
        if (last !== undefined) last.remaining -= bytes;
        const before = stored.get(key)?.count ?? 0;
        // It is stored, so it counts even where there was less room.
        const unlimited = [{ ...window, limit: Infinity }];
        stored.set(key, { windows: unlimited, clients, count: before + bytes });
      }
    },
    /** What was stored since it was last asked, to be written with what is written anyway. */
    takeStored: (): Hits[] => {
      const taken = [...stored.values()];
      stored = new Map();
      return taken;
    },
  };
}
