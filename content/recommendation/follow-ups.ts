import {
  type FollowUp,
  followThroughsOf,
  followThroughWindowMs,
  saveFollowThroughs,
} from "./follow-through.ts";
import type { Store } from "#content/store/open.ts";

/** What clients did after recommendations, waiting in memory to be stored with the log. */
export type FollowUps = {
  /** Remembers that a client was given a recommendation. */
  called(client: string, atMs: number): void;
  /** Whether anybody's recommendation may be followed at this instant. */
  isAnyFollowed(atMs: number): boolean;
  /** Takes a follow-up, and says so; it leaves alone what follows no recommendation that could be meant. */
  take(followUp: FollowUp, elsewhere: boolean): boolean;
  /** Stores what follows a logged recommendation. Answers whether something waits for another look. */
  write(): Promise<boolean>;
};

/** Of a second. Beyond it, telemetry is a sample: looking for more would slow down what is served. */
const waitingMax = 2_000;
/** Follow-ups of calls that this process does not remember: each costs a look at the store. */
const unsureMax = 500;
/** Another process writes its calls within a second or two. */
const looksMax = 3;

type Waiting = { followUp: FollowUp; looks: number };

export function gatherFollowUps(store: Store): FollowUps {
  const recent = rememberClients();
  let waiting: Waiting[] = [];
  let noted = new Set<string>();
  let unsure = 0;
  return {
    called: (client, atMs) => recent.add(client, atMs),
    isAnyFollowed: (atMs) => recent.mayAny(atMs),
    take: (followUp, elsewhere) => {
      const { clients, atMs } = followUp;
      const key = `${clients[0]} ${followUp.action} ${followUp.slug} ${followUp.intent_id ?? ""}`;
      if (noted.has(key)) return false;
      const isKnown = clients.some((client) => recent.mayFollow(client, atMs));
      const isWanted = isKnown || (elsewhere && unsure < unsureMax);
      if (!isWanted || waiting.length >= waitingMax) return false;
      if (!isKnown) unsure += 1;
      noted.add(key);
      waiting.push({ followUp, looks: isKnown ? 1 : looksMax });
      return true;
    },
    write: async () => {
      const taken = waiting;
      waiting = [];
      noted = new Set();
      unsure = 0;
      if (taken.length === 0) return false;
      try {
        const found = await followThroughsOf(
          store,
          taken.map(({ followUp }) => followUp),
        );
        await saveFollowThroughs(
          store,
          found.filter((one) => one !== null),
        );
        waiting.push(
          ...taken.flatMap(({ followUp, looks }, place) =>
            looks > 1 && found[place] === null ? [{ followUp, looks: looks - 1 }] : [],
          ),
        );
      } catch (error) {
        waiting = [...taken, ...waiting].slice(-waitingMax);
        throw error;
      }
      return waiting.length > 0;
    },
  };
}

const clientsMax = 20_000;

/** The clients that asked a moment ago, at most 20,000: nearly all page views follow no recommendation. */
function rememberClients() {
  const calledAt = new Map<string, number>();
  let newest = -Infinity;
  const within = (calledAtMs: number, atMs: number) => atMs - calledAtMs <= followThroughWindowMs;
  return {
    add: (client: string, atMs: number) => {
      calledAt.delete(client); // So that the map stays in the order of the calls.
      calledAt.set(client, atMs);
      newest = atMs;
      const [oldest] = calledAt.size > clientsMax ? calledAt.keys() : [];
      if (oldest !== undefined) calledAt.delete(oldest);
    },
    mayFollow: (client: string, atMs: number) => within(calledAt.get(client) ?? -Infinity, atMs),
    mayAny: (atMs: number) => within(newest, atMs),
  };
}
