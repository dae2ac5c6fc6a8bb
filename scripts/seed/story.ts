import { sha256Bytes } from "#content/runtime/digest.ts";
import bs58 from "bs58";
import { dayMs, hourMs } from "#content/contract/base/time.ts";
import { decideEnrichment } from "#content/enrichment/enrich.ts";
import { decideAndRun } from "#content/store/write-batcher.ts";
import { waitingDaysMax } from "#content/requests/requests.ts";
import { correctionRequests } from "#content/correction/correction-kind.ts";
import { proseRequests } from "#content/enrichment/prose-kind.ts";
import { micro } from "#content/contract/base/money.ts";
import { EnrichmentBody } from "#content/contract/enrichment.ts";
import { readCorrection } from "#content/correction/read.ts";
import { correctionStore } from "#content/correction/store.ts";
import { caip2Of, networks } from "#content/giving/network.ts";
import { recordDonation } from "#content/giving/store.ts";
import { expireSubmissions } from "#content/enrichment/review-store.ts";
import { readEnrichment } from "#content/enrichment/wire.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { addCounts, type ActivityKind, type HourHits } from "#content/operation/activity-store.ts";
import { readOnboarding } from "#content/onboarding/read.ts";
import { onboardingStore } from "#content/onboarding/store.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import { doAll } from "#content/store/query.ts";
import { arrivalMs, type Calendar, claimMs, storied, type Random, randomOf } from "./numbers.ts";
import type { Outline } from "./outline.ts";
import { hostOf } from "./profile.ts";
import places from "./places.json";
import story from "./story.json";
import { oneSentence, slotsOf } from "./texts.ts";

/** A profile with a story. */
export type Character = { outline: Outline; record: NonprofitRecord };

/** An event, in milliseconds since 1970. */
type Happening = { at: number; tell: (tx: WriteTransaction) => Promise<void> };

/**
 * Tells the story of the first profiles of a sample in order of time, through the functions that serve requests, so that
 * the rules decide on agents' values. The result depends only on profiles and calendar.
 */
export async function tellStory(
  tx: WriteTransaction,
  characters: readonly Character[],
  calendar: Calendar,
): Promise<void> {
  const counts = countsOfDays(calendar);
  const happenings = characters.flatMap((character) => {
    const random = randomOf(calendar.seedNumber, 1_000_000_000 + character.outline.index);
    const scene = { ...character, random, calendar, counts };
    return [...enrichments(scene), ...missions(scene), ...gifts(scene), ...corrections(scene)];
  });
  const claimed = characters.filter(({ record }) => record.verified === 0);
  happenings.push(...requests(claimed, calendar), ...expiries(calendar));
  const past = happenings.filter(({ at }) => at < calendar.nowMs);
  for (const { tell } of past.toSorted((a, b) => a.at - b.at)) await tell(tx);
  await addCounts(tx, [...counts.values()]);
}

const expiryEveryDays = 5;

/** Now and then rejects what waited too long, as the service does every hour. */
const expiries = ({ nowMs }: Calendar): Happening[] =>
  Array.from({ length: waitingDaysMax / expiryEveryDays }, (_, index) => {
    const at = nowMs - 1 - index * expiryEveryDays * dayMs;
    const before = at - waitingDaysMax * dayMs;
    const expired = { before, at, limit: storied };
    return { at, tell: async (tx) => void (await expireSubmissions(tx, expired)) };
  });

type Counts = Map<string, HourHits>;
type Scene = Character & { random: Random; calendar: Calendar; counts: Counts };

function count(counts: Counts, kind: ActivityKind, at: number, by = 1): void {
  const hour = Math.floor(at / hourMs) * hourMs;
  counts.getOrInsertComputed(`${kind} ${hour}`, () => ({ kind, hour, count: 0 })).count += by;
}

/** Counts of readers and programs, which grow from month to month. */
function countsOfDays({ seedNumber, nowMs }: Calendar): Counts {
  const counts: Counts = new Map();
  const random = randomOf(seedNumber, 2_000_000_000);
  const days = 330;
  for (let day = 1; day < days; day += 1) {
    for (const [kind, often] of Object.entries(story.counts_a_day)) {
      const by = Math.floor((often * (days - day + 60) * random.between(40, 160)) / (days * 100));
      const at = nowMs - day * dayMs + random.below(dayMs);
      if (by > 0) count(counts, kind as ActivityKind, at, by);
    }
  }
  return counts;
}

type Teller = (typeof story.agents)[number];
const agentsAt = (at: number, { nowMs }: Calendar): Teller[] =>
  story.agents.filter(({ since_days }) => nowMs - since_days * dayMs <= at);

const submission = (
  { record, calendar, counts }: Scene,
  { at, agent, field, value }: { at: number; agent: Teller; field: string; value: string },
): Happening => ({
  at,
  tell: async (tx) => {
    const source_url = `https://${hostOf(record.slug)}/about`;
    const { id: agent_id, name: agent_name } = agent;
    const body = { field, value, source_url, agent_id, agent_name };
    const now = new Date(at);
    const read = readEnrichment(EnrichmentBody.parse(body), { thisYear: now.getUTCFullYear() });
    if (!read.ok) throw new Error(`the sample sends ${JSON.stringify([body, read.failure])}`);
    const job = {
      request: read.value,
      slug: record.slug,
      network: `4:sample ${calendar.seedNumber} ${agent_id}`,
      mode: "agents",
      now,
      idempotencyKey: null,
      secret: null,
    } as const;
    const stored = await decideAndRun(tx, (store) => decideEnrichment(store, job));
    if (!stored.ok) throw new Error(`the sample is refused ${JSON.stringify(stored.failure)}`);
    count(counts, "enrich:submitted", at);
    if (stored.value.items.some(({ status }) => status === "applied")) {
      count(counts, "enrich:applied", at);
    }
  },
});

/** In how many percent of the profiles that lack a field agents look for it. */
const lookedFor = { website: 50, founded_year: 80, city: 90, contact_email: 15 } as const;
type LookedFor = keyof typeof lookedFor;
const sendersMax = 4;

/** Agents look for missing values until two agree or no further one comes. Some err, and some stay alone. */
function enrichments(scene: Scene): Happening[] {
  const { record, random, calendar, outline } = scene;
  return Object.entries(lookedFor).flatMap(([name, percent]) => {
    const field = name as LookedFor;
    if (record[field] !== null || record.verified === 1 || !random.chance(percent)) return [];
    const truth = truths(scene)[field];
    const happenings: Happening[] = [];
    const senders = new Set<string>();
    const values: string[] = [];
    let at = arrivalMs(outline.index, calendar) + random.below(320 * dayMs);
    while (senders.size < sendersMax) {
      const present = agentsAt(at, calendar).filter(({ id }) => !senders.has(id));
      if (present.length === 0) break;
      const agent = random.weighted(
        present.map((candidate) => [candidate, candidate.weight] as const),
      );
      senders.add(agent.id);
      const value = random.chance(agent.right) ? truth : mistakes[field](truth, scene);
      happenings.push(submission(scene, { at, agent, field, value }));
      const agreed = values.includes(value);
      values.push(value);
      // Some live values are found again, which adds a source.
      if (random.chance(agreed ? 75 : 15)) break;
      at += random.between(6, 30 * 24) * hourMs;
    }
    return happenings;
  });
}

const truths = (scene: Scene): Record<LookedFor, string> => ({
  website: `https://${hostOf(scene.record.slug)}`,
  contact_email: `hello@${hostOf(scene.record.slug)}`,
  city: scene.outline.city,
  founded_year: String(1950 + ((scene.outline.index * 37) % 72)),
});

/** A wrong value for a field, made from the right one. */
const mistakes: Record<
  LookedFor,
  (truth: string, of: Pick<Scene, "outline" | "random">) => string
> = {
  website: (truth, { random }) =>
    truth.replace(".example", `-${random.pick(["old", "group", "intl"])}.example`),
  contact_email: (truth, { random }) =>
    truth.replace("hello@", `${random.pick(["info", "press"])}@`),
  founded_year: (truth, { random }) => String(Number(truth) + random.between(1, 6)),
  city: (truth, { outline, random }) => {
    const towns = places[outline.country_code].places;
    return random.pick(towns.filter(([town]) => town !== truth))[0] ?? truth;
  },
};

/** The operator's decision on a request: rejected with a reason, else approved. Nothing if `keyOf` finds none. */
const decision = (
  kind: Pick<typeof proseRequests, "decide">,
  at: number,
  reason: string,
  keyOf: (tx: WriteTransaction, now: Date) => Promise<string | null>,
): Happening => ({
  at,
  tell: async (tx) => {
    const now = new Date(at);
    const key = await keyOf(tx, now);
    if (key === null) return;
    const verdict = reason === "" ? "approved" : "rejected";
    const input = { value: null, operator: "sample", world: null, now, key, reason };
    const detail = { value: null, reason: reason === "" ? null : reason };
    const outcome = await kind.decide(tx, verdict, input, detail);
    if (!outcome.ok) throw new Error(`the sample decides ${JSON.stringify(outcome.failure)}`);
  },
});

/** Missions that agents wrote, decided by the operator some days later. */
function missions(scene: Scene): Happening[] {
  const { record, random, calendar, outline } = scene;
  if (record.mission !== null || !random.chance(35)) return [];
  const at = arrivalMs(outline.index, calendar) + random.below(330 * dayMs);
  const [agent] = random.some(agentsAt(at, calendar), 1);
  const value = oneSentence(random, "missions", slotsOf({ ...outline, random }, record));
  if (agent === undefined || value === null) return [];
  const good = random.chance(agent.right);
  const decidedAt = at + random.between(10, 150) * hourMs;
  const reason = good ? "" : random.pick(story.refusals);
  return [
    submission(scene, { at, agent, field: "mission", value }),
    decision(proseRequests, decidedAt, reason, async (tx, now) => {
      const waiting = await proseRequests.list(tx, { after: null, limit: 100, now });
      const review = waiting.find(({ slug }) => slug === record.slug);
      return review?.id.replace(/^prose-/, "") ?? null;
    }),
  ];
}

/** Looks like an address or a signature of Solana, but no one made it. */
const base58Of = (...names: string[]): string =>
  bs58.encode(Buffer.concat(names.map((text) => sha256Bytes(`almoner sample ${text}`))));

const giftSizes = story.gifts_usdc.map(([usdc = 0, weight = 0]) => [usdc, weight] as const);
const donorsMax = 60;
const giftsMost = 26;

/** Gifts to claimed profiles on the local test chain, which grow from month to month. */
function gifts({ record, random, calendar, outline }: Scene): Happening[] {
  if (record.usdc_wallet === null) return [];
  const recipient = record.usdc_wallet;
  const all = Array.from<unknown, Happening>({ length: random.between(3, giftsMost) }, (_, at) => {
    // The later of two moments, so that late ones are more frequent.
    const age = Math.min(random.below(320 * dayMs), random.below(320 * dayMs));
    const settled_at = calendar.nowMs - hourMs - age;
    const usdc = random.weighted(giftSizes);
    const name = `${calendar.seedNumber} ${record.slug} ${at}`;
    const donor = base58Of(`donor ${random.below(donorsMax)}`);
    const gift = {
      nonprofit_id: record.id,
      amount_micro_usdc: micro(BigInt(usdc) * 1_000_000n),
      network: caip2Of(networks.local),
      tx_signature: base58Of(`gift ${name}`, `of the test chain ${name}`),
      slot: 0,
      commitment: "finalized" as const,
      recipient,
      donor,
      source: base58Of(`account of ${donor}`),
      destination: base58Of(`account of ${recipient}`),
      mint: networks.local.mint,
      memo: null,
      settled_at,
      recorded_at: settled_at + 15_000,
    };
    return { at: settled_at, tell: async (tx) => void (await recordDonation(tx, gift)) };
  });
  const claimed = claimMs(outline.index, calendar);
  return all.filter(({ at }) => at > claimed);
}

const correctionsEvery = 24;

/** Corrections by readers: most are right, some are not, and the newest wait. */
function corrections(scene: Scene): Happening[] {
  const { record, random, calendar, outline } = scene;
  const fields = Object.keys(story.corrections) as (keyof typeof story.corrections)[];
  const field = fields[outline.index % fields.length] ?? "city";
  if (outline.index % correctionsEvery !== 2 || record[field] === null) return [];
  // One in three was sent yesterday, and waits.
  const isNew = outline.index % (3 * correctionsEvery) === 2;
  const at = calendar.nowMs - (isNew ? 1 : random.between(12, 200)) * dayMs + random.below(hourMs);
  const suggested_value = {
    founded_year: String((record.founded_year ?? 1990) - random.between(1, 4)),
    team_size: String((record.team_size ?? 4) + random.between(2, 9)),
    website: `https://www.${hostOf(record.slug)}/home`,
    city: mistakes.city(record.city ?? "", scene),
  }[field];
  const body = { field, what_is_wrong: story.corrections[field], suggested_value };
  const read = readCorrection(body, { thisYear: new Date(at).getUTCFullYear() });
  if (!read.ok) throw new Error(`the sample corrects ${JSON.stringify([body, read.failure])}`);
  const ids = idsOf("correction", calendar, record.slug);
  const reason = random.chance(75) ? "" : story.refused_corrections;
  const decidedAt = at + random.between(1, 9) * dayMs;
  const row = { ...ids, nonprofit_id: record.id, network: null, created_at: at };
  return [
    { at, tell: (tx) => doAll(tx, [correctionStore.add({ ...read.value, ...row })]) },
    decision(correctionRequests, decidedAt, reason, async () => ids.id),
  ];
}

/** The id and digests of a request; `about` distinguishes it from others of its kind. */
function idsOf(kind: string, { seedNumber }: Calendar, about: string) {
  const hex = (text: string) => sha256Bytes(`${text} ${seedNumber} ${about}`).toString("hex");
  return {
    id: hex(kind).slice(0, 20),
    request_digest: hex("request"),
    status_digest: hex("status"),
  };
}

/** Recent claims and a registration, for the operator to decide. */
function requests(unclaimed: readonly Character[], calendar: Calendar): Happening[] {
  const claims = story.claims.flatMap(({ contact_name, mailbox }, at) => {
    const record = unclaimed[at * 7]?.record;
    if (record === undefined) return [];
    const contact_email = `${mailbox}@${hostOf(record.slug)}`;
    return [{ record, body: { claim_slug: record.slug, contact_email, contact_name } }];
  });
  const registrations = story.registrations.map((body) => ({ record: null, body }));
  return [...claims, ...registrations].map(({ record, body }, index) => {
    const at = calendar.nowMs - (index + 1) * dayMs;
    const read = readOnboarding(body, { thisYear: new Date(at).getUTCFullYear() });
    if (!read.ok) throw new Error(`the sample asks ${JSON.stringify([body, read.failure])}`);
    const row = {
      ...idsOf("onboarding", calendar, `${index} ${unclaimed[0]?.record.slug ?? ""}`),
      type: record === null ? ("registration" as const) : ("claim" as const),
      nonprofit_id: record?.id ?? null,
      request: read.value.request,
      duplicates: [],
      wallet_challenge: null,
      wallet_signature: null,
      network: null,
      created_at: at,
    };
    return { at, tell: (tx) => doAll(tx, [onboardingStore.add(row)]) };
  });
}
