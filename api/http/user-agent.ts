import { isoDay } from "#content/contract/time.ts";
import { followThroughWindowMs } from "#content/recommendation/follow-through-store.ts";
import { dailyHash } from "./client.ts";

const knownMax = 2_000;
const knownLengthMax = 500;

type Known = { day: string; hashes: Map<string, string> };
const knownByKey = new WeakMap<Uint8Array, Known>();

/**
 * The daily keyed hash of a user agent, "" for one that names none. Those of today are kept in memory: the same few
 * programs ask again and again, and a hash costs more than the rest of a request's log line.
 */
export function userAgentHash(key: Uint8Array, userAgent: string, atMs: number): string {
  const day = isoDay(atMs);
  let known = knownByKey.get(key);
  if (known?.day !== day) knownByKey.set(key, (known = { day, hashes: new Map() }));
  const found = known.hashes.get(userAgent);
  if (found !== undefined) return found;
  const made = dailyHash(key, day, userAgent);
  if (known.hashes.size >= knownMax) known.hashes.clear();
  if (userAgent.length <= knownLengthMax) known.hashes.set(userAgent, made);
  return made;
}

/** The hashes under which a user agent may have asked for a recommendation at most 60 s ago: two just after midnight. */
export function recentHashes(
  key: Uint8Array,
  userAgent: string,
  atMs: number,
): readonly [string] | readonly [string, string] {
  const today = userAgentHash(key, userAgent, atMs);
  const before = isoDay(atMs - followThroughWindowMs);
  return before === isoDay(atMs) ? [today] : [today, dailyHash(key, before, userAgent)];
}
