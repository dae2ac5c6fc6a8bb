import { countedCache } from "#content/runtime/cache.ts";
import type { Room } from "#content/contract/addresses.ts";
import type { Pending } from "./ahead.ts";
import type { Allowance, Counter, Window } from "#content/operation/limit-store.ts";

/** No network, a /24 or /48, takes more than this part of what all may store in a day. */
const networksToFill = 10;
/** A look at a room is believed for so long, less what this process stored since. */
const lookEveryMs = 1_000;
const looksMax = 10_000;

type Look = Allowance & { lookedAtMs: number };

type RoomOptions = {
  bytesPerDay: number;
  look: (counter: Counter) => Promise<Allowance>;
  now: () => number;
  /** Whether a room is looked at before a request; else only what is stored tells what is left, and a look that it is full no more. */
  looksFirst: boolean;
  /** Has what was stored counted soon; absent: it is counted with what comes next. */
  onPending?: () => void;
};

/**
 * How many bytes senders without a key may store in a day: those of one network, and all together. Requests that are under
 * way are not seen, nor is for a second what other processes store: the limits on requests bound by how much a room is
 * overdrawn.
 */
export function storageRooms({ bytesPerDay, look, now, looksFirst, onPending }: RoomOptions) {
  const looks = countedCache<Look>(looksMax);
  let stored = new Map<string, Pending>();
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
  type RoomCounter = ReturnType<typeof countersOf>[number];
  const note = ({ key }: RoomCounter, { remaining, ...allowance }: Allowance): Look => {
    const left = remaining - (stored.get(key)?.hits.count ?? 0);
    const next = { ...allowance, remaining: left, lookedAtMs: now() };
    looks.set(key, next);
    return next;
  };
  const lookAt = async (counter: RoomCounter): Promise<Look | null> => {
    const last = looks.get(counter.key) ?? null;
    const isRecent = last !== null && now() - last.lookedAtMs < lookEveryMs;
    if (isRecent || (!looksFirst && (last === null || last.remaining >= 1))) return last;
    return note(counter, await look(counter));
  };
  return {
    /** What refuses a request of the network with this hash: its room, or that of all, is used up. Null: there is room. */
    full: async (room: Room, network: string): Promise<Allowance | null> => {
      const looked = await Promise.all(countersOf(room, network).map(lookAt));
      const full = looked.find((last) => last !== null && last.remaining < 1) ?? null;
      return full === null ? null : { ...full, allowed: false, remaining: 0 };
    },
    /** Counts what was stored. */
    stored: (room: Room, network: string, bytes: number): void => {
      for (const counter of countersOf(room, network)) {
        const last = looks.get(counter.key);
        if (last !== undefined) last.remaining -= bytes;
        const count = (stored.get(counter.key)?.hits.count ?? 0) + bytes;
        // It is stored, so it counts even where there was less room.
        const hits = { counters: [counter], count, always: true };
        stored.set(counter.key, { hits, onAnswer: (left) => void note(counter, left) });
      }
      onPending?.();
    },
    /** What was stored since it was last asked, to be written with what is written anyway. */
    takeStored: (): Pending[] => {
      const taken = [...stored.values()];
      stored = new Map();
      return taken;
    },
  };
}
