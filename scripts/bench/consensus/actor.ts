import type { StructuredField } from "#content/contract/enrichment.ts";
import type { Random } from "../../seed/random.ts";
import type { Opinion } from "./field-state.ts";
import type { PlantedProfile } from "./world.ts";

/** Who sends: an id as it is written, from an address in a network. */
export type Voice = { agent_id: string; address: string; network: string };

export type Found = { field: StructuredField; value: string };

/** What everyone can see and do: the public interface of the directory. */
export type Public = {
  /** Thin profiles, in the order of the queue of that day. */
  queue: (nowMs: number) => readonly PlantedProfile[];
  emptyFields: (profile: PlantedProfile) => readonly StructuredField[];
  isWaiting: (profile: PlantedProfile) => boolean;
  opinions: (profile: PlantedProfile) => Opinion[];
  /** Sends a batch. 0 when it was taken, else the milliseconds that the limits ask to wait. */
  post: (nowMs: number, voice: Voice, profile: PlantedProfile, found: readonly Found[]) => number;
};

/** Someone who acts at times of its own. `act` answers when it acts next, null for never. */
export type Actor = { firstAtMs: number; act(nowMs: number): number | null };

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Between half of and one and a half times the mean. */
export const around = (meanMs: number, random: Random): number =>
  random.between(Math.ceil(meanMs / 2), Math.floor(meanMs * 1.5));
