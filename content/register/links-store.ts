import { and, asc, eq, getTableColumns, gt, isNotNull, ne, or, type SQL, sql } from "drizzle-orm";
import { z } from "zod";
import type { LinkSource } from "#content/contract/nonprofit.ts";
import { GivenByMerge, merged, unmerged } from "#content/nonprofit/operator-changes.ts";
import { recordBySlug, recordsById } from "#content/nonprofit/record-store.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { planSaves, type Save } from "#content/nonprofit/save.ts";
import type { Queryable, Store, WriteTransaction } from "#content/store/open.ts";
import { countUpTo, inValues, jsonText, query } from "#content/store/query.ts";
import { builder, doAll, statement, type Statement } from "#content/store/statement.ts";
import { nonprofits, registrationLinks } from "#content/store/tables/nonprofits.ts";
import {
  type FoundBy,
  inOrderOfStaying,
  type Registered,
  sameOrganisations,
  siteHost,
} from "./same-organisation.ts";

/** A profile as far as links are concerned. */
type Linkable = Registered & { id: number; slug: string; belongs: boolean };

/** Two profiles of one organisation: which one stays, and whether an operator has to decide. */
export type FoundLink = { kept: Linkable; gone: Linkable; source: FoundBy; waits: boolean };

/**
 * The profiles of the same organisations as these, by their ids; what was decided before is left out. Asks indexes only:
 * about 0.05 ms a profile with a website.
 */
export async function findLinks(store: Queryable, ids: readonly number[]): Promise<FoundLink[]> {
  const meant = await linkables(store, ids);
  const there = await neighboursOf(store, meant);
  const found = new Map<string, FoundLink>();
  for (const one of meant) {
    const keys = [siteHost(one.website) ?? "", ...one.quotes];
    const others = new Set(keys.flatMap((key) => there.get(key) ?? []));
    const strangers = [...others].filter(({ id }) => id !== one.id);
    for (const { other, source } of sameOrganisations(one, strangers)) {
      const [kept, gone] = inOrderOfStaying(one, other);
      const waits = one.belongs || other.belongs;
      found.set(`${kept.id} ${gone.id}`, { kept, gone, source, waits });
    }
  }
  const open = await withoutDecided(store, [...found.values()]);
  return open.toSorted((a, b) => a.kept.id - b.kept.id || a.gone.id - b.gone.id);
}

/** The ids of all profiles that can be linked, rising. */
export async function linkableIds(store: Queryable): Promise<number[]> {
  const { id, website, status } = nonprofits;
  const found = await store.db
    .select({ id })
    .from(nonprofits)
    .where(
      and(
        or(isNotNull(website), sql`${id} IN (SELECT nonprofit_id FROM ${quoting})`),
        ne(status, "withdrawn"),
      ),
    )
    .orderBy(asc(id));
  return found.map((one) => one.id);
}

/** The records that quote a company number. Index: register_records_by_company. */
const quoting = sql.raw("register_records WHERE facts ->> 'company_number' IS NOT NULL");

const Row = z.object({
  id: z.number(),
  slug: z.string(),
  name: z.string(),
  country_code: z.string().nullable(),
  city: z.string().nullable(),
  website: z.string().nullable(),
  belongs: z.number().transform((flag) => flag === 1),
  org_ids: jsonText(z.array(z.string())),
  quotes: jsonText(z.array(z.string())),
});

/** Listed profiles with a register number, and a website or a quoted one. SQL, because it asks six tables at once. */
async function linkables(store: Queryable, ids: readonly number[]): Promise<Linkable[]> {
  const rows = await query(
    store,
    `SELECT id, slug, name, country_code, city, website,
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

const site = "replace(replace(replace(lower(website), 'https://', ''), 'http://', ''), 'www.', '')";
/** More at one host are never looked at: see sameOrganisations. */
const atOneHostMax = 13;

/** The profiles at the hosts of these, and those that quote the same numbers, by host and number. */
async function neighboursOf(
  store: Queryable,
  some: readonly Linkable[],
): Promise<Map<string, Linkable[]>> {
  const hosts = new Set(some.flatMap(({ website }) => siteHost(website) ?? []));
  const numbers = new Set(some.flatMap(({ quotes }) => quotes));
  const groups = [...(await idsAt(store, hosts)), ...(await idsQuoting(store, numbers))];
  const few = groups.filter(({ ids }) => ids.length > 1 && ids.length < atOneHostMax);
  const found = await linkables(
    store,
    few.flatMap(({ ids }) => ids),
  );
  const byId = new Map(found.map((one) => [one.id, one]));
  return new Map(few.map(({ key, ids }) => [key, ids.flatMap((id) => byId.get(id) ?? [])]));
}

const Group = z.object({ key: z.string(), ids: jsonText(z.array(z.number())) });

/** Index: nonprofits_by_site. SQL, because the index is on this very expression. */
const idsAt = (store: Queryable, hosts: ReadonlySet<string>) =>
  query(
    store,
    `SELECT host.value AS key,
       (SELECT json_group_array(id) FROM (
          SELECT id FROM (
            SELECT id, status FROM nonprofits
            WHERE website IS NOT NULL AND ${site} = host.value
            UNION ALL
            SELECT id, status FROM nonprofits
            WHERE website IS NOT NULL AND ${site} >= host.value || '/' AND ${site} < host.value || '0'
          ) WHERE status <> 'withdrawn' LIMIT ${atOneHostMax}
        )) AS ids
     FROM json_each(?) AS host`,
    [JSON.stringify([...hosts])],
    Group,
  );

/** Index: register_records_by_company. SQL, because the index is on this very expression. */
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

/** Leaves out links of which one registration of each side was linked, undone or queued before. */
async function withoutDecided(store: Queryable, found: readonly FoundLink[]): Promise<FoundLink[]> {
  const orgIds = found.flatMap(({ kept, gone }) => [...kept.org_ids, ...gone.org_ids]);
  const { org_id, other_org_id } = registrationLinks;
  const decided = await store.db
    .select({ org_id, other_org_id })
    .from(registrationLinks)
    .where(inValues(org_id, orgIds));
  const keyOf = (pair: (typeof decided)[number]) => `${pair.org_id} ${pair.other_org_id}`;
  const known = new Set(decided.map(keyOf));
  return found.filter(
    ({ kept, gone }) =>
      !kept.org_ids.some((one) =>
        gone.org_ids.some((other) => known.has(keyOf(pairOf(one, other)))),
      ),
  );
}

/** Pairs in one transaction at most: others want the write lock, too. */
const linksAtOnce = 25;

/**
 * Links the profiles of the same organisations as these: one stays, the other is withdrawn in its favour. What belongs to
 * its organisation is queued for an operator instead. Answers what there was to do; with `checkOnly` it is not done.
 */
export async function linkProfiles(
  store: Store,
  ids: readonly number[],
  { now, checkOnly = false }: { now: Date; checkOnly?: boolean },
): Promise<FoundLink[]> {
  const found = await findLinks(store, ids);
  if (checkOnly) return found;
  const done: FoundLink[] = [];
  for (let at = 0; at < found.length; at += linksAtOnce) {
    const part = found.slice(at, at + linksAtOnce);
    await store.write(async (tx) => {
      // What was found without the lock may have changed.
      const still = await findLinks(tx, [...new Set(part.map(({ kept }) => kept.id))]);
      for (const link of still) if (await linkFound(tx, link, now)) done.push(link);
    });
  }
  return done;
}

/** False when another link of the same transaction took one of the two away. */
async function linkFound(
  tx: WriteTransaction,
  { kept, gone, source, waits }: FoundLink,
  now: Date,
): Promise<boolean> {
  const [into, before] = await recordsById(tx, [kept.id, gone.id]);
  if (into?.status === "withdrawn" || before?.status === "withdrawn") return false;
  if (into === undefined || before === undefined) return false;
  const by = { source, set_by: null, reason: null, now };
  const pair = { gone: before, into };
  if (waits) {
    await doAll(tx, putLink(pair, { ...by, state: "waiting" }));
    return true;
  }
  const { saves, statements } = await planLink(tx, pair, by);
  const saved = await planSaves(tx, saves, { origin: `link:${source}`, now });
  await doAll(tx, [...statements, ...saved.statements]);
  return true;
}

type Pair = { gone: NonprofitRecord; into: NonprofitRecord };
type SetLink = { source: LinkSource; set_by: string | null; reason: string | null; now: Date };

/**
 * What a link makes of two profiles, to be saved in the same transaction, and the writes that note it, so that it can be
 * undone, when both have a register number. What was linked to the one that goes leads to the one that stays from now on.
 */
export async function planLink(
  store: Queryable,
  pair: Pair,
  link: SetLink,
): Promise<LinkPlan & { fields: string[] }> {
  const made = merged(pair.gone, pair.into, { at: link.now, source: link.source });
  const note = putLink(pair, { ...link, state: "linked", given: made.given });
  // The one that stays is listed, so it is none of those that were linked to the other.
  const followers = await followersTo(
    store,
    await linksInto(store, pair.gone.slug),
    pair.into.slug,
  );
  const saves = [
    { before: pair.gone, after: made.gone },
    { before: pair.into, after: made.into },
    ...followers.saves,
  ];
  return { saves, statements: [...note, ...followers.statements], fields: made.fields };
}

/** What becomes of profiles, and of the links between them. */
type LinkPlan = { saves: Save[]; statements: Statement[] };

/** Lets these links, and the profiles that were withdrawn in them, lead to another profile. */
async function followersTo(
  store: Queryable,
  links: readonly Link[],
  slug: string,
): Promise<LinkPlan> {
  const { id } = registrationLinks;
  const plan: LinkPlan = { saves: [], statements: [] };
  for (const link of links) {
    const leading = builder.update(registrationLinks).set({ kept: slug }).where(eq(id, link.id));
    plan.statements.push(statement(leading));
    const before = await recordBySlug(store, link.gone ?? "");
    if (before !== null) plan.saves.push({ before, after: { ...before, merged_into: slug } });
  }
  return plan;
}

/** The links in which other profiles were withdrawn in favour of this one. Index: registration_links_by_kept. */
export const linksInto = (store: Queryable, slug: string): Promise<Link[]> =>
  store.db
    .select()
    .from(registrationLinks)
    .where(and(eq(registrationLinks.kept, slug), eq(registrationLinks.state, "linked")))
    .execute();

/** Notes what is known of two profiles by the number that each began with; nothing where one has none. */
function putLink(
  { gone, into }: Pair,
  { now, ...link }: SetLink & { state: "linked" | "waiting"; given?: GivenByMerge },
): Statement[] {
  const [one, other] = [firstOrgId(gone), firstOrgId(into)];
  if (one === null || other === null) return [];
  const names = { gone: gone.slug, kept: into.slug };
  const set = { ...link, ...names, set_at: now.getTime(), undone_by: null, undone_at: null };
  const putting = builder
    .insert(registrationLinks)
    .values({ ...pairOf(one, other), ...set })
    .onConflictDoUpdate({
      target: [registrationLinks.org_id, registrationLinks.other_org_id],
      set,
    });
  return [statement(putting)];
}

const pairOf = (one: string, other: string) =>
  one < other ? { org_id: one, other_org_id: other } : { org_id: other, other_org_id: one };

const firstOrgId = ({ registrations }: NonprofitRecord): string | null =>
  registrations.find(({ org_id }) => org_id !== null)?.org_id ?? null;

export type Link = typeof registrationLinks.$inferSelect;

/** The link in which a profile was withdrawn, or null. Index: registration_links_by_gone. */
export async function linkThatTook(store: Queryable, slug: string): Promise<Link | null> {
  const { gone, state } = registrationLinks;
  const [found] = await store.db
    .select()
    .from(registrationLinks)
    .where(and(eq(gone, slug), eq(state, "linked")));
  return found ?? null;
}

/**
 * What undoing a link makes of the two profiles, to be saved in the same transaction, and the writes that note the link as
 * undone: it is never made again by itself.
 */
export async function planUnlink(
  store: Queryable,
  gone: NonprofitRecord,
  link: Link,
  undone: Undone,
): Promise<LinkPlan & { kept: string; fields: string[] }> {
  const into = await profileAt(store, link.kept ?? "", [gone.slug]);
  const close = closeLink(link.id, undone);
  const made = unmerged(gone, into ?? gone, GivenByMerge.parse(link.given));
  const saves: Save[] = [{ before: gone, after: made.gone }];
  if (into === null) return { saves, statements: [close], kept: link.kept ?? "", fields: [] };
  saves.push({ before: into, after: made.into });
  const orgIds = made.gone.registrations.flatMap(({ org_id }) => org_id ?? []);
  // What had been linked to it before goes back with it.
  const went = (await linksInto(store, into.slug)).filter(
    (one) =>
      one.id !== link.id &&
      orgIds.some((orgId) => orgId === one.org_id || orgId === one.other_org_id),
  );
  const followers = await followersTo(store, went, gone.slug);
  return {
    saves: [...saves, ...followers.saves],
    statements: [close, ...keepApart(made, link, undone), ...followers.statements],
    kept: into.slug,
    fields: made.fields,
  };
}

/** A profile whose link was linked on comes back from another than it went to: these two are apart from now on as well. */
function keepApart({ gone, into }: Pair, link: Link, undone: Undone): Statement[] {
  const [one, other] = [firstOrgId(gone), firstOrgId(into)];
  if (one === null || other === null) return [];
  const { id: _, ...known } = link;
  const apart = builder
    .insert(registrationLinks)
    .values({ ...known, ...pairOf(one, other), kept: into.slug, ...undoneBy(undone) })
    .onConflictDoNothing();
  return [statement(apart)];
}

/** The profile with this slug, or where it was merged into; never one of those that were `seen`. */
async function profileAt(
  store: Queryable,
  slug: string,
  seen: readonly string[],
): Promise<NonprofitRecord | null> {
  const found = await recordBySlug(store, slug);
  const next = found?.merged_into ?? null;
  return next === null || seen.includes(next) ? found : profileAt(store, next, [...seen, slug]);
}

/** Notes that two registrations are not of one organisation, as an operator says. */
export const closeLink = (id: number, undone: Undone): Statement =>
  statement(
    builder.update(registrationLinks).set(undoneBy(undone)).where(eq(registrationLinks.id, id)),
  );

type Undone = { by: string; reason: string; now: Date };

const undoneBy = ({ by, reason, now }: Undone) => ({
  state: "undone" as const,
  undone_by: by,
  undone_at: now.getTime(),
  reason,
  given: null,
});

/** Links that wait for an operator, each as of the profile that would stay. Index: registration_links_by_state. */
export const waitingLinks = {
  count: (store: Queryable, max: number): Promise<number> =>
    countUpTo(store, max, "SELECT 1 FROM registration_links WHERE state = 'waiting'"),
  page: (store: Queryable, { after, limit }: { after: number; limit: number }) =>
    withProfile(store, and(gt(registrationLinks.id, after), isWaiting), limit),
  byId: async (store: Queryable, id: number) =>
    (await withProfile(store, eq(registrationLinks.id, id), 1))[0] ?? null,
};

const isWaiting = eq(registrationLinks.state, "waiting");

async function withProfile(store: Queryable, where: SQL | undefined, limit: number) {
  const rows = await store.db
    .select({ ...getTableColumns(registrationLinks), nonprofit_id: nonprofits.id })
    .from(registrationLinks)
    .innerJoin(nonprofits, eq(nonprofits.slug, registrationLinks.kept))
    .where(where)
    .orderBy(asc(registrationLinks.id))
    .limit(limit);
  return rows.map((row) => ({ ...row, status: row.state === "waiting" ? "pending" : row.state }));
}
