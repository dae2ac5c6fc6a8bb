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
import { newestNonprofitId, inConsensus, recordsById } from "#content/nonprofit/record-store.ts";
import { thinFields } from "#content/nonprofit/listing.ts";
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

/**
 * With a filter only so many places are examined, from the first on, so that a rare match costs no scan of millions.
 */
const examinedMax = 20_000;

/**
 * Ids of the profiles that need help most: claimed ones first, then by reach. Profiles of equal rank rotate, starting
 * elsewhere each day. Whole groups of equals are rotated in memory; only the group that the limit cuts is read from the
 * day's pivot, so the cost does not grow with the directory. Index: listings_by_list_order.
 */
export async function needsIds(store: Queryable, needs: NeedsQuery): Promise<number[]> {
  const { limit } = needs;
  const wish = wishOf(needs.filters);
  if (wish === null) return [];
  // Walk the smallest list, so that a small cause does not need a scan of the whole directory.
  const [list = "thin"] = wish.lists;
  const page = (range: Range | null, count: number) => {
    const walk = needs.pending ? pendingWalk(range) : listWalk(range, list);
    return places(store, { ...needs, wish, walk }, count);
  };
  const head = await page(null, limit + 1);
  if (head.length === 0) return [];
  const pivot = await pivotOf(store, needs);
  const before = (place: Place) => isBefore(place, pivot);
  const pageRows = head.slice(0, limit);
  const last = pageRows.at(-1)?.list_order;
  const isCut = head.length > limit && head.at(-1)?.list_order === last;
  const completeRows = pageRows.filter(({ list_order }) => !isCut || list_order !== last);
  const groups = Map.groupBy(completeRows, ({ list_order }) => list_order);
  const rotatedRows = [...groups.values()].flatMap((group) => rotate(group, before));
  if (isCut && last !== undefined) {
    const within = { list_order: last, pivot };
    rotatedRows.push(...(await page({ ...within, side: ">=" }, limit - rotatedRows.length)));
    const missingCount = limit - rotatedRows.length;
    if (missingCount > 0) rotatedRows.push(...(await page({ ...within, side: "<" }, missingCount)));
  }
  return rotatedRows.map(({ nonprofit_id }) => nonprofit_id);
}

/** Part of a group of equals: from the pivot on, or before it. */
type Range = { list_order: number; pivot: Omit<Place, "list_order">; side: ">=" | "<" };

async function places(
  store: Queryable,
  { field, wish, walk }: Pick<NeedsQuery, "field"> & { wish: Wish; walk: Walk },
  count: number,
): Promise<Place[]> {
  const order = "ORDER BY list_order, tie_key, nonprofit_id";
  const { lists, words } = wish;
  const otherLists = [...lists, "thin"].filter((list) => !walk.lists.includes(list));
  const ofProfile = [
    ...(field === null ? [] : [`(${field} IS NULL OR ${field} = '')`]),
    ...words.map(() => "instr(' ' || search_facets || ' ', ?) > 0"),
  ].join(" AND ");
  const filters = [
    ...(ofProfile === ""
      ? []
      : [`AND EXISTS (SELECT 1 FROM nonprofits WHERE id = nonprofit_id AND ${ofProfile})`]),
    ...otherLists.map(
      () =>
        "AND EXISTS (SELECT 1 FROM listings AS o WHERE o.nonprofit_id = walked.nonprofit_id AND o.list = ?)",
    ),
  ];
  const examinedCount = filters.length === 0 ? count : examinedMax;
  // SQL, because the walk and its filters depend on the query.
  return query(
    store,
    `SELECT * FROM (${walk.sql} LIMIT ${examinedCount}) AS walked
     WHERE true ${filters.join(" ")}
     ${order}
     LIMIT ?`,
    [...walk.args, ...words.map((word) => ` ${word} `), ...otherLists, count],
    Place,
  );
}

/** A query of places in order. All of its places are in `lists`, so those need no test. */
type Walk = { sql: string; args: (string | number)[]; lists: readonly string[] };

/** What agents reported missing, most often first; several reports of one network on a day count once. */
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
async function missedProfiles(store: Queryable, needs: NeedsQuery): Promise<Map<number, number>> {
  const wish = needs.pending ? null : wishOf(needs.filters);
  if (wish === null) return new Map();
  const filterValue = (filter: "cause" | "country") =>
    wantedBy(filter, needs.filters[filter] ?? "");
  const half = Math.ceil(needs.limit / 2);
  const gapPlaces = await places(store, { ...needs, wish, walk: gapWalk }, half);
  const missCounts = new Map(gapPlaces.map((place) => [place.nonprofit_id, -place.list_order]));
  const [most] = await query(
    store,
    `SELECT field, cause, country_code, count(DISTINCT day || network) AS count FROM gaps
     WHERE nonprofit_id IS NULL AND coalesce(cause, country_code) IS NOT NULL
       AND field IS coalesce(?, field) AND cause IS coalesce(?, cause) AND country_code IS coalesce(?, country_code)
     GROUP BY field, cause, country_code ORDER BY count DESC, max(id) DESC LIMIT 1`,
    [needs.field, filterValue("cause"), filterValue("country")],
    GapCounts.shape.gaps.element,
  );
  if (most === undefined || missCounts.size === half) return missCounts;
  const field = wantedFields.find((wantedField) => wantedField === most.field) ?? null;
  const filters = { ...needs.filters, cause: most.cause, country: most.country_code };
  const otherIds = await needsIds(store, {
    ...needs,
    field,
    filters,
    limit: half - missCounts.size,
  });
  for (const id of otherIds) missCounts.set(id, most.count + (missCounts.get(id) ?? 0));
  return missCounts;
}

/** What filters require: lists to stand in, and words in the search index. */
type Wish = { lists: string[]; words: string[] };

/** The lists of the cause and country, in this order, and the words for other filters; null if nothing can match. */
function wishOf(filters: Filters): Wish | null {
  const wish: Wish = { lists: [], words: [] };
  for (const [filter, text] of givenFilters(filters)) {
    const value = wantedBy(filter, text);
    if (value === null) return null;
    const hasList = (filter === "cause" && value !== noCause) || filter === "country";
    if (hasList) wish.lists.push(`${filter}:${value}`);
    else wish.words.push(filterWord(filter, value));
  }
  return wish;
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
  const storedTotals = await directoryFact(store, "help_wanted_totals");
  return storedTotals === null
    ? { total_enrichments_received: 0, second_opinions_available: 0 }
    : (JSON.parse(storedTotals) as NeedsTotals);
}

/**
 * GET /api/needs-enrichment. Pending submissions change without a change of public data, so the bundle leaves out second
 * opinions and gaps (`secondOpinions: null`); the service includes them for its consensus mode.
 */
export async function needsAnswer(
  store: Queryable,
  needs: NeedsQuery,
  context: { baseUrl: string; totals: NeedsTotals; secondOpinions: ConsensusMode | null },
): Promise<Needs> {
  const gaps = context.secondOpinions === null ? new Map() : await missedProfiles(store, needs);
  const all = new Set([...gaps.keys(), ...(await needsIds(store, needs))]);
  const ids = [...all].slice(0, needs.limit);
  const records = await recordsById(store, ids, { summaries: true });
  const opinions =
    context.secondOpinions === null
      ? new Map<number, SecondOpinion[]>()
      : await secondOpinions(store, records, { ...context, mode: context.secondOpinions });
  return {
    message: `These profiles lack data. Research a field, then POST it to enrich_url; a structured field goes live when ${consensus[context.secondOpinions ?? "agents"].agreeing} agree.`,
    ...context.totals,
    note: unknownNote(needs.filters, ids.length),
    nonprofits: records.map((record) => ({
      ...itemOf(record, opinions.get(record.id), context.baseUrl),
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
  const waitingFields = await store.db
    .select({ id: pendingFields.nonprofit_id, field: pendingFields.field })
    .from(pendingFields)
    .where(inValues(pendingFields.nonprofit_id, [...slugs.keys()]))
    .orderBy(asc(pendingFields.nonprofit_id), asc(pendingFields.field));
  const opinions = new Map<number, SecondOpinion[]>();
  for (const { id, field } of waitingFields) {
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
