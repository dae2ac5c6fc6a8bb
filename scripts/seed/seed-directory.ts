import { z } from "zod";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { mergeIndex } from "#content/find/index-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { type CuratedPick, saveCuratedPicks } from "#content/recommendation/pick-store.ts";
import { describeFaults, wordingFaults } from "#content/nonprofit/text.ts";
import { giveSlugs } from "#content/register/import-store.ts";
import type { Queryable, Store, WriteTransaction } from "#content/store/open.ts";
import { factsBeginning, noteFact } from "#content/store/facts.ts";
import { samplePrefix } from "#content/operation/directory-facts-store.ts";
import { arrivalMs, type Calendar, calendarOf, claimMs, defaultDay, storied } from "./numbers.ts";
import causes from "./causes.json";
import { type Character, tellStory } from "./story.ts";
import { type Outline, outlineAt, round } from "./outline.ts";
import { beforeClaim, profileOf } from "./profile.ts";
import { sentencesOf, slotsOf } from "./texts.ts";

/** The progress of one sample (one seed number): `done` of `profiles` are stored. */
const SampleState = z.object({
  seed_number: z.int(),
  profiles: z.int(),
  done: z.int(),
  /** The day on which the sample was begun, on which its times depend. */
  as_of: z.string().default(defaultDay),
});
export type SampleState = z.infer<typeof SampleState>;
export type SeedOptions = {
  /** The final number of profiles of this sample, 1 to `profilesMax`. */
  profiles: number;
  seedNumber: number;
  /** The day that a new sample takes as today, "YYYY-MM-DD"; a continued one keeps its own. */
  asOf?: string;
  /** Called once at the start, and after each batch. */
  onProgress?: (done: number, profiles: number) => void;
  /** Stops the work after the current batch; a later call continues. */
  stop?: AbortSignal;
  /** Profiles per transaction; 2,000 by default. */
  atOnce?: number;
};

export const profilesDefault = 41_000;
export const profilesMax = 2_000_000;

/**
 * Extends the sample with this seed number to `profiles` profiles and its starter set. Returns how many were added, and
 * its size. Seed number, size and day determine the content, even after interruptions: each batch is one transaction with
 * its progress, and a later call continues. Memory does not grow with `profiles`.
 */
export async function seedDirectory(
  store: Store,
  {
    profiles,
    seedNumber,
    asOf = defaultDay,
    onProgress = () => {},
    stop,
    atOnce = 2_000,
  }: SeedOptions,
): Promise<{ added: number; done: number }> {
  const states = await sampleStates(store);
  const seedState = states.find((state) => state.seed_number === seedNumber);
  const start = seedState?.done ?? 0;
  const as_of = seedState?.as_of ?? asOf;
  onProgress(Math.min(start, profiles), profiles);
  let done = start;
  while (done < profiles) {
    if (stop?.aborted === true) break;
    const from = done;
    // Batches end at multiples of their size, so that an interrupted run writes the same times.
    const to = Math.min(profiles, from - (from % atOnce) + atOnce);
    await store.write((tx) => writeBatch(tx, { profiles, seedNumber, as_of, from, to }));
    done = to;
    onProgress(done, profiles);
    // Other work gets its turn, and libSQL frees statements and their memory only when the event loop turns.
    await Bun.sleep(0);
  }
  if (done > start) await mergeIndex(store);
  return { added: done - start, done };
}

/** The samples in the store, finished or not. */
export async function sampleStates(store: Queryable): Promise<SampleState[]> {
  const facts = await factsBeginning(store, samplePrefix);
  return facts.map((value) => SampleState.parse(JSON.parse(value)));
}

/** A sample that was interrupted, which seedDirectory can complete; null for none. */
export async function unfinishedSample(store: Queryable): Promise<SampleState | null> {
  const states = await sampleStates(store);
  return states.find(({ done, profiles }) => done < profiles) ?? null;
}

type Batch = { profiles: number; seedNumber: number; as_of: string; from: number; to: number };

async function writeBatch(
  tx: WriteTransaction,
  { profiles, seedNumber, as_of, from, to }: Batch,
): Promise<void> {
  const calendar = calendarOf(seedNumber, as_of);
  const outlines = Array.from({ length: to - from }, (_, at) => outlineAt(seedNumber, from + at));
  const slugs = await giveSlugs()(
    tx,
    outlines.map(({ name, city, region }) => ({ slug_name: name, org_id: "sample", city, region })),
  );
  const written: SampleListing[] = [];
  const waves = Map.groupBy(outlines, ({ index }) => arrivalMs(index, calendar));
  for (const [arrived, wave] of [...waves].toSorted(([a], [b]) => a - b)) {
    const whole = wave.map((outline) =>
      profileOf(seedNumber, outline, slugs[outline.index - from] ?? "", calendar),
    );
    const saves = whole.map((profile) => ({ before: null, after: beforeClaim(profile) }));
    const records = await saveNonprofits(tx, saves, { origin: "seed", now: new Date(arrived) });
    for (const [at, record] of records.entries()) {
      const outline = wave[at];
      const profile = whole[at];
      if (outline === undefined || profile === undefined) continue;
      const claim = profile.status === "claimed" ? profile : null;
      written.push({ outline, record, claim });
    }
  }
  const characters = await claimProfiles(tx, written, calendar);
  await saveCuratedPicks(
    tx,
    characters.flatMap(({ outline, record }) => (isPicked(outline) ? pickOf(outline, record) : [])),
  );
  if (from === 0) {
    const first = characters.filter(({ outline }) => outline.index < storied);
    await tellStory(tx, first, calendar);
  }
  const state: SampleState = { seed_number: seedNumber, profiles, done: to, as_of };
  const name = `${samplePrefix}${seedNumber}`;
  const now = new Date(calendar.nowMs);
  // No page shows the progress of a sample, so it is no change of public data.
  await noteFact(tx, { name, value: JSON.stringify(state), now });
}

/** A profile as its register lists it; `claim` is the profile after its organisation claimed it, if it did. */
type SampleListing = Character & { claim: NonprofitRecord | null };

/** Lets organisations claim their profiles, in order of time. Returns all profiles after that. */
async function claimProfiles(
  tx: WriteTransaction,
  listed: readonly SampleListing[],
  calendar: Calendar,
): Promise<Character[]> {
  const claims = listed.flatMap(({ outline: { index }, record: before, claim }) => {
    if (claim === null) return [];
    const after = { ...claim, id: before.id, created_at: before.created_at };
    return { at: claimMs(index, calendar), before, after };
  });
  const claimed = new Map<number, NonprofitRecord>();
  for (const { at, before, after } of claims.toSorted((a, b) => a.at - b.at)) {
    const now = new Date(at);
    const [record] = await saveNonprofits(tx, [{ before, after }], { origin: "onboarding", now });
    if (record !== undefined) claimed.set(record.id, record);
  }
  return listed.map(({ outline, record }) => ({
    outline,
    record: claimed.get(record.id) ?? record,
  }));
}

/** Verified profiles rotate through the causes, so the first 58 cover each of the 29 twice. */
const verifiedPicks = 58;
const unverifiedPicks = 24;

/** Whether the starter set contains the profile at this index: 58 verified ones, and 24 that are not. */
export const isPicked = ({ index, tier }: Pick<Outline, "index" | "tier">): boolean =>
  (tier === "verified" && index < verifiedPicks * round) ||
  (tier === "rich" && index % (2 * round) === 1 && index < unverifiedPicks * 2 * round);

/** The curation of a stored profile in the sample. Throws when a sentence claims too much. */
export function pickOf(
  outline: Outline,
  record: NonprofitRecord,
): Pick<CuratedPick, "nonprofit_id" | "recommended_for" | "why_recommended"> {
  const values = {
    ...slotsOf(outline, record),
    interest: causes[outline.causes[0]].interest,
    giving: record.donation_url === null ? null : "the organisation's own donation page",
    programs: ["no", "one", "two", "three", "four"][record.programs.length] ?? "several",
  };
  const pick = {
    nonprofit_id: record.id,
    recommended_for: sentencesOf(outline.random, "intents", values, 2),
    why_recommended: sentencesOf(
      outline.random,
      record.verified === 1 ? "reasons" : "reasons_unverified",
      values,
      1,
    ).join(" "),
  };
  const faults = [...pick.recommended_for, pick.why_recommended].flatMap(wordingFaults);
  if (faults.length > 0) throw new Error(`sample ${record.slug}: ${describeFaults(faults)}`);
  return pick;
}
