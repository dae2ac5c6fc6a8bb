import type { Context } from "#api/context.ts";
import { batchMax, type Candidate } from "#content/contract/reconciliation.ts";
import { type SearchQuery, unfiltered } from "#content/contract/search.ts";
import { countryOf, countryName } from "#content/nonprofit/country.ts";
import { sameSite } from "#content/onboarding/duplicate-store.ts";
import { idsBySlug, summarisedById } from "#content/nonprofit/record-store.ts";
import {
  type Lookup,
  certain,
  featureNames,
  isWhereRequired,
  type Match,
  matchFrom,
  ranked,
} from "#content/reconciliation/match.ts";
import { type } from "#content/reconciliation/manifest.ts";
import type { SummarySource } from "#content/nonprofit/wire.ts";
import { knownByOrgId } from "#content/register/standing-store.ts";

type Searching = Pick<Context, "store" | "search">;

/** Number of candidates considered for each name. */
const lookedAt = 10;
/** Concurrent searches of one batch: other readers get their turn in between. */
const atOnce = 4;

/**
 * The candidates for each query, best first. A register number or an id decides alone. Otherwise the directory's search
 * finds candidates for the name; if none of them is a match, it searches again: in the city, or anywhere.
 */
export async function reconcile(
  context: Searching,
  all: readonly Lookup[],
): Promise<Candidate[][]> {
  const matches = await namedByNumber(context, all);
  for (const lookup of all) {
    if (lookup.sites.length > 0 && !matches.has(lookup) && !isNumberRequired(lookup))
      matches.set(lookup, await atSite(context, lookup));
  }
  const rank = async (
    open: readonly Lookup[],
    queryOf: (lookup: Lookup) => Partial<SearchQuery>,
  ) => {
    const pages = await inTurns(open, (lookup) =>
      context.search.page({ ...anything, ...queryOf(lookup) }),
    );
    const before = open.map((lookup) =>
      (matches.get(lookup) ?? []).map(({ candidate: { id } }) => id),
    );
    const ids = pages.map((page, at) => [...new Set([...(before[at] ?? []), ...page.ids])]);
    const items = await summarisedById(context.store, ids.flat());
    for (const [at, lookup] of open.entries()) {
      const candidates = (ids[at] ?? []).flatMap((id) => items.get(id) ?? []);
      const [only] = candidates;
      const isNumber = pages[at]?.understood.number !== null && only !== undefined;
      matches.set(lookup, isNumber ? [certain(only)] : ranked(lookup, candidates));
    }
  };
  const isOpen = (lookup: Lookup) =>
    lookup.name !== "" && matches.get(lookup)?.[0]?.match !== true && !isNumberRequired(lookup);
  await rank(all.filter(isOpen), ({ name, places: { country = [] } }) => {
    const isCountry = country.length === 1 && countryOf(country[0] ?? "") !== null;
    return { q: name, country: isCountry ? (country[0] ?? null) : null, enough: 1 };
  });
  await rank(all.filter(isOpen), ({ name, places: { city = [] } }) => ({
    q: city.length === 1 ? `${name} in ${city[0]}` : name,
  }));
  return all.map((lookup) =>
    (matches.get(lookup) ?? [])
      .filter(({ candidate }) => isWhereRequired(lookup, candidate))
      .slice(0, lookup.limit)
      .map(candidateOf),
  );
}

const anything: SearchQuery = { ...unfiltered, q: null, limit: lookedAt, offset: 0 };

const numbers = ["org_id", "id"] as const;
const isNumberRequired = ({ required }: Lookup) => numbers.some((of) => required.includes(of));

/** Matches by register number or slug; by both where both are required. */
async function namedByNumber({ store }: Searching, all: readonly Lookup[]) {
  const orgIds = [...new Set(all.flatMap((lookup) => lookup.orgIds))];
  const profiles = orgIds.length === 0 ? [] : await knownByOrgId(store, orgIds);
  const slugOf = new Map(orgIds.map((orgId, at) => [orgId, profiles[at]?.profile?.slug]));
  const slugsOf = ({ orgIds: ofLookup, ids, required }: Lookup) => {
    const slugsBy = { org_id: ofLookup.flatMap((orgId) => slugOf.get(orgId) ?? []), id: ids };
    return [...slugsBy.org_id, ...ids].filter((slug) =>
      numbers.every((of) => !required.includes(of) || slugsBy[of].includes(slug)),
    );
  };
  const slugs = all.flatMap(slugsOf);
  const idOf = slugs.length === 0 ? new Map<string, number>() : await idsBySlug(store, slugs);
  const items = await summarisedById(store, [...idOf.values()]);
  const matches = new Map<Lookup, Match<SummarySource>[]>();
  for (const lookup of all) {
    const [slug] = slugsOf(lookup).filter((each) => idOf.has(each));
    const item = items.get(idOf.get(slug ?? "") ?? 0);
    if (item !== undefined) matches.set(lookup, [certain(item)]);
  }
  return matches;
}

/** Nonprofits with this website. If several share it, none counts as the match. */
async function atSite({ store }: Searching, { sites }: Lookup) {
  const website = sites[0] ?? null;
  const items = [...(await summarisedById(store, await sameSite(store, { website }))).values()];
  return items.length === 1
    ? items.map((item) => certain(item, {}))
    : items.map((candidate) => ({ candidate, score: matchFrom, features: {}, match: false }));
}

async function inTurns<Item, Value>(items: readonly Item[], work: (item: Item) => Promise<Value>) {
  const done: Value[] = [];
  for (let at = 0; at < items.length; at += atOnce) {
    done.push(...(await Promise.all(items.slice(at, at + atOnce).map(work))));
  }
  return done;
}

const candidateOf = ({ candidate, score, match, features }: Match<SummarySource>): Candidate => ({
  id: candidate.slug,
  name: candidate.name,
  description: placeOf(candidate),
  type: [type],
  score,
  match,
  features: Object.entries(features).map(([id, value]) => ({
    id,
    name: featureNames[id as keyof typeof featureNames],
    value: Math.round(value * 1_000) / 1_000,
  })),
});

/** "Honolulu, Hawaii, United States". */
export const placeOf = ({
  city,
  region,
  country_code,
}: Pick<SummarySource, "city" | "region" | "country_code">): string =>
  [city, region, countryName(country_code)].filter((part) => part !== null).join(", ");

/** Suggestions for typed text: names that start with it, and the nonprofit with this slug or number. */
export async function suggested(
  context: Searching,
  { prefix = "", limit, from }: { prefix?: string | undefined; limit: number; from: number },
) {
  const [{ ids }, slugs] = await Promise.all([
    context.search.page({ ...anything, q: prefix || null, limit, offset: from }),
    idsBySlug(context.store, [prefix]),
  ]);
  const all = [...new Set([...(from === 0 ? slugs.values() : []), ...ids])].slice(0, limit);
  const items = await summarisedById(context.store, all);
  return all
    .flatMap((id) => items.get(id) ?? [])
    .map((item) => ({
      id: item.slug,
      name: item.name,
      description: placeOf(item),
      notable: [type],
    }));
}

/** Reconciles more lookups than one batch may have, batch by batch. */
export async function reconcileMany(context: Searching, all: readonly Lookup[]) {
  const candidates: Candidate[][] = [];
  for (let at = 0; at < all.length; at += batchMax)
    candidates.push(...(await reconcile(context, all.slice(at, at + batchMax))));
  return candidates;
}
