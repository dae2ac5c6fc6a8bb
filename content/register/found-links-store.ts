import { and, isNotNull, ne, or, sql } from "drizzle-orm";
import { z } from "zod";
import type { Queryable } from "#content/store/open.ts";
import { inValues, jsonText, query, valuesOf } from "#content/store/query.ts";
import { nonprofits, registrationLinks } from "#content/store/tables/nonprofits.ts";
import {
  type FoundBy,
  inOrderOfStaying,
  type Registrations,
  sameOrganisations,
  siteHost,
} from "./same-organisation.ts";

/** The part of a profile that matters for links. */
type Linkable = Registrations & { id: number; slug: string; belongs: boolean };

/** Two profiles of one organisation, which of them stays, and whether an operator has to decide. */
export type FoundLink = { kept: Linkable; gone: Linkable; source: FoundBy; waits: boolean };

/**
 * Profiles of the same organisations as these (by id), without links that were decided before. Uses indexes only: about 0.05
 * ms per profile with a website.
 */
export async function findLinks(store: Queryable, ids: readonly number[]): Promise<FoundLink[]> {
  const meant = await linkables(store, ids);
  const there = await neighboursOf(store, meant);
  const links = new Map<string, FoundLink>();
  for (const profile of meant) {
    const keys = [siteHost(profile.website) ?? "", ...profile.quotes];
    const others = new Set(keys.flatMap((key) => there.get(key) ?? []));
    const strangers = [...others].filter(({ id }) => id !== profile.id);
    for (const { other, source } of sameOrganisations(profile, strangers)) {
      const [kept, gone] = inOrderOfStaying(profile, other);
      const waits = profile.belongs || other.belongs;
      links.set(`${kept.id} ${gone.id}`, { kept, gone, source, waits });
    }
  }
  const open = await withoutDecided(store, [...links.values()]);
  return open.toSorted((a, b) => a.kept.id - b.kept.id || a.gone.id - b.gone.id);
}

/** The ids of all profiles that can be linked, ascending. */
export const linkableIds = (store: Queryable): Promise<number[]> => {
  const { id, website, status } = nonprofits;
  const isLinkable = or(isNotNull(website), sql`${id} IN (SELECT nonprofit_id FROM ${quoting})`);
  return valuesOf(store, id, and(isLinkable, ne(status, "withdrawn")), { by: id });
};

/** The records with a company number. Index: register_records_by_company. */
const quoting = sql.raw("register_records WHERE facts ->> 'company_number' IS NOT NULL");

const Row = z.object({
  id: z.number(),
  slug: z.string(),
  name: z.string(),
  country_code: z.string().nullable(),
  website: z.string().nullable(),
  belongs: z.number().transform((flag) => flag === 1),
  org_ids: jsonText(z.array(z.string())),
  quotes: jsonText(z.array(z.string())),
});

/** Listed profiles with a register number and a website or company number. SQL, because it reads six tables at once. */
async function linkables(store: Queryable, ids: readonly number[]): Promise<Linkable[]> {
  const rows = await query(
    store,
    `SELECT id, slug, name, country_code, website,
       verified = 1 OR usdc_wallet IS NOT NULL
         OR EXISTS (SELECT 1 FROM onboarding_submissions AS s
                    WHERE s.nonprofit_id = n.id AND s.status = 'pending_review')
         OR EXISTS (SELECT 1 FROM wallet_holds AS h WHERE h.nonprofit_id = n.id AND h.status = 'held')
         OR EXISTS (SELECT 1 FROM curated_picks AS p WHERE p.nonprofit_id = n.id) AS belongs,
       (SELECT json_group_array(org_id) FROM registrations AS r
        WHERE r.nonprofit_id = n.id AND org_id IS NOT NULL) AS org_ids,
       (SELECT json_group_array('GB-COH-' || (facts ->> 'company_number')) FROM register_records AS c
        WHERE c.nonprofit_id = n.id AND facts ->> 'company_number' IS NOT NULL) AS quotes
     FROM nonprofits AS n
     WHERE id IN (SELECT value FROM json_each(?)) AND status <> 'withdrawn'
       AND (website IS NOT NULL OR quotes <> '[]')`,
    [JSON.stringify(ids)],
    Row,
  );
  return rows.filter(({ org_ids }) => org_ids.length > 0);
}

/** A stored website in the form of `siteKey`: the exact expression of the index nonprofits_by_site. */
export const siteSql =
  "replace(replace(replace(lower(website), 'https://', ''), 'http://', ''), 'www.', '')";
/** More profiles than this at one host are never compared; see sameOrganisations. */
const atOneHostMax = 13;

/** The profiles with the same hosts or company numbers as these, by host and number. */
async function neighboursOf(
  store: Queryable,
  some: readonly Linkable[],
): Promise<Map<string, Linkable[]>> {
  const hosts = new Set(some.flatMap(({ website }) => siteHost(website) ?? []));
  const numbers = new Set(some.flatMap(({ quotes }) => quotes));
  const groups = [...(await idsAt(store, hosts)), ...(await idsQuoting(store, numbers))];
  const few = groups.filter(({ ids }) => ids.length > 1 && ids.length < atOneHostMax);
  const candidates = await linkables(
    store,
    few.flatMap(({ ids }) => ids),
  );
  const byId = new Map(candidates.map((candidate) => [candidate.id, candidate]));
  return new Map(few.map(({ key, ids }) => [key, ids.flatMap((id) => byId.get(id) ?? [])]));
}

const Group = z.object({ key: z.string(), ids: jsonText(z.array(z.number())) });

/** Index: nonprofits_by_site. SQL, because it must use the exact expression of the index. */
const idsAt = (store: Queryable, hosts: ReadonlySet<string>) =>
  query(
    store,
    `SELECT host.value AS key,
       (SELECT json_group_array(id) FROM (
          SELECT id FROM (
            SELECT id, status FROM nonprofits
            WHERE website IS NOT NULL AND ${siteSql} = host.value
            UNION ALL
            SELECT id, status FROM nonprofits
            WHERE website IS NOT NULL AND ${siteSql} >= host.value || '/' AND ${siteSql} < host.value || '0'
          ) WHERE status <> 'withdrawn' LIMIT ${atOneHostMax}
        )) AS ids
     FROM json_each(?) AS host`,
    [JSON.stringify([...hosts])],
    Group,
  );

/** Index: register_records_by_company. SQL, because it must use the exact expression of the index. */
const idsQuoting = (store: Queryable, numbers: ReadonlySet<string>) =>
  query(
    store,
    `SELECT number.value AS key,
       (SELECT json_group_array(nonprofit_id) FROM (
          SELECT nonprofit_id FROM register_records
          WHERE facts ->> 'company_number' IS NOT NULL
            AND facts ->> 'company_number' = substr(number.value, 8) AND nonprofit_id IS NOT NULL
          LIMIT ${atOneHostMax}
        )) AS ids
     FROM json_each(?) AS number`,
    [JSON.stringify([...numbers])],
    Group,
  );

/** Leaves out links between registrations that were linked, unlinked or queued before. */
async function withoutDecided(store: Queryable, links: readonly FoundLink[]): Promise<FoundLink[]> {
  const orgIds = links.flatMap(({ kept, gone }) => [...kept.org_ids, ...gone.org_ids]);
  const { org_id, other_org_id } = registrationLinks;
  const decided = await store.db
    .select({ org_id, other_org_id })
    .from(registrationLinks)
    .where(inValues(org_id, orgIds));
  const keyOf = (pair: (typeof decided)[number]) => `${pair.org_id} ${pair.other_org_id}`;
  const decidedPairs = new Set(decided.map(keyOf));
  return links.filter(
    ({ kept, gone }) =>
      !kept.org_ids.some((id) =>
        gone.org_ids.some((other) => decidedPairs.has(keyOf(pairOf(id, other)))),
      ),
  );
}

/** The registrations of a pair in a fixed order: two profiles have one link, whichever is withdrawn. */
export const pairOf = (orgId: string, other: string) =>
  orgId < other ? { org_id: orgId, other_org_id: other } : { org_id: other, other_org_id: orgId };
