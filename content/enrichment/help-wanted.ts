import { dayPivot, rotate } from "./rotation.ts";
import { causeIds } from "#content/contract/cause.ts";
import type { Queryable } from "#content/store/open.ts";

/** The fields by which GET /api/needs-enrichment can be narrowed. Source: spec, "Enrichment". */
export const helpWantedFilters = ["mission", "description", "website", "contact_email"] as const;
export type HelpWantedFilter = (typeof helpWantedFilters)[number];

export type HelpWantedQuery = {
  /** "YYYY-MM-DD": equals rotate daily. */
  day: string;
  limit: number;
  field: HelpWantedFilter | null;
  cause: string | null;
  /** Only profiles that wait for a second agent. */
  pending: boolean;
};

type Place = { list_order: number; name_key: string; nonprofit_id: number };

/** With a filter so many places are looked at, the foremost first, so that a rare one costs no scan of millions. */
const examinedMax = 20_000;

/**
 * Ids of the profiles that need help most: claimed first, then reach, and among equals a rotation that begins elsewhere
 * each day. Whole groups of equals are rotated in memory; only the one that the limit cuts is entered at the day's
 * pivot, so the cost does not grow with the directory. Index: listings_by_list_order.
 */
export async function helpWantedIds(store: Queryable, query: HelpWantedQuery): Promise<number[]> {
  const { limit } = query;
  const cause = query.cause?.trim().toLowerCase() ?? null;
  if (cause !== null && !causeIds.includes(cause)) return [];
  const page = (range: Range | null, count: number) =>
    places(store, { ...query, cause }, range, count);
  const head = await page(null, limit + 1);
  if (head.length === 0) return [];
  const pivot = await pivotOf(store, query);
  const before = (place: Place) => isBefore(place, pivot);
  const shown = head.slice(0, limit);
  const last = shown.at(-1)?.list_order;
  const isCut = head.length > limit && head.at(-1)?.list_order === last;
  const whole = shown.filter(({ list_order }) => !isCut || list_order !== last);
  const rotated = groups(whole).flatMap((group) => rotate(group, before));
  if (isCut && last !== undefined) {
    const within = { list_order: last, pivot };
    rotated.push(...(await page({ ...within, side: ">=" }, limit - rotated.length)));
    const missing = limit - rotated.length;
    if (missing > 0) rotated.push(...(await page({ ...within, side: "<" }, missing)));
  }
  return rotated.map(({ nonprofit_id }) => nonprofit_id);
}

/** A part of one group of equals: what stands at the pivot and behind it, or before it. */
type Range = { list_order: number; pivot: Omit<Place, "list_order">; side: ">=" | "<" };

async function places(
  store: Queryable,
  { field, cause, pending }: HelpWantedQuery,
  range: Range | null,
  count: number,
): Promise<Place[]> {
  const order = "ORDER BY list_order, name_key, nonprofit_id";
  const walk = pending ? pendingWalk(range) : listWalk(range, cause);
  const filters = [
    field === null
      ? ""
      : `AND EXISTS (SELECT 1 FROM nonprofits WHERE id = nonprofit_id AND (${field} IS NULL OR ${field} = ''))`,
    // A cause's own list is walked, so that a small cause is no needle in the whole directory.
    cause === null || pending
      ? ""
      : "AND EXISTS (SELECT 1 FROM listings AS thin WHERE thin.nonprofit_id = walked.nonprofit_id AND thin.list = 'thin')",
    cause === null || !pending
      ? ""
      : "AND EXISTS (SELECT 1 FROM nonprofit_causes AS c WHERE c.nonprofit_id = walked.nonprofit_id AND c.cause_id = ?)",
  ].filter((filter) => filter !== "");
  const examined = filters.length === 0 ? count : examinedMax;
  const { rows } = await store.raw.execute({
    sql: `SELECT * FROM (${walk.sql} LIMIT ${examined}) AS walked
          WHERE true ${filters.join(" ")}
          ${order}
          LIMIT ?`,
    args: [...walk.args, ...(cause !== null && pending ? [cause] : []), count],
  });
  return rows.map((row) => ({ ...row }) as unknown as Place);
}

type Walk = { sql: string; args: (string | number)[] };

/** The thin profiles, or a cause's, in their order. Index: listings_by_list_order. */
function listWalk(range: Range | null, cause: string | null): Walk {
  const within =
    range === null ? "" : `AND list_order = ? AND (name_key, nonprofit_id) ${range.side} (?, ?)`;
  const pivot =
    range === null ? [] : [range.list_order, range.pivot.name_key, range.pivot.nonprofit_id];
  return {
    sql: `SELECT list_order, name_key, nonprofit_id FROM listings WHERE list = ? ${within}
          ORDER BY list_order, name_key, nonprofit_id`,
    args: [cause === null ? "thin" : `cause:${cause}`, ...pivot],
  };
}

/** The profiles that wait for a second agent, each once. Index: pending_fields_by_order. */
function pendingWalk(range: Range | null): Walk {
  const within = range === null ? "" : `WHERE list_order = ? AND nonprofit_id ${range.side} ?`;
  return {
    sql: `SELECT list_order, '' AS name_key, nonprofit_id FROM pending_fields ${within}
          GROUP BY list_order, nonprofit_id
          ORDER BY list_order, nonprofit_id`,
    args: range === null ? [] : [range.list_order, range.pivot.nonprofit_id],
  };
}

/** Where the day begins among equals: at the place of a nonprofit picked by the day. */
async function pivotOf(
  store: Queryable,
  { day, pending }: HelpWantedQuery,
): Promise<Omit<Place, "list_order">> {
  const newest = await store.raw.execute({ sql: "SELECT max(id) AS id FROM nonprofits", args: [] });
  const id = 1 + dayPivot(day, Number(newest.rows[0]?.["id"] ?? 0));
  if (pending) return { name_key: "", nonprofit_id: id };
  const { rows } = await store.raw.execute({
    sql: "SELECT name_key, nonprofit_id FROM listings WHERE nonprofit_id >= ? ORDER BY nonprofit_id LIMIT 1",
    args: [id],
  });
  const [row] = rows;
  return {
    name_key: String(row?.["name_key"] ?? ""),
    nonprofit_id: Number(row?.["nonprofit_id"] ?? 0),
  };
}

/** The order of the index: bytes of the name, then the id. */
function isBefore(place: Place, pivot: Omit<Place, "list_order">): boolean {
  const names = Buffer.compare(Buffer.from(place.name_key), Buffer.from(pivot.name_key));
  return names < 0 || (names === 0 && place.nonprofit_id < pivot.nonprofit_id);
}

function groups(places_: readonly Place[]): Place[][] {
  const found: Place[][] = [];
  for (const place of places_) {
    const group = found.at(-1);
    if (group?.[0]?.list_order === place.list_order) group.push(place);
    else found.push([place]);
  }
  return found;
}
