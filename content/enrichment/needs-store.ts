import { asc, gte } from "drizzle-orm";
import { z } from "zod";
import { wireTime, dayMs } from "#content/contract/base/time.ts";
import { type Filters, givenFilters, noCause, noFilters } from "#content/contract/browse.ts";
import { GapCounts } from "#content/contract/correction.ts";
import type { Needs, SecondOpinion, ThinProfile } from "#content/contract/enrichment-answers.ts";
import {
  enrichableFields,
  isRowField,
  needsLimit,
  type WantedField,
  wantedFields,
} from "#content/contract/enrichment.ts";
import consensus from "#content/editorial/second-opinions.json";
import { unknownNote } from "#content/find/query.ts";
import { countryName } from "#content/nonprofit/country.ts";
import { filterWord, wantedBy } from "#content/nonprofit/filters.ts";
import { newestNonprofitId } from "#content/nonprofit/list-store.ts";
import { thinFields } from "#content/nonprofit/listing.ts";
import { inConsensus, recordsById } from "#content/nonprofit/record-store.ts";
import { publicName } from "#content/nonprofit/public-name.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { publicValue } from "#content/nonprofit/wire.ts";
import { directoryFact } from "#content/store/facts.ts";
import type { Queryable } from "#content/store/open.ts";
import { inValues, query } from "#content/store/query.ts";
import { pendingFields } from "#content/store/tables/enrichment.ts";
import { listings } from "#content/store/tables/nonprofits.ts";
import type { ConsensusMode } from "./consensus.ts";
import { submissionCount } from "./leaderboard-store.ts";

export type NeedsQuery = {
  /** "YYYY-MM-DD": the order of profiles of equal rank rotates daily. */
  day: string;
  limit: number;
  field: WantedField | null;
  filters: Filters;
  /** Only profiles with a value that waits for a second agent. */
  pending: boolean;
};

const Place = z.object({ list_order: z.number(), tie_key: z.string(), nonprofit_id: z.number() });
type Place = z.infer<typeof Place>;

/** With a filter, only this many of the first places are examined, so that a rare filter does not scan millions. */
const examinedMax = 20_000;

/**
 * Ids of the profiles that need help most: claimed ones first, then by reach. Profiles of equal rank rotate, starting
 * elsewhere each day. Whole groups of equals are rotated in memory; only the group that the limit cuts is read from the
 * day's pivot, so the cost does not grow with the directory. Index: listings_by_list_order.
 */
export async function needsIds(store: Queryable, asked: NeedsQuery): Promise<number[]> {
  const { limit } = asked;
  const wanted = wantedIn(asked.filters);
  if (wanted === null) return [];
  // Walk the smallest list, so that a small cause does not need a scan of the whole directory.
  const [list = "thin"] = wanted.lists;
  const page = (range: Range | null, count: number) => {
    const walk = asked.pending ? pendingWalk(range) : listWalk(range, list);
    return places(store, { ...asked, wanted, walk }, count);
  };
  const head = await page(null, limit + 1);
  if (head.length === 0) return [];
  const pivot = await pivotOf(store, asked);
  const before = (place: Place) => isBefore(place, pivot);
  const pageRows = head.slice(0, limit);
  const last = pageRows.at(-1)?.list_order;
  const isCut = head.length > limit && head.at(-1)?.list_order === last;
  const whole = pageRows.filter(({ list_order }) => !isCut || list_order !== last);
  const groups = Map.groupBy(whole, ({ list_order }) => list_order);
  const rotated = [...groups.values()].flatMap((group) => rotate(group, before));
  if (isCut && last !== undefined) {
    const within = { list_order: last, pivot };
    rotated.push(...(await page({ ...within, side: ">=" }, limit - rotated.length)));
    const missing = limit - rotated.length;
    if (missing > 0) rotated.push(...(await page({ ...within, side: "<" }, missing)));
  }
  return rotated.map(({ nonprofit_id }) => nonprofit_id);
}

/** Part of a group of equals: the places from the pivot on, or those before it. */
type Range = { list_order: number; pivot: Omit<Place, "list_order">; side: ">=" | "<" };

async function places(
  store: Queryable,
  { field, wanted, walk }: Pick<NeedsQuery, "field"> & { wanted: Wish; walk: Walk },
  count: number,
): Promise<Place[]> {
  const order = "ORDER BY list_order, tie_key, nonprofit_id";
  const { lists, words } = wanted;
  const others = [...lists, "thin"].filter((list) => !walk.lists.includes(list));
  const ofProfile = [
    ...(field === null ? [] : [`(${field} IS NULL OR ${field} = '')`]),
    ...words.map(() => "instr(' ' || search_facets || ' ', ?) > 0"),
  ].join(" AND ");
  const filters = [
    ...(ofProfile === ""
      ? []
      : [`AND EXISTS (SELECT 1 FROM nonprofits WHERE id = nonprofit_id AND ${ofProfile})`]),
    ...others.map(
      () =>
        "AND EXISTS (SELECT 1 FROM listings AS o WHERE o.nonprofit_id = walked.nonprofit_id AND o.list = ?)",
    ),
  ];
  const examined = filters.length === 0 ? count : examinedMax;
  // SQL, because the walk and its filters depend on the query.
  return query(
    store,
    `SELECT * FROM (${walk.sql} LIMIT ${examined}) AS walked
     WHERE true ${filters.join(" ")}
     ${order}
     LIMIT ?`,
    [...walk.args, ...words.map((word) => ` ${word} `), ...others, count],
    Place,
  );
}

/** A query of places in order. All of its places are in `lists`, so those need no test. */
type Walk = { sql: string; args: (string | number)[]; lists: readonly string[] };

/** Profiles in which agents reported gaps, most reports first; a network counts once per day. */
const gapWalk: Walk = {
  sql: `SELECT -count(DISTINCT day || network) AS list_order, '' AS tie_key, nonprofit_id FROM gaps
        WHERE nonprofit_id IS NOT NULL GROUP BY nonprofit_id ORDER BY list_order, nonprofit_id`,
  args: [],
  lists: [],
};

/**
 * How many gaps agents reported in matching profiles: those they named, then profiles that lack what was reported most in a
 * cause or country. They fill at most half of an answer, so that someone who reports a lot cannot choose it alone.
 */
async function missedProfiles(store: Queryable, asked: NeedsQuery): Promise<Map<number, number>> {
  const wanted = asked.pending ? null : wantedIn(asked.filters);
  if (wanted === null) return new Map();
  const meant = (filter: "cause" | "country") => wantedBy(filter, asked.filters[filter] ?? "");
  const half = Math.ceil(asked.limit / 2);
  const named = await places(store, { ...asked, wanted, walk: gapWalk }, half);
  const missed = new Map(named.map((place) => [place.nonprofit_id, -place.list_order]));
  const [most] = await query(
    store,
    `SELECT field, cause, country_code, count(DISTINCT day || network) AS count FROM gaps
     WHERE nonprofit_id IS NULL AND coalesce(cause, country_code) IS NOT NULL
       AND field IS coalesce(?, field) AND cause IS coalesce(?, cause) AND country_code IS coalesce(?, country_code)
     GROUP BY field, cause, country_code ORDER BY count DESC, max(id) DESC LIMIT 1`,
    [asked.field, meant("cause"), meant("country")],
    GapCounts.shape.gaps.element,
  );
  if (most === undefined || missed.size === half) return missed;
  const field = wantedFields.find((wantedField) => wantedField === most.field) ?? null;
  const filters = { ...asked.filters, cause: most.cause, country: most.country_code };
  const others = await needsIds(store, { ...asked, field, filters, limit: half - missed.size });
  for (const id of others) missed.set(id, most.count + (missed.get(id) ?? 0));
  return missed;
}

/** What filters require: lists that must contain the profile, and words that the search index must hold for it. */
type Wish = { lists: string[]; words: string[] };

/** The lists of the cause and country, in this order, and the words for other filters; null if nothing can match. */
function wantedIn(filters: Filters): Wish | null {
  const wanted: Wish = { lists: [], words: [] };
  for (const [filter, asked] of givenFilters(filters)) {
    const value = wantedBy(filter, asked);
    if (value === null) return null;
    const hasList = (filter === "cause" && value !== noCause) || filter === "country";
    if (hasList) wanted.lists.push(`${filter}:${value}`);
    else wanted.words.push(filterWord(filter, value));
  }
  return wanted;
}

/** Walks the profiles of a list in order. Index: listings_by_list_order. */
function listWalk(range: Range | null, list: string): Walk {
  const within =
    range === null ? "" : `AND list_order = ? AND (tie_key, nonprofit_id) ${range.side} (?, ?)`;
  const pivot =
    range === null ? [] : [range.list_order, range.pivot.tie_key, range.pivot.nonprofit_id];
  return {
    sql: `SELECT list_order, tie_key, nonprofit_id FROM listings WHERE list = ? ${within}
          ORDER BY list_order, tie_key, nonprofit_id`,
    args: [list, ...pivot],
    lists: [list],
  };
}

/** Walks the profiles with a value that waits for a second agent, each once. Index: pending_fields_by_order. */
function pendingWalk(range: Range | null): Walk {
  const within = range === null ? "" : `WHERE list_order = ? AND nonprofit_id ${range.side} ?`;
  return {
    sql: `SELECT list_order, '' AS tie_key, nonprofit_id FROM pending_fields ${within}
          GROUP BY list_order, nonprofit_id
          ORDER BY list_order, nonprofit_id`,
    args: range === null ? [] : [range.list_order, range.pivot.nonprofit_id],
    lists: ["thin"],
  };
}

/** The place at which the day's rotation of equals begins: that of a nonprofit chosen by the day. */
async function pivotOf(
  store: Queryable,
  { day, pending }: NeedsQuery,
): Promise<Omit<Place, "list_order">> {
  const id = 1 + dayPivot(day, await newestNonprofitId(store));
  if (pending) return { tie_key: "", nonprofit_id: id };
  const { tie_key, nonprofit_id } = listings;
  const [place] = await store.db
    .select({ tie_key, nonprofit_id })
    .from(listings)
    .where(gte(nonprofit_id, id))
    .orderBy(asc(nonprofit_id))
    .limit(1);
  return place ?? { tie_key: "", nonprofit_id: 0 };
}

/** Compares as the index does: by the bytes of the name, then by id. */
function isBefore(place: Place, pivot: Omit<Place, "list_order">): boolean {
  const names = Buffer.compare(Buffer.from(place.tie_key), Buffer.from(pivot.tie_key));
  return names < 0 || (names === 0 && place.nonprofit_id < pivot.nonprofit_id);
}

export type NeedsTotals = Pick<Needs, "total_enrichments_received" | "second_opinions_available">;

/** The query of GET /api/needs-enrichment without parameters on that day. */
export const needsDefault = (day: string): NeedsQuery => ({
  day,
  limit: needsLimit.default,
  field: null,
  filters: noFilters,
  pending: false,
});

/** The current totals. The bundle uses the stored ones instead, so that it depends only on the store. */
export const needsTotals = async (store: Queryable): Promise<NeedsTotals> => ({
  total_enrichments_received: await submissionCount(store),
  second_opinions_available: await store.db.$count(pendingFields),
});

/** The totals that were last stored with `saveDirectoryFact`. */
export async function storedNeedsTotals(store: Queryable): Promise<NeedsTotals> {
  const stored = await directoryFact(store, "help_wanted_totals");
  return stored === null
    ? { total_enrichments_received: 0, second_opinions_available: 0 }
    : (JSON.parse(stored) as NeedsTotals);
}

/**
 * GET /api/needs-enrichment. Pending submissions change without a change of public data, so the bundle leaves out second
 * opinions and gaps (`secondOpinions: null`); the service includes them for its consensus mode.
 */
export async function needsAnswer(
  store: Queryable,
  asked: NeedsQuery,
  shown: { baseUrl: string; totals: NeedsTotals; secondOpinions: ConsensusMode | null },
): Promise<Needs> {
  const gaps = shown.secondOpinions === null ? new Map() : await missedProfiles(store, asked);
  const all = new Set([...gaps.keys(), ...(await needsIds(store, asked))]);
  const ids = [...all].slice(0, asked.limit);
  const records = await recordsById(store, ids, { summaries: true });
  const opinions =
    shown.secondOpinions === null
      ? new Map<number, SecondOpinion[]>()
      : await secondOpinions(store, records, { ...shown, mode: shown.secondOpinions });
  return {
    message: `These profiles lack data. Research a field, then POST it to enrich_url; a structured field goes live when ${consensus[shown.secondOpinions ?? "agents"].agreeing} agree.`,
    ...shown.totals,
    note: unknownNote(asked.filters, ids.length),
    nonprofits: records.map((record) => ({
      ...itemOf(record, opinions.get(record.id), shown.baseUrl),
      ...(gaps.has(record.id) && { gaps: gaps.get(record.id) }),
    })),
  };
}

const itemOf = (
  record: NonprofitRecord,
  opinions: SecondOpinion[] | undefined,
  baseUrl: string,
): ThinProfile => ({
  slug: record.slug,
  name: record.name,
  country: countryName(record.country_code),
  causes: record.causes,
  needs_fields: thinFields(record),
  ...(opinions === undefined ? {} : { second_opinion_needed: opinions }),
  current_data: Object.fromEntries(
    currentFields.map((field) => {
      const value = record[field] === "" ? null : record[field];
      return [field, typeof value === "string" ? publicValue(field, value) : value];
    }),
  ),
  enrich_url: enrichUrl(baseUrl, record.slug),
});

/** The enrichable fields that are columns of a profile; programmes and metrics are rows of other tables. */
const currentFields = enrichableFields.filter((field) => !isRowField(field));

const enrichUrl = (baseUrl: string, slug: string): string => `${baseUrl}/api/enrich/${slug}`;

/** A field may have many rival values; the earliest three are enough for an agent that checks them. */
const opinionsPerFieldMax = 3;

const Opinion = z.object({
  value: z.string(),
  agent_id: z.string(),
  agent_name: z.string(),
  created_at: z.number(),
});

/**
 * The pending values that need one more agent, by nonprofit, oldest first, each as it was first sent. In the strict mode, a
 * value that several agents of one network sent still needs an agent from another network.
 */
async function secondOpinions(
  store: Queryable,
  records: readonly NonprofitRecord[],
  { baseUrl, mode }: { baseUrl: string; mode: ConsensusMode },
): Promise<Map<number, SecondOpinion[]>> {
  const slugs = new Map(records.map(({ id, slug }) => [id, slug]));
  const waiting = await store.db
    .select({ id: pendingFields.nonprofit_id, field: pendingFields.field })
    .from(pendingFields)
    .where(inValues(pendingFields.nonprofit_id, [...slugs.keys()]))
    .orderBy(asc(pendingFields.nonprofit_id), asc(pendingFields.field));
  const opinions = new Map<number, SecondOpinion[]>();
  for (const { id, field } of waiting) {
    // SQL, because it runs up to once for each field of each profile shown.
    const rows = await query(
      store,
      `SELECT value, agent_id, agent_name, created_at, min(id) AS first FROM submissions
       WHERE nonprofit_id = ? AND field = ? AND ${inConsensus} AND test_data = 0
       GROUP BY normalised_value
       ORDER BY first
       LIMIT ${opinionsPerFieldMax}`,
      [id, field],
      Opinion,
    );
    const needs = rows.map((row) => ({
      field,
      pending_value: publicValue(field, row.value),
      submitted_by: publicName(row),
      submitted_at: wireTime(new Date(row.created_at)),
      action: `Research ${field} yourself. If you find the same value, POST it to ${enrichUrl(baseUrl, slugs.get(id) ?? "")} with your own agent_id: ${consensus[mode].second} makes it live. If you find another, POST that.`,
    }));
    if (needs.length > 0) opinions.set(id, [...(opinions.get(id) ?? []), ...needs]);
  }
  return opinions;
}

/**
 * A number from 0 to `below` - 1 that changes daily and is evenly spread: where the day's rotation of equals begins. It is
 * FNV-1a of the day ("YYYY-MM-DD") with a final mix, so that the numbers of neighbouring days are far apart.
 */
export function dayPivot(day: string, below: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < day.length; at++) {
    hash = Math.imul(hash ^ day.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % Math.max(1, below);
}

/** Rotates the items so that the first one at or after the pivot comes first. The order is kept otherwise. */
export function rotate<Item>(items: readonly Item[], isEarlier: (item: Item) => boolean): Item[] {
  const start = items.findIndex((item) => !isEarlier(item));
  return start < 1 ? [...items] : [...items.slice(start), ...items.slice(0, start)];
}

/**
 * The day's share: `count` items that follow on from those of the day before ("YYYY-MM-DD") and wrap around at the end of
 * the list. All items, in order, if there are no more than `count`.
 */
export function shareOfDay<Item>(items: readonly Item[], day: string, count: number): Item[] {
  if (items.length <= count) return [...items];
  const start = (Math.floor(Date.parse(`${day}T00:00:00Z`) / dayMs) * count) % items.length;
  return [...items.slice(start), ...items.slice(0, start)].slice(0, count);
}
